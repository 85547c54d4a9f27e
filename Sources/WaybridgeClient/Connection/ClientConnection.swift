import WayTransport

/// One connection of a client. It identifies itself to the manager, so that events of an old
/// connection are ignored. Confined to the client's loop.
final class ClientConnection: MessageReceiver, @unchecked Sendable {
  private let manager: ConnectionManager
  /// The channel; nil until the handshake is done.
  var channel: (any MessageChannel)?

  init(of manager: ConnectionManager) {
    self.manager = manager
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    manager.receive(message, on: self)
  }

  func closed(_ code: UInt16?) {
    channel = nil
    manager.connectionClosed(self, ClientConnectionEnd(code: code))
  }
}
