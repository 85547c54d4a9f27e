/// An HTTP request that is neither a WebSocket handshake nor a request for a file.
package struct HTTPRequest: Sendable {
  /// The method as sent, in upper case.
  package var method: String
  /// The percent-decoded path below the server's prefix, without the query.
  package var path: String
  /// The client's handshake.
  package var handshake: Handshake
  /// Whether a local program sent the request, without a proxy.
  package var isLocal: Bool
  /// Whether the server is ending and accepts no more WebSocket connections.
  package var isDraining: Bool
  /// The header fields in their order, names in lower case, values trimmed.
  package var fields: [(name: String, value: String)]

  package init(
    method: String, path: String, handshake: Handshake = Handshake(), isLocal: Bool = true,
    isDraining: Bool = false, fields: [(name: String, value: String)] = []
  ) {
    self.method = method
    self.path = path
    self.handshake = handshake
    self.isLocal = isLocal
    self.isDraining = isDraining
    self.fields = fields
  }

  /// The values of all fields with this name (lower case), in order.
  package func values(_ name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }
}

/// A response to an ``HTTPRequest``.
package struct HTTPResponse: Sendable {
  package var status: Int
  /// `nil` if there is no body.
  package var contentType: String?
  package var body: [UInt8]
  /// A part of a file that is sent instead of `body`.
  package var file: HTTPFileRange?
  /// The parts of a body of a known length, which are sent instead of `body`.
  package var sourcedBody: HTTPSourcedBody?
  /// The parts that a producer sends instead of `body`, for as long as it likes.
  package var stream: HTTPResponseStream?
  /// Additional header fields.
  package var fields: [(name: String, value: String)] = []
  /// Whether the response is sent even if the server is full.
  package var isServedWhenFull: Bool
  /// Why a response of the status 401 or 403 refuses the client.
  package var refusalReason: String?

  package init(
    status: Int, contentType: String? = nil, body: [UInt8] = [],
    fields: [(name: String, value: String)] = [], isServedWhenFull: Bool = false
  ) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.fields = fields
    self.isServedWhenFull = isServedWhenFull
  }
}

/// A decision how to handle an ``HTTPRequest``.
package enum HTTPDecision: Sendable {
  case respond(HTTPResponse)
  /// Responds later; even if the server is full, if `isServedWhenFull` is set.
  case respondLater(DeferredResponse, isServedWhenFull: Bool = false)
  /// Reads the body first. Its media type and length must match.
  case readBody(HTTPBodyHandler)
  /// Passes the body to a receiver in parts.
  case streamBody(HTTPBodyStream)
}

extension HTTPDecision {
  /// Returns the decision with a function that receives the response when it is known. Responses to
  /// streamed bodies are not reported: whether a client may send one is decided before.
  package func reporting(_ report: @escaping @Sendable (HTTPResponse) -> Void) -> HTTPDecision {
    switch self {
    case .streamBody: return self
    case .respond(let response):
      report(response)
      return self
    case .respondLater(let work, let isServedWhenFull):
      return .respondLater(
        { respond in
          work { response in
            report(response)
            respond(response)
          }
        }, isServedWhenFull: isServedWhenFull)
    case .readBody(var handler):
      let handle = handler.handle
      handler.handle = { body, respond in
        handle(body) { response in
          report(response)
          respond(response)
        }
      }
      return .readBody(handler)
    }
  }
}

/// Responds to a request by calling the given function once, immediately or later, on the loop. The
/// returned work is cancelled if the client disconnects before the response. Called on the loop.
package typealias DeferredResponse =
  @Sendable (@escaping @Sendable (HTTPResponse) -> Void) -> any ScheduledWork

/// A handler that receives the body of a request and responds later.
package struct HTTPBodyHandler: Sendable {
  /// The required media type of the body, in lower case and without parameters. For another one the
  /// response is 415.
  package var contentType: String
  /// The maximum number of bytes. For a longer body the response is 413.
  package var limit: Int
  /// Handles the complete body, and calls the given function once, immediately or later, on the
  /// loop. The returned work is cancelled if the client disconnects before the response.
  package var handle:
    @Sendable ([UInt8], @escaping @Sendable (HTTPResponse) -> Void) -> any ScheduledWork

  package init(
    contentType: String, limit: Int,
    handle:
      @escaping @Sendable ([UInt8], @escaping @Sendable (HTTPResponse) -> Void) ->
      any ScheduledWork
  ) {
    self.contentType = contentType
    self.limit = limit
    self.handle = handle
  }
}

/// Handles requests before static files are looked up. Returns `nil` if it does not handle the
/// path. Called on a loop.
package typealias HTTPResponder = @Sendable (HTTPRequest) -> HTTPDecision?
