import WaySockets
import WayTransport
import WayValues

/// Sends and fetches data that is too large for a message, such as photos. It goes over HTTP, and calls
/// carry references to it. All clients of the session can fetch it. A request that is cut continues
/// where it ended. Memory holds one part at a time.
///
/// ```swift
/// let client = try await BridgeClient.connect(
///   to: "ws://127.0.0.1:8080/bridge",
///   session: BridgeClient.SessionOptions(name: "camera", version: "1.0"))
/// let blobs = BridgeBlobs(of: client, at: "ws://127.0.0.1:8080/bridge")
/// let photo = try await blobs.upload(file: "sea.jpg", type: "image/jpeg")
/// _ = try await client.invoke("action://share", ["photo": photo.value])
/// ```
///
/// Throws ``CallError``: 2404 if there is no such data in the session, 2413 and 2429 beyond the limits
/// of the server, 2503 after several attempts without progress, -32800 if the task is cancelled.
public struct BridgeBlobs: Sendable {
  /// The bytes that were sent or received so far, and all bytes; nil if their number is not known.
  public typealias TransferProgress = @Sendable (_ done: Int, _ total: Int?) -> Void

  /// Number of bytes of one request of an upload.
  private static let partSize = 1 << 20

  private let client: BridgeClient
  private let url: String

  /// Creates an object for the blobs of a client's session.
  ///
  /// - Parameters:
  ///   - client: a client with a session.
  ///   - url: the URL that the client is connected to.
  public init(of client: BridgeClient, at url: String) {
    self.client = client
    self.url = url
  }

  /// Sends a file. Its reference has the file's name. Throws the errors of ``BridgeBlobs``, and -32602 if the
  /// file cannot be read.
  ///
  /// - Parameters:
  ///   - path: the path of a regular file, which must not change meanwhile.
  ///   - type: the media type.
  ///   - onProgress: called after each part.
  public func upload(
    file path: String, type: String = "application/octet-stream",
    onProgress: TransferProgress? = nil
  ) async throws(CallError) -> BridgeBlobReference {
    let file = try Self.local { () throws(SocketError) in try LocalFile(reading: path) }
    var reference = try await upload(type, size: file.size, onProgress) {
      (offset, count) throws(CallError) in
      try Self.local { () throws(SocketError) in try file.read(at: offset, count: count) }
    }
    reference.name = path.split(separator: "/").last.map(String.init)
    return reference
  }

  /// Sends bytes. Throws the errors of ``BridgeBlobs``.
  ///
  /// - Parameters:
  ///   - bytes: the data.
  ///   - type: the media type.
  ///   - onProgress: called after each part.
  public func upload(
    _ bytes: [UInt8], type: String = "application/octet-stream",
    onProgress: TransferProgress? = nil
  ) async throws(CallError) -> BridgeBlobReference {
    try await upload(type, size: bytes.count, onProgress) { offset, count in
      Array(bytes[offset..<min(offset + count, bytes.count)])
    }
  }

  /// Sends a sequence of parts, which is read no faster than the server receives it.
  ///
  /// - Parameters:
  ///   - parts: the data. An error of the sequence ends the upload with 2423.
  ///   - type: the media type.
  ///   - onProgress: called after each part.
  public func upload<Parts: AsyncSequence & Sendable>(
    parts: Parts, type: String = "application/octet-stream", onProgress: TransferProgress? = nil
  ) async throws(CallError) -> BridgeBlobReference where Parts.Element == [UInt8] {
    var iterator = parts.makeAsyncIterator()
    // The bytes from `start`: a part is kept until the server has it.
    var held: [UInt8] = []
    var start = 0
    var hasEnded = false
    return try await upload(type, size: nil, onProgress) { (offset, count) throws(CallError) in
      guard offset >= start, offset - start <= held.count else {
        throw CallError(.outcomeUnknown, "The server has lost a part of the data")
      }
      held.removeFirst(offset - start)
      start = offset
      while !hasEnded, held.count < count {
        do {
          if let next = try await iterator.next() { held += next } else { hasEnded = true }
        } catch {
          throw CallError(.refused, "The data ended with an error: \(error)")
        }
      }
      return Array(held.prefix(count))
    }
  }

