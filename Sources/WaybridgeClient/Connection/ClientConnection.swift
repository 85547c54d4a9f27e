import WayTransport

/// One connection of a client, which knows whose it was when it is no longer the current one.
/// Confined to the client's loop.
final class ClientConnection: MessageReceiver, @unchecked Sendable {
  private let line: Line
  /// nil until the handshake is done.
  var channel: (any MessageChannel)?

  init(of line: Line) {
    self.line = line
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    line.receive(message, on: self)
  }

  func closed(_ code: UInt16?) {
    channel = nil
    line.closed(self, ClientConnectionEnd(code: code))
  }
}
