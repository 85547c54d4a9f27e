/// An HTTP request that is no WebSocket handshake and asks for no file.
package struct HTTPRequest: Sendable {
  /// Upper case, as sent.
  package var method: String
  /// Percent-decoded path, without query.
  package var path: String
  /// The server is ending: it takes no WebSocket connections any more.
  package var isDraining: Bool

  package init(method: String, path: String, isDraining: Bool = false) {
    self.method = method
    self.path = path
    self.isDraining = isDraining
  }
}

/// A whole answer to an ``HTTPRequest``.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var contentType: String
  package var body: [UInt8]
  /// Whether it is given even where the server has as many connections as it takes.
  package var isServedWhenFull: Bool

  package init(
    status: Int, contentType: String, body: [UInt8], isServedWhenFull: Bool = false
  ) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.isServedWhenFull = isServedWhenFull
  }
}

/// Answers requests before the static files are asked; nil where the path is not its own. Called on
/// a loop.
package typealias HTTPResponder = @Sendable (HTTPRequest) -> HTTPResponse?
