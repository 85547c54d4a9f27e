import WayRPC

/// The admission state of a connection. Pure: it decides, ``Connection`` acts.
enum SessionAdmissionState: Equatable {
  /// With the subprotocol: only `session.open`, `session.resume` and `rpc.discover` are accepted.
  case awaitingOpen
  /// Without the subprotocol: plain JSON-RPC in an anonymous session, and `session.open` is still
  /// possible.
  case anonymous
  /// `session.open` was answered.
  case open
  /// Nothing is accepted any more.
  case closed

  /// What to do with a request or notification.
  enum AdmissionAction: Equatable {
    /// Open, or join, a session.
    case openSession
    /// Resume a client that has lost its connection.
    case resumeSession
    /// Forward it to the session.
    case forward
    /// Answer `rpc.discover` without a session.
    case discover
    /// Answer -32002: the session is not open.
    case rejectNotOpen
    /// Answer -32600: `session.open` and `session.resume` must not be part of a batch.
    case rejectInBatch
    /// Ignore it: the connection is closed.
    case ignore
  }

  /// What to do with a whole message.
  enum MessageAction {
    /// Admit the client to a session, with this request.
    case admit(Request)
    /// Forward it to the session.
    case forward
    /// Respond without a session.
    case respond
    /// Ignore it: the connection is closed.
    case ignore
  }

  /// Decides what to do with a message.
  func received(_ incoming: FrameContent) -> MessageAction {
    if self == .closed { return .ignore }
    switch incoming {
    case .message(.request(let request)):
      switch received(request.method, inBatch: false) {
      case .openSession, .resumeSession: return .admit(request)
      case .forward: return .forward
      case .discover, .rejectNotOpen, .rejectInBatch: return .respond
      case .ignore: return .ignore
      }
    case .batch(let messages) where messages.contains(where: opensSession): return .respond
    case .message, .batch, .malformed: return self == .awaitingOpen ? .respond : .forward
    }
  }

  /// Whether a message of a batch must not be forwarded to the session.
  private func opensSession(_ message: Message) -> Bool {
    guard case .request(let request) = message else { return false }
    return received(request.method, inBatch: true) != .forward
  }

  /// Decides what to do with a request for `method`.
  func received(_ method: String, inBatch: Bool) -> AdmissionAction {
    switch self {
    case .closed: return .ignore
    case .open: return .forward
    case .anonymous:
      guard method == "session.open" else { return .forward }
      return inBatch ? .rejectInBatch : .openSession
    case .awaitingOpen:
      switch method {
      case "session.open": return inBatch ? .rejectInBatch : .openSession
      case "session.resume": return inBatch ? .rejectInBatch : .resumeSession
      case "rpc.discover": return .discover
      default: return .rejectNotOpen
      }
    }
  }

  /// Records that `session.open` succeeded.
  mutating func opened() {
    if self != .closed { self = .open }
  }

  /// Whether the client has to begin in time: with `session.open` or, for a plain client of a server
  /// that identifies its clients, with any message.
  func hasDeadline(identifies: Bool, hasSession: Bool) -> Bool {
    switch self {
    case .awaitingOpen: true
    case .anonymous: identifies && !hasSession
    case .open, .closed: false
    }
  }
}
