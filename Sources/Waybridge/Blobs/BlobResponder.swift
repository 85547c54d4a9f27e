import WaySession
import WayTransport
import WayValues

/// Responds to requests at `/blobs`: uploads in the form of the IETF draft "Resumable Uploads for HTTP"
/// (draft-ietf-httpbis-resumable-upload-09), and downloads with ranges.
struct BlobResponder: Sendable {
  /// The path to which blobs are sent. Each blob is below it.
  static let path = "/blobs"

  let store: BlobStore
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
      let session: String
      do throws(CallError) {
        session = try self.session(of: request)
      } catch {
        return .respond(refusal(error, fields))
      }
      if request.path == Self.path {
        guard request.method == "POST" else { return .respond(notAllowed("POST", fields)) }
        return try create(request, in: session, fields)
      }
      let id = String(request.path.dropFirst(Self.path.count + 1))
      guard BlobRecord.isID(id) else { throw .missing }
      switch request.method {
      case "GET": return .respond(try content(of: id, request, session, fields))
      case "HEAD":
        return respondLater(fields) { () throws(BlobRejection) in
          try state(of: id, session)
        }
      case "PATCH": return try append(request, to: id, in: session, fields)
      case "DELETE":
        return respondLater(fields) { () throws(BlobRejection) in
          try store.remove(id, of: session)
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

  /// The session of the client that sends a request.
  private func session(of request: HTTPRequest) throws(CallError) -> String {
    guard let token = request.handshake.token else {
      throw CallError(
        .notAuthenticated, "send the token of blobs.authorize: Authorization: Bearer TOKEN")
    }
    return try sessionServer.blobSession(of: token, on: loop)
  }

  /// Responds with what work on the thread of the files returns.
  private func respondLater(
    _ fields: [(name: String, value: String)],
    _ work: @escaping @Sendable () throws(BlobRejection) -> HTTPResponse
  ) -> HTTPDecision {
    .respondLater { [loop, store] respond in
      store.perform {
        var response: HTTPResponse
        do throws(BlobRejection) { response = try work() } catch { response = error.response }
        response.fields += fields
        loop.execute { [response] in respond(response) }
      }
      return UncancelledWork()
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
    _ request: HTTPRequest, in session: String, _ fields: [(name: String, value: String)]
  ) throws(BlobRejection) -> HTTPDecision {
    let sent = BlobRequestFields(request: request)
    let isFinal = try sent.isFinal(byDefault: true)
    var length = try sent.number("upload-length")
    if length == nil, isFinal { length = try sent.number("content-length") }
    if let length, length > limits.maxBlob { throw .tooLong(limits.maxBlob) }
    let type = try sent.mediaType()
    return stream(.new(type: type, length: length), request, session, isFinal, fields)
  }

  private func append(
    _ request: HTTPRequest, to id: String, in session: String,
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
      request, session, try sent.isFinal(byDefault: nil), fields)
  }

  private func stream(
    _ start: BlobUpload.UploadStart, _ request: HTTPRequest, _ session: String, _ isFinal: Bool,
    _ fields: [(name: String, value: String)]
  ) -> HTTPDecision {
    let receiver = BlobUpload(
      start, in: session, isFinal: isFinal, fields: fields + [limitField], store)
    return .streamBody(HTTPBodyStream(limit: limits.maxBlob, receiver: receiver))
  }

  /// The limits of uploads, as the draft writes them.
  private var limitField: (name: String, value: String) {
    let seconds = limits.uploadExpiry.components.seconds
    return ("Upload-Limit", "max-size=\(limits.maxBlob), max-age=\(seconds)")
  }

  /// The offset at which an upload continues.
  private func state(of id: String, _ session: String) throws(BlobRejection) -> HTTPResponse {
    let entry = try store.inspect(id, of: session)
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
    of id: String, _ request: HTTPRequest, _ session: String,
    _ fields: [(name: String, value: String)]
  ) throws(BlobRejection) -> HTTPResponse {
    let entry = try store.use(id, of: session)
    guard let path = store.path(of: entry.record), let digest = entry.record.sha256 else {
      throw .missing
    }
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
      response.fields = fields + [("Content-Range", "bytes */\(entry.size)")]
      return response
    }
    response.file = HTTPFileRange(path: path, bytes: bytes)
    // A blob is the data of a client. A browser that opens its URL neither shows it nor runs it.
    response.fields +=
      fields + [
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

  private func refusal(
    _ error: CallError, _ fields: [(name: String, value: String)]
  ) -> HTTPResponse {
    let status =
      switch error.protocolCode {
      case .notAuthenticated: 401
      case .forbidden: 403
      default: 503
      }
    var response = HTTPResponse(
      status: status, contentType: "text/plain; charset=utf-8",
      body: Array((error.message + "\n").utf8))
    response.fields = fields
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
