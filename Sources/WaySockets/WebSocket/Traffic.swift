import WayTransport

/// What the WebSocket connections of a loop have carried since it began.
package struct Traffic: Sendable {
  package var messagesReceived = 0
  package var messagesSent = 0
  /// Bytes of messages, without what frames them.
  package var bytesReceived = 0
  package var bytesSent = 0
  /// How often connections closed with each code, 1006 where they ended without one (RFC 6455 §7.1.5). Codes that are
  /// neither the protocol's nor the standard's count as 0: a peer may send any.
  package private(set) var closes: [UInt16: Int] = [:]

  mutating func closed(_ code: UInt16?) {
    let code = code ?? 1006
    let isKnown = (1000...1015).contains(code) || CloseCode.own.contains(CloseCode(rawValue: code))
    closes[isKnown ? code : 0, default: 0] += 1
  }
}

/// What a server's sockets hold now, and what its loop's have carried.
package struct SocketStatistics: Sendable {
  /// Open WebSocket connections.
  package var connections = 0
  /// Bytes that wait to be sent to their peers.
  package var queuedBytes = 0
  package var traffic = Traffic()
}
