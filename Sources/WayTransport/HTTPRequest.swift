/// An HTTP request that is no WebSocket handshake and asks for no file.
package struct HTTPRequest: Sendable {
  /// Upper case, as sent.
  package var method: String
  /// Percent-decoded path, without query, below the server's prefix.
  package var path: String
  /// Who asks.
  package var handshake: Handshake
  /// Whether a program of this machine asks, by no proxy.
  package var isLocal: Bool
  /// The server is ending: it takes no WebSocket connections any more.
  package var isDraining: Bool

  package init(
    method: String, path: String, handshake: Handshake = Handshake(), isLocal: Bool = true,
    isDraining: Bool = false
  ) {
    self.method = method
    self.path = path
    self.handshake = handshake
    self.isLocal = isLocal
    self.isDraining = isDraining
  }
}

/// A whole answer to an ``HTTPRequest``.
package struct HTTPResponse: Sendable {
  package var status: Int
  /// Nil where there is no body.
  package var contentType: String?
  package var body: [UInt8]
  /// Further header fields.
  package var fields: [(name: String, value: String)] = []
  /// Whether it is given even where the server has as many connections as it takes.
  package var isServedWhenFull: Bool

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

/// What becomes of an ``HTTPRequest``.
package enum HTTPDecision: Sendable {
  case answer(HTTPResponse)
  /// It is answered in its time; even where the server has as many connections as it takes, where
  /// that is said.
  case later(HTTPWork, isServedWhenFull: Bool = false)
  /// Its body is read first, whose media type and length have to fit.
  case body(HTTPBody)
}

/// Answers a request with the function that it is given, once, then or later, on the loop. The work
/// that it gives is cancelled where the asker goes before the answer came. Called on the loop.
package typealias HTTPWork =
  @Sendable (@escaping @Sendable (HTTPResponse) -> Void) -> any ScheduledWork

/// What takes the body of a request, and answers it in its time.
package struct HTTPBody: Sendable {
  /// The media type that the body has to have, in lower case and without parameters: any other is
  /// answered with 415.
  package var contentType: String
  /// Bytes, at most: a longer one is answered with 413.
  package var limit: Int
  /// Takes the whole body, and a function that takes the one answer, then or later, on the loop. The
  /// work that it gives is cancelled where the asker goes before the answer came.
  package var take:
    @Sendable ([UInt8], @escaping @Sendable (HTTPResponse) -> Void) -> any ScheduledWork

  package init(
    contentType: String, limit: Int,
    take:
      @escaping @Sendable ([UInt8], @escaping @Sendable (HTTPResponse) -> Void) ->
      any ScheduledWork
  ) {
    self.contentType = contentType
    self.limit = limit
    self.take = take
  }
}

/// Answers requests before the static files are asked; nil where the path is not its own. Called on
/// a loop.
package typealias HTTPResponder = @Sendable (HTTPRequest) -> HTTPDecision?
