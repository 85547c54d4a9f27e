import WaySession
import WayTransport
import WayValues

/// Responds to requests at `/blobs`: uploads in the form of the IETF draft "Resumable Uploads for HTTP"
/// (draft-ietf-httpbis-resumable-upload-09), and downloads with ranges.
struct BlobResponder: Sendable {
  /// The path to which blobs are sent. Each blob is below it.
  static let path = "/blobs"

  let store: any BlobStore
  let sessionServer: SessionServer
  /// The loop that handles the requests.
  let loop: any EventLoop
  let limits: Limits

  /// Whether a path is handled here.
  static func handles(_ path: String) -> Bool {
    path == Self.path || path.hasPrefix(Self.path + "/")
  }

  func respond(to request: HTTPRequest) -> HTTPDecision {
    let fields = corsFields(request)
    do throws(BlobRejection) {
      if request.method == "OPTIONS" { return .respond(preflight(fields)) }
      let client = findClient(of: request)
      // A client that is refused at once sends no body.
      if case .failure(var response) = client.result {
        response.fields += fields
        return .respond(response)
      }
      if request.path == Self.path {
        guard request.method == "POST" else { return .respond(notAllowed("POST", fields)) }
        return try create(request, by: client, fields)
      }
      let id = String(request.path.dropFirst(Self.path.count + 1))
      guard BlobRecord.isID(id) else { throw .missing }
      switch request.method {
      case "GET":
        return respondLater(to: client, fields) { client throws(BlobRejection) in
          try read(id, by: client) { client throws(BlobRejection) in
            try content(of: id, request, client)
          }
        }
      case "HEAD":
        return respondLater(to: client, fields) { client throws(BlobRejection) in
          try read(id, by: client) { client throws(BlobRejection) in try state(of: id, client) }
        }
      case "PATCH": return try append(request, to: id, by: client, fields)
      case "DELETE":
        return respondLater(to: client, fields) { client throws(BlobRejection) in
          try store.remove(id, by: client)
          return HTTPResponse(status: 204)
        }
      default: return .respond(notAllowed("GET, HEAD, PATCH, DELETE", fields))
      }
    } catch {
      var response = error.response
      response.fields += fields
      return .respond(response)
    }
  }

  /// Starts the search for the client that sends a request.
  private func findClient(of request: HTTPRequest) -> BlobClientLookup {
    let lookup = BlobClientLookup()
    guard let token = request.handshake.token else {
      let error = CallError(
        .notAuthenticated, "send the token of blobs.authorize: Authorization: Bearer TOKEN")
      lookup.complete(with: .failure(refusal(error)))
      return lookup
    }
    sessionServer.findBlobClient(of: token, on: loop) { found in
      switch found {
      case .success(let client): lookup.complete(with: .success(client))
      case .failure(let error): lookup.complete(with: .failure(refusal(error)))
      }
    }
    return lookup
  }

  /// Responds with what work on the thread of the store returns.
  private func respondLater(
    to client: BlobClientLookup, _ fields: [(name: String, value: String)],
    _ work: @escaping @Sendable (BlobClient) throws(BlobRejection) -> HTTPResponse
  ) -> HTTPDecision {
    .respondLater { [loop, store] respond in
      let finish: @Sendable (HTTPResponse) -> Void = { response in
        var response = response
        response.fields += fields
        loop.execute { [response] in respond(response) }
      }
      client.find { found in
        switch found {
        case .failure(let response): finish(response)
        case .success(let client):
          store.perform {
            do throws(BlobRejection) { finish(try work(client)) } catch { finish(error.response) }
          }
        }
      }
      return UncancelledWork()
    }
  }

  /// Reads a blob of the client's session, or one of another session that the client may fetch.
  private func read(
    _ id: String, by client: BlobClient,
    _ work: (BlobClient) throws(BlobRejection) -> HTTPResponse
  ) throws(BlobRejection) -> HTTPResponse {
    do throws(BlobRejection) { return try work(client) } catch {
      guard case .missing = error, let reader = client.reader(of: id) else { throw error }
      return try work(reader)
    }
  }

  /// Work that is done soon, whether or not the client waits for it.
  private final class UncancelledWork: ScheduledWork {
    func cancel() {}
  }
}

// Uploads.
extension BlobResponder {
  private func create(
    _ request: HTTPRequest, by client: BlobClientLookup, _ fields: [(name: String, value: String)]
  ) throws(BlobRejection) -> HTTPDecision {
    let sent = BlobRequestFields(request: request)
    let isFinal = try sent.isFinal(byDefault: true)
    var length = try sent.number("upload-length")
    if length == nil, isFinal { length = try sent.number("content-length") }
    if let length, length > limits.maxBlob { throw .tooLong(limits.maxBlob) }
    let type = try sent.mediaType()
    return stream(.new(type: type, length: length), client, isFinal, fields)
  }

  private func append(
    _ request: HTTPRequest, to id: String, by client: BlobClientLookup,
    _ fields: [(name: String, value: String)]
  ) throws(BlobRejection) -> HTTPDecision {
    let sent = BlobRequestFields(request: request)
    guard try sent.mediaType() == "application/partial-upload" else {
      throw .unsupportedType("the body must have the media type application/partial-upload")
    }
    guard let offset = try sent.number("upload-offset") else {
      throw .malformed("the request needs an Upload-Offset header")
    }
    return stream(
      .append(id: id, offset: offset, length: try sent.number("upload-length")),
      client, try sent.isFinal(byDefault: nil), fields)
  }

