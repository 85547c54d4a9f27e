import WayTransport

/// Opens outgoing WebSocket connections.
package enum SocketClient {
  /// Connects to `url` (`ws://host:port/path`). `accept` returns the receiver of the messages; it
  /// is called on the loop, before the first message.
  ///
  /// Throws in these cases:
  /// - The URL is invalid.
  /// - No program listens at the address.
  /// - The server rejects the handshake; the error has its HTTP status.
  /// - The server selects another subprotocol than the requested one.
  /// - The server does not respond within `timeout`.
  ///
  /// A host name that is not an address is resolved on the loop's thread, which blocks meanwhile.
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
    var limits = ConnectionLimits(maximumMessage: maxMessage)
    // A client reads on, however much it has not sent.
    limits.highWater = .max
    let result: Result<Void, SocketError> = await withCheckedContinuation { continuation in
      let attempt = ConnectionAttempt(
        address: address, subprotocol: subprotocol, origin: origin, limits: limits,
        accept: accept, finish: { continuation.resume(returning: $0) })
      loop.execute {
        do throws(SocketError) {
          if loop.clientSockets == nil { loop.clientSockets = try ClientSockets(loop: loop) }
          loop.clientSockets?.connect(attempt, timeout: timeout)
        } catch {
          attempt.finish(.failure(error))
        }
      }
    }
    try result.get()
  }
}

/// The parameters of one connection attempt. `finish` is called once, with its result.
struct ConnectionAttempt: Sendable {
  var address: WebSocketAddress
  var subprotocol: String?
  var origin: String?
  var limits: ConnectionLimits
  var accept: @Sendable (any MessageChannel) -> any MessageReceiver
  var finish: @Sendable (Result<Void, SocketError>) -> Void
}
