import WayRPC
import WaySession
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

  private let store: any BlobStore
  private let client: BlobClientLookup
  private let start: UploadStart
  /// Whether the blob is complete at the end of the body.
  private let isFinal: Bool
  /// The header fields of each response.
  private let fields: [(name: String, value: String)]
  private var upload: (any BlobWriter)?
  /// The client, once the upload is open.
  private var uploader: BlobClient?
  private var isEnded = false

  init(
    _ start: UploadStart, by client: BlobClientLookup, isFinal: Bool,
    fields: [(name: String, value: String)], _ store: any BlobStore
  ) {
    self.store = store
    self.client = client
    self.start = start
    self.isFinal = isFinal
    self.fields = fields
  }

  func receive(_ part: [UInt8], _ done: @escaping @Sendable (HTTPResponse?) -> Void) {
    perform(
      { upload throws(BlobRejection) in
        try upload.append(part)
        return nil
      }, done)
  }

  func finish(_ respond: @escaping @Sendable (HTTPResponse) -> Void) {
    perform(
      { [self] upload throws(BlobRejection) in
        let response = try complete(upload)
        isEnded = true
        return response
      }, { response in if let response { respond(response) } })
  }

  func cancel() {
    store.perform { [self] in
      guard !isEnded else { return }
      end()
    }
  }

  /// Opens the upload, unless it is open, and does something with it on the thread of the store.
  private func perform(
    _ work: @escaping @Sendable (any BlobWriter) throws(BlobRejection) -> HTTPResponse?,
    _ done: @escaping @Sendable (HTTPResponse?) -> Void
  ) {
    client.find { [self] found in
      store.perform { [self] in
        // The client may have gone while it was looked for.
        guard !isEnded else { return done(nil) }
        switch found {
        case .failure(let response): done(with(fields, response))
        case .success(let client):
          do throws(BlobRejection) { done(try work(try open(by: client))) } catch {
            end()
            done(with(fields, error.response))
          }
        }
      }
    }
  }

  private func with(
    _ fields: [(name: String, value: String)], _ response: HTTPResponse
  ) -> HTTPResponse {
    var response = response
    response.fields += fields
    return response
  }

  private func open(by client: BlobClient) throws(BlobRejection) -> any BlobWriter {
    if let upload { return upload }
    let opened =
      switch start {
      case .new(let type, let length): try store.create(type, length: length, by: client)
      case .append(let id, let offset, let length):
        try store.continueUpload(id, by: client, at: offset, length: length)
      }
    upload = opened
    uploader = client
    return opened
  }

  /// Completes the request, and the blob if that is its end.
  private func complete(_ upload: any BlobWriter) throws(BlobRejection) -> HTTPResponse {
    var isNew = false
    if case .new = start { isNew = true }
    var response = HTTPResponse(status: isNew ? 201 : isFinal ? 200 : 204)
    try upload.flush()
    if isFinal {
      let reference = try upload.complete()
      let value = try? ValueEncoder().encode(reference)
      response.contentType = "application/json"
      response.body = Array(((value.flatMap { try? JSON.text($0) }) ?? "null").utf8)
    }
    response.fields =
      fields + [("Upload-Complete", isFinal ? "?1" : "?0"), ("Upload-Offset", "\(upload.offset)")]
    if isNew { response.fields.append(("Location", "blobs/\(upload.id)")) }
    return response
  }

  /// Ends the request: writes what it has sent, but removes a new upload. The client does not know its
  /// id, as it has got no response.
  private func end() {
    isEnded = true
    guard let upload, let uploader else { return }
    if case .new = start {
      try? store.remove(upload.id, by: uploader)
    } else {
      try? upload.flush()
    }
  }
}
