import WayRPC
import WayValues

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
