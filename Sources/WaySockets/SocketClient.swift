import WayTransport

/// Outgoing WebSocket connections.
package enum SocketClient {
  /// Connects to `url` (`ws://host:port/path`), and hands the messages to the receiver that
  /// `accept` gives; it is called on the loop, before the first message.
  ///
  /// Throws where the URL is none, nobody listens, the server refuses (with its HTTP status),
  /// speaks another subprotocol than the one asked for, or does not answer within `timeout`. A host
  /// name other than an address is looked up on the loop's thread, which waits for it.
  package static func connect(
    url: String, subprotocol: String? = nil, origin: String? = nil, maxMessage: Int = 1 << 20,
    timeout: Duration = .seconds(10), on loop: SocketLoop,
    accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(SocketError) {
    let address = try WebSocketAddress(url)
    for text in [subprotocol, origin].compactMap({ $0 }) {
      guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), (1...100).contains(text.utf8.count)
      else {
        throw SocketError(.invalid, "\(quoted(text)) cannot be sent as a subprotocol or an origin")
      }
    }
    let limits = ConnectionLimits(
      maximumMessage: maxMessage, maximumBuffered: 8 * 1024 * 1024, closeTimeout: .seconds(5))
    let result: Result<Void, SocketError> = await withCheckedContinuation { continuation in
      let attempt = ConnectionAttempt(
        address: address, subprotocol: subprotocol, origin: origin, limits: limits,
        accept: accept, finish: { continuation.resume(returning: $0) })
      loop.execute {
        do throws(SocketError) {
          if loop.clients == nil { loop.clients = try ClientSockets(loop: loop) }
          loop.clients?.connect(attempt, timeout: timeout)
        } catch {
          attempt.finish(.failure(error))
        }
      }
    }
    try result.get()
  }
}

/// What is asked for with one connection, and whom to tell how it went: once.
struct ConnectionAttempt: Sendable {
  var address: WebSocketAddress
  var subprotocol: String?
  var origin: String?
  var limits: ConnectionLimits
  var accept: @Sendable (any MessageChannel) -> any MessageReceiver
  var finish: @Sendable (Result<Void, SocketError>) -> Void
}
