import Synchronization
import WayRPC
import WayRouting
import WaySession
import WaySockets
import WayValues

/// Where the methods of a ``BridgeServer`` find the bridge that its ``BridgeServer/run()`` has
/// begun.
final class RunningSlot: Sendable {
  /// A link that came while there was no bridge.
  typealias WaitingLink = (link: DeepLink, audience: Audience)

  private enum State {
    case idle
    case starting
    case running(SessionServer)
  }

  private struct Held {
    var state = State.idle
    /// Tells the sockets who is let in; nil where there are none.
    var setAccess: (@Sendable (AccessRules) -> Void)?
    /// In the order in which they came.
    var links: [WaitingLink] = []
  }

  private let held = Mutex(Held())

  /// Fails when the server runs already.
  func start() throws(CallError) {
    let isFree = held.withLock { held in
      guard case .idle = held.state else { return false }
      held.state = .starting
      return true
    }
    guard isFree else {
      throw CallError(code: ErrorCode.conflict.rawValue, message: "The server runs already")
    }
  }

  /// The links that wait, for the bridge; where none does, the bridge is there for all from now on.
  func begin(_ group: SessionServer) -> [WaitingLink] {
    held.withLock { held in
      if held.links.isEmpty { held.state = .running(group) }
      defer { held.links = [] }
      return held.links
    }
  }

  func ended() {
    held.withLock { held in
      held.state = .idle
      held.setAccess = nil
    }
  }

  /// The sockets take other rules with `set`.
  func listens(_ set: @escaping @Sendable (AccessRules) -> Void) {
    held.withLock { $0.setAccess = set }
  }

  /// Has the sockets take other rules.
  func setAccess(_ rules: AccessRules) {
    held.withLock { $0.setAccess }?(rules)
  }

  /// The bridge; fails with 2503 while there is none.
  func group() throws(CallError) -> SessionServer {
    guard case .running(let group) = held.withLock({ $0.state }) else {
      throw CallError(
        code: ErrorCode.unavailable.rawValue,
        message: "The server does not run: call this from onListening on, until run() returns")
    }
    return group
  }

  /// The bridge; while there is none the link is kept for it. Fails with -32602 for a link
  /// that is no URI with a scheme, and with 2429 when `limit` wait already.
  func group(
    orKeeping link: DeepLink, for audience: Audience, limit: Int
  ) throws(CallError) -> SessionServer? {
    try held.withLock { (held) throws(CallError) -> SessionServer? in
      if case .running(let group) = held.state { return group }
      try link.check()
      guard held.links.count < limit else {
        throw CallError(
          code: ErrorCode.tooMany.rawValue, message: "\(limit) links wait for the server to run")
      }
      held.links.append((link, audience))
      return nil
    }
  }
}
