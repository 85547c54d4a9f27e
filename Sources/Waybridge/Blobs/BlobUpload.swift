import WayRPC
import WayTransport
import WayValues

/// The request that starts or continues an upload: receives its body, and writes it to the store.
///
/// Its state is confined to the store's thread.
final class BlobUpload: HTTPBodyReceiver, @unchecked Sendable {
  enum UploadStart: Sendable {
    /// A new blob; `length` is its length, if it is known.
    case new(type: String, length: Int?)
    /// An upload that continues at an offset.
    case append(id: String, offset: Int, length: Int?)
  }

  private let store: BlobStore
  private let session: String
  private let start: UploadStart
  /// Whether the blob is complete at the end of the body.
  private let isFinal: Bool
  /// The header fields of each response.
  private let fields: [(name: String, value: String)]
  private var upload: BlobStore.BlobUploadHandle?
  private var isEnded = false

  init(
    _ start: UploadStart, in session: String, isFinal: Bool,
    fields: [(name: String, value: String)], _ store: BlobStore
  ) {
    self.store = store
    self.session = session
    self.start = start
    self.isFinal = isFinal
    self.fields = fields
  }

  func receive(_ part: [UInt8], _ done: @escaping @Sendable (HTTPResponse?) -> Void) {
    store.perform { [self] in
      do throws(BlobRejection) {
        try store.append(part, to: try open())
        done(nil)
      } catch {
        end(with: error)
        done(response(to: error))
      }
    }
  }

  func finish(_ respond: @escaping @Sendable (HTTPResponse) -> Void) {
    store.perform { [self] in
      do throws(BlobRejection) {
        let response = try complete(try open())
        isEnded = true
        respond(response)
      } catch {
        end(with: error)
        respond(response(to: error))
      }
    }
  }

  func cancel() {
    store.perform { [self] in
      guard !isEnded else { return }
      isEnded = true
      discardUnknown()
    }
  }

  private func open() throws(BlobRejection) -> BlobStore.BlobUploadHandle {
    if let upload { return upload }
    let opened =
      switch start {
      case .new(let type, let length): try store.create(type, length: length, in: session)
      case .append(let id, let offset, let length):
        try store.continueUpload(id, of: session, at: offset, length: length)
      }
    upload = opened
    return opened
  }

  /// Completes the request, and the blob if that is its end.
  private func complete(
    _ upload: BlobStore.BlobUploadHandle
  ) throws(BlobRejection) -> HTTPResponse {
    var isNew = false
    if case .new = start { isNew = true }
    var response = HTTPResponse(status: isNew ? 201 : isFinal ? 200 : 204)
    var offset = try store.offset(of: upload, in: session)
    if isFinal {
      let reference = try store.complete(upload)
      offset = reference.size
      let value = try? ValueEncoder().encode(reference)
      response.contentType = "application/json"
      response.body = Array(((value.flatMap { try? JSON.text($0) }) ?? "null").utf8)
    }
    response.fields =
      fields + [("Upload-Complete", isFinal ? "?1" : "?0"), ("Upload-Offset", "\(offset)")]
    if isNew { response.fields.append(("Location", "blobs/\(upload.id)")) }
    return response
  }

  private func end(with error: BlobRejection) {
    isEnded = true
    discardUnknown()
  }

  /// Removes a new upload whose id the client does not know, as it has got no response.
  private func discardUnknown() {
    guard let upload, case .new = start else { return }
    try? store.remove(upload.id, of: session)
  }

  private func response(to error: BlobRejection) -> HTTPResponse {
    var response = error.response
    response.fields += fields
    return response
  }
}
