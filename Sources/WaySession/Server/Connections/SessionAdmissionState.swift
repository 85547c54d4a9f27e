/// What a connection may do next. Pure: it decides, ``Connection`` acts.
enum ConnectionState: Equatable {
  /// With the subprotocol: nothing but `session.open` and `rpc.discover` is taken.
  case awaitingHello
  /// Without the subprotocol: plain JSON-RPC in an anonymous session, and `session.open` is still
  /// possible.
  case anonymous
  /// `session.open` was answered.
  case open
  /// Nothing is taken any more.
  case closed

  /// What to do with a request or notification.
  enum Action: Equatable {
    /// Open, or join, a session.
    case openSession
    /// Go on with a client whose connection was lost.
    case resumeSession
    /// Hand it to the session.
    case forward
    /// Answer `rpc.discover` without a session.
    case discover
    /// Answer -32002: the session is not open.
    case refuseNotOpen
    /// Answer -32600: `session.open` and `session.resume` stand alone.
    case refuseInBatch
    /// Nothing may come any more.
    case ignore
  }

  /// Decides on a request for `method`.
  func received(_ method: String, inBatch: Bool) -> Action {
    switch self {
    case .closed: return .ignore
    case .open: return .forward
    case .anonymous:
      guard method == "session.open" else { return .forward }
      return inBatch ? .refuseInBatch : .openSession
    case .awaitingHello:
      switch method {
      case "session.open": return inBatch ? .refuseInBatch : .openSession
      case "session.resume": return inBatch ? .refuseInBatch : .resumeSession
      case "rpc.discover": return .discover
      default: return .refuseNotOpen
      }
    }
  }

  /// `session.open` succeeded.
  mutating func opened() {
    if self != .closed { self = .open }
  }

  /// The time to say hello has passed; true when the connection must be closed with 4101.
  func helloTimedOut() -> Bool {
    self == .awaitingHello
  }
}