  /// Sends what `read` returns for an offset and a number of bytes.
  private func upload(
    _ type: String, size: Int?, _ onProgress: TransferProgress?,
    _ read: (Int, Int) async throws(CallError) -> [UInt8]
  ) async throws(CallError) -> BridgeBlobReference {
    let requests = BlobRequests(client, url: url)
    var fields = [(name: "Content-Type", value: type), ("Upload-Complete", "?0")]
    if let size { fields.append(("Upload-Length", "\(size)")) }
    let created = try await requests.retry { () throws(CallError) in
      try await requests.send("POST", "blobs", fields)
    }
    guard let location = created.head.value("location"), location.hasPrefix("blobs/") else {
      throw CallError(.unavailable, "The server did not say where the upload continues")
    }
    var offset = 0
    var isUncertain = false
    func reached() -> Int { offset }
    do throws(CallError) {
      return try await requests.retry(progress: reached) { () throws(CallError) in
        if isUncertain {
          let state = try await requests.send("HEAD", location).head
          offset = state.value("upload-offset").flatMap { Int($0) } ?? offset
          isUncertain = false
        }
        while true {
          let body = try await read(offset, Self.partSize)
          let isLast = size.map { offset + body.count == $0 } ?? (body.count < Self.partSize)
          isUncertain = true
          let response = try await requests.send(
            "PATCH", location,
            [
              ("Content-Type", "application/partial-upload"), ("Upload-Offset", "\(offset)"),
              ("Upload-Complete", isLast ? "?1" : "?0"),
            ], body: body)
          isUncertain = false
          offset += body.count
          onProgress?(offset, isLast ? offset : size)
          guard isLast else { continue }
          guard
            let reference = BridgeBlobReference(
              try? Value(json: String(decoding: response.body, as: UTF8.self)))
          else { throw CallError(.unavailable, "The server returned no reference") }
          return reference
        }
      }
    } catch {
      // Not with the requests of this upload, which may be cancelled.
      let (client, url) = (client, url)
      Task { try? await BlobRequests(client, url: url).send("DELETE", location) }
      throw error
    }
  }

  /// Fetches data in parts, no faster than they are read.
  ///
  /// - Parameters:
  ///   - reference: the reference that a call has carried.
  ///   - range: the bytes to fetch; nil for all.
  public func download(_ reference: BridgeBlobReference, bytes range: Range<Int>? = nil)
    -> BlobParts
  {
    let all = 0..<reference.size
    return BlobParts(
      reference: reference, range: range.map { $0.clamped(to: all) } ?? all, client: client,
      url: url)
  }

  /// Fetches data into a file, which is replaced when all of it has arrived. Throws the errors of
  /// ``BridgeBlobs``, and -32602 if the file cannot be written.
  ///
  /// - Parameters:
  ///   - reference: the reference that a call has carried.
  ///   - path: the path of the file.
  ///   - onProgress: called after each part.
  public func download(
    _ reference: BridgeBlobReference, to path: String, onProgress: TransferProgress? = nil
  ) async throws(CallError) {
    let file = try Self.local { () throws(SocketError) in try LocalFile(replacing: path) }
    var count = 0
    var parts = download(reference).makeAsyncIterator()
    while let part = try await parts.next() {
      let offset = count
      try Self.local { () throws(SocketError) in try file.write(part, at: offset) }
      count += part.count
      onProgress?(count, reference.size)
    }
    try Self.local { () throws(SocketError) in try file.commit() }
  }

  /// Reports an error of a file of this machine.
  private static func local<Result>(
    _ work: () throws(SocketError) -> Result
  ) throws(CallError) -> Result {
    do throws(SocketError) { return try work() } catch { throw .invalidParams(error.description) }
  }

  /// Removes data from the server, before it expires. Throws the errors of ``BridgeBlobs``.
  public func remove(_ reference: BridgeBlobReference) async throws(CallError) {
    _ = try await BlobRequests(client, url: url).send("DELETE", "blobs/" + reference.id)
  }
}
