/// A response whose producer sends the body in parts, for as long as it likes, such as server-sent
/// events.
///
/// Its connection counts toward the limits of connections as a WebSocket connection does.
package struct HTTPResponseStream: Sendable {
  package var producer: any HTTPStreamProducer
  /// Bytes without a meaning for the client. The server sends them when it has sent nothing else for
  /// ``Limits/ping``, so that proxies keep the connection open, and a lost client is noticed. If they
  /// are empty, a lost client is noticed only when the producer sends something.
  package var keepAlive: [UInt8]
  /// Maximum number of bytes that wait for the client. Beyond it the stream ends with
  /// ``HTTPStreamEnd/slowConsumer``. `nil` means ``Limits/maxQueueBytes``.
  package var maxHeldBytes: Int?
  /// Whether the client is authenticated. Until the stream ends, its connection then does not count
  /// toward ``Limits/maxUnauthenticated``.
  package var isAuthenticated: Bool

  package init(
    producer: any HTTPStreamProducer, keepAlive: [UInt8], maxHeldBytes: Int? = nil,
    isAuthenticated: Bool = false
  ) {
    self.producer = producer
    self.keepAlive = keepAlive
    self.maxHeldBytes = maxHeldBytes
    self.isAuthenticated = isAuthenticated
  }

  /// An empty comment of server-sent events, which clients ignore.
  package static let eventComment = Array(":\n\n".utf8)
}

/// Sends the body of a response in parts. All methods are called on the loop of the connection, never
/// during a call of the ``HTTPStreamWriter``. They must return at once.
package protocol HTTPStreamProducer: AnyObject, Sendable {
  /// Starts the body. Called at most once: not if the stream ends with ``HTTPStreamEnd/notStarted``.
  func start(_ writer: any HTTPStreamWriter)
  /// Ends the body soon, because the server shuts down. If this takes longer than the grace period,
  /// the server closes the connection. Called at most once. By default, the body ends at once.
  func finishEarly(_ writer: any HTTPStreamWriter)
  /// Handles the end of the stream. Called once for every stream, and last.
  func ended(_ end: HTTPStreamEnd)
}

extension HTTPStreamProducer {
  package func finishEarly(_ writer: any HTTPStreamWriter) { writer.end() }
}

/// Why a streamed response has ended. The raw values are labels of `/metrics`.
package enum HTTPStreamEnd: String, CaseIterable, Sendable {
  /// The producer has ended it, and all of it was written.
  case completed
  /// The client has closed the connection, or the network has lost it.
  case disconnected
  /// The client reads too slowly or not at all.
  case slowConsumer = "slow"
  /// The server has closed the connection: it shuts down, or it has too many connections of clients
  /// that are not authenticated.
  case closedByServer = "server"
  /// No part was sent: the request had the method HEAD, its client has disconnected before, or a limit of
  /// connections is reached.
  case notStarted = "rejected"
}

/// Writes the body of a streamed response. Call all methods from any thread; calls of one thread take
/// effect in their order. After the end, none has an effect.
package protocol HTTPStreamWriter: AnyObject, Sendable {
  /// The loop of the connection.
  var loop: any EventLoop { get }
  /// Sends the next part of the body, in this turn of the loop or when the client accepts it.
  func send(_ part: [UInt8])
  /// Ends the body when all parts are sent.
  func end()
  /// Number of bytes that wait for the client, approximately. A producer that can send less or later
  /// does so while they are many.
  var heldBytes: Int { get }
}

extension HTTPResponse {
  /// Returns a response that consists of server-sent events (`text/event-stream`).
  package static func events(
    from producer: any HTTPStreamProducer, maxHeldBytes: Int? = nil, isAuthenticated: Bool = false
  ) -> HTTPResponse {
    var response = HTTPResponse(status: 200, contentType: "text/event-stream")
    response.stream = HTTPResponseStream(
      producer: producer, keepAlive: HTTPResponseStream.eventComment, maxHeldBytes: maxHeldBytes,
      isAuthenticated: isAuthenticated)
    return response
  }

  /// Ends the response's stream, if it has one, because the response is not sent.
  package func discardStream(on loop: any EventLoop) {
    guard let stream else { return }
    loop.execute { stream.producer.ended(.notStarted) }
  }
}