  private func stream(
    _ start: BlobUpload.UploadStart, _ client: BlobClientLookup, _ isFinal: Bool,
    _ fields: [(name: String, value: String)]
  ) -> HTTPDecision {
    let receiver = BlobUpload(
      start, by: client, isFinal: isFinal, fields: fields + [limitField], store)
    return .streamBody(HTTPBodyStream(limit: limits.maxBlob, receiver: receiver))
  }

  /// The limits of uploads, as the draft writes them.
  private var limitField: (name: String, value: String) {
    let seconds = limits.uploadExpiry.components.seconds
    return ("Upload-Limit", "max-size=\(limits.maxBlob), max-age=\(seconds)")
  }

  /// The offset at which an upload continues.
  private func state(of id: String, _ client: BlobClient) throws(BlobRejection) -> HTTPResponse {
    let entry = try store.inspect(id, by: client)
    var response = HTTPResponse(status: 204)
    response.fields = [
      ("Upload-Offset", "\(entry.size)"), ("Upload-Complete", entry.isComplete ? "?1" : "?0"),
      limitField,
    ]
    if let length = entry.record.length { response.fields.append(("Upload-Length", "\(length)")) }
    return response
  }
}

// Downloads.
extension BlobResponder {
  private func content(
    of id: String, _ request: HTTPRequest, _ client: BlobClient
  ) throws(BlobRejection) -> HTTPResponse {
    let content = try store.use(id, by: client)
    let entry = content.entry
    guard let digest = entry.record.sha256 else { throw .missing }
    let tag = "\"\(digest)\""
    let condition = request.values("if-range")
    let isCurrent = condition.isEmpty || condition == [tag]
    var response = HTTPResponse(status: 200, contentType: entry.record.type)
    var bytes = 0..<entry.size
    switch ByteRange(isCurrent ? request.values("range") : [], size: entry.size) {
    case .all: break
    case .part(let part):
      response.status = 206
      bytes = part
      response.fields.append(
        ("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(entry.size)"))
    case .unsatisfiable:
      var response = HTTPResponse(status: 416)
      response.fields = [("Content-Range", "bytes */\(entry.size)")]
      return response
    }
    if let path = content.path {
      response.file = HTTPFileRange(path: path, bytes: bytes)
    } else {
      response.sourcedBody = HTTPSourcedBody(
        length: bytes.count, source: BlobBodySource(content.reader, bytes, store))
    }
    // A blob is the data of a client. A browser that opens its URL neither shows it nor runs it.
    response.fields += [
      ("ETag", tag), ("Accept-Ranges", "bytes"), ("Content-Disposition", "attachment"),
      ("Content-Security-Policy", "default-src 'none'; sandbox"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return response
  }
}

// Access.
extension BlobResponder {
  /// Allows scripts of the page's origin to read the response. The server rejects other origins than
  /// those that it accepts before it asks here.
  private func corsFields(_ request: HTTPRequest) -> [(name: String, value: String)] {
    guard let origin = request.handshake.origin else { return [] }
    return [
      ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
      (
        "Access-Control-Expose-Headers",
        "Accept-Ranges, Content-Range, ETag, Location, Upload-Complete, Upload-Length, Upload-Limit, "
          + "Upload-Offset"
      ),
    ]
  }

  private func preflight(_ fields: [(name: String, value: String)]) -> HTTPResponse {
    var response = HTTPResponse(status: 204)
    response.fields =
      fields + [
        ("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE"),
        (
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, If-Range, Range, Upload-Complete, Upload-Length, Upload-Offset"
        ),
        ("Access-Control-Max-Age", "7200"), limitField,
      ]
    return response
  }

  private func refusal(_ error: CallError) -> HTTPResponse {
    let status =
      switch error.protocolCode {
      case .notAuthenticated: 401
      case .forbidden: 403
      default: 503
      }
    var response = HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8",
      body: Array((error.message + "\n").utf8))
    if status == 401 { response.fields.append(("WWW-Authenticate", "Bearer")) }
    if status != 503 { response.refusalReason = error.message }
    return response
  }

  private func notAllowed(
    _ methods: String, _ fields: [(name: String, value: String)]
  ) -> HTTPResponse {
    var response = HTTPResponse(
      status: 405, contentType: "text/plain; charset=utf-8",
      body: Array("this path accepts \(methods) only\n".utf8))
    response.fields = fields + [("Allow", methods)]
    return response
  }
}

/// Reads bytes of a blob in parts, as a response sends them. Confined to the store's thread.
private final class BlobBodySource: HTTPBodySource, @unchecked Sendable {
  private let reader: any BlobPartReader
  private let store: any BlobStore
  private var missing: Range<Int>

  init(_ reader: any BlobPartReader, _ bytes: Range<Int>, _ store: any BlobStore) {
    self.reader = reader
    self.store = store
    missing = bytes
  }

  func nextPart(_ done: @escaping @Sendable ([UInt8]?) -> Void) {
    store.perform { [self] in
      let part = try? reader.bytes(at: missing.lowerBound).prefix(missing.count)
      missing.removeFirst(part?.count ?? 0)
      done(part.map { Array($0) })
    }
  }
}
