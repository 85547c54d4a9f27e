import WayRPC
import WayTransport
import WayValues

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

/// The delegate of a ``ConnectionManager``. All methods are called on the client's loop.
protocol ClientConnectionDelegate: AnyObject, Sendable {
  /// A connection is open: the delegate sends the first request of the session.
  func connectionOpened()

  /// Receives a message, in order and exactly once.
  func receive(_ message: Message)

  /// The connection was lost or could not be made. The next attempt follows after `delay`.
  func connectionLost(_ end: ClientConnectionEnd, attempt: Int, delay: Duration)

  /// No further connection will be made. `error` states why there was none.
  func connectionEnded(_ end: ClientConnectionEnd, _ error: CallError?)
}
