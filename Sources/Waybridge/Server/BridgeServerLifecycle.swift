import Synchronization
import WayRPC
import WayRouting
import WaySession
import WaySockets
import WayValues

/// The state of a ``BridgeServer``: gives its methods access to the bridge that
/// ``BridgeServer/run()`` has started.
final class BridgeServerLifecycle: Sendable {
  /// A link that was delivered while there was no bridge.
  typealias QueuedDeepLink = (link: DeepLink, audience: Audience)

  private enum ServerPhase {
    case idle
    case starting
    case running(SessionServer)
  }

  private struct LifecycleState {
    var phase = ServerPhase.idle
    /// Applies access rules to the sockets; nil without sockets.
    var accessHandler: (@Sendable (AccessRules) -> Void)?
    /// The queued links, oldest first.
    var queuedLinks: [QueuedDeepLink] = []
  }

  private let state = Mutex(LifecycleState())

  /// Begins the start. Throws if the server already runs.
  func start() throws(CallError) {
    let isFree = state.withLock { state in
      guard case .idle = state.phase else { return false }
      state.phase = .starting
      return true
    }
    guard isFree else {
      throw CallError(code: ErrorCode.conflict.rawValue, message: "The server is already running")
    }
  }

  /// Returns the queued links. If there are none, the bridge is running from now on.
  func activate(_ sessionServer: SessionServer) -> [QueuedDeepLink] {
    state.withLock { state in
      if state.queuedLinks.isEmpty { state.phase = .running(sessionServer) }
      defer { state.queuedLinks = [] }
      return state.queuedLinks
    }
  }

  func stop() {
    state.withLock { state in
      state.phase = .idle
      state.accessHandler = nil
    }
  }

  /// Sets the handler that applies access rules to the sockets.
  func setAccessHandler(_ handler: @escaping @Sendable (AccessRules) -> Void) {
    state.withLock { $0.accessHandler = handler }
  }

  /// Applies access rules to the sockets.
  func setAccess(_ rules: AccessRules) {
    state.withLock { $0.accessHandler }?(rules)
  }

  /// The session server of the running bridge; throws 2503 while there is none.
  func sessionServer() throws(CallError) -> SessionServer {
    guard case .running(let sessionServer) = state.withLock({ $0.phase }) else {
      throw CallError(
        code: ErrorCode.unavailable.rawValue,
        message: "The server is not running; call this after onListening and before run() returns")
    }
    return sessionServer
  }

  /// The session server of the running bridge; while there is none, the link is queued. Throws
  /// -32602 for a link with an invalid URI or one without a scheme, and 2429 if `limit` links
  /// already wait.
  func sessionServer(
    orQueueing link: DeepLink, for audience: Audience, limit: Int
  ) throws(CallError) -> SessionServer? {
    try state.withLock { (state) throws(CallError) -> SessionServer? in
      if case .running(let sessionServer) = state.phase { return sessionServer }
      try link.validate()
      guard state.queuedLinks.count < limit else {
        throw CallError(
          code: ErrorCode.tooMany.rawValue,
          message: "\(limit) deep links already wait for the server to start")
      }
      state.queuedLinks.append((link, audience))
      return nil
    }
  }
}
