import WayRPC
import WayValues

/// Who speaks over a ``Line``. All calls come on its loop.
protocol LineUser: AnyObject, Sendable {
  /// There is a connection: the server is to be greeted.
  func connected()

  /// A message has come, in its order and once.
  func take(_ message: Message)

  /// The connection was lost, or there was none, and another try follows after `delay`.
  func lost(_ end: ClientConnectionEnd, attempt: Int, delay: Duration)

  /// There will be no connection any more. `error` tells why there was none.
  func ended(_ end: ClientConnectionEnd, _ error: CallError?)
}
