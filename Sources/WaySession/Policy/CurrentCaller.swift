import DequeModule
import Synchronization
import WayRouting
import WayTransport

/// A client as it is now, for copies of its rights: on other loops, at other servers, after a
/// restart. Thread-safe.
final class CurrentCaller: Sendable {
  private struct CallerState {
    var caller: Caller
    var isRevoked: Bool
    /// When the state was valid, in milliseconds since 1970-01-01 UTC. `nil` if each change of the
    /// client is applied at once.
    var validAt: Int64?
  }

  /// How long the state of a client of another server counts as its current one, in milliseconds.
  static let maxAge: Int64 = 1000

  private let state: Locked<CallerState>
  private let changeCount = Atomic(0)

  /// Creates the state of a client. For one whose changes this server does not receive, `validAt` is
  /// when it had this state, in milliseconds since 1970-01-01 UTC.
  init(_ caller: Caller, isRevoked: Bool = false, validAt: Int64? = nil) {
    state = Locked(CallerState(caller: caller, isRevoked: isRevoked, validAt: validAt))
  }

  var caller: Caller { state.withLock { $0.caller } }

  /// Whether an administrator has removed the client.
  var isRevoked: Bool { state.withLock { $0.isRevoked } }

  /// The number of changes so far.
  var version: Int { changeCount.load(ordering: .acquiring) }

  /// Whether the client may have changed without notice, at a time in milliseconds since 1970-01-01
  /// UTC.
  func isOutdated(at now: Int64) -> Bool {
    state.withLock { state in
      guard let validAt = state.validAt, !state.isRevoked else { return false }
      return !(0...Self.maxAge).contains(now &- validAt)
    }
  }

  /// Records that changes of the client are no longer applied at once.
  func markOutdated() { state.withLock { $0.validAt = 0 } }

  /// Gives the client another identity.
  func update(_ caller: Caller) {
    state.withLock { $0.caller = caller }
    changeCount.add(1, ordering: .releasing)
  }

  /// Records what was found out about the client at a time in milliseconds since 1970-01-01 UTC.
  func update(_ status: CallerStatus, at now: Int64) {
    state.withLock { state in
      state.validAt = now
      switch status {
      case .present(let caller): state.caller = caller
      case .revoked: state.isRevoked = true
      case .absent: break
      }
    }
    changeCount.add(1, ordering: .releasing)
  }

  /// Records that an administrator has removed the client.
  func revoke() { state.withLock { $0.isRevoked = true } }
}

/// What a server knows of a client that has made a request earlier.
enum CallerStatus: Sendable {
  /// It is in its session.
  case present(Caller)
  /// An administrator has removed it.
  case revoked
  /// It has left. Its last identity counts until it expires.
  case absent
}

/// The clients that administrators have removed last. Their names are not used again.
struct RevokedClients {
  /// The maximum number of names. The earliest is removed first.
  static let limit = 10_000

  private var names: Set<String> = []
  private var order: Deque<String> = []

  func contains(_ name: String) -> Bool { names.contains(name) }

  mutating func add(_ name: String) {
    guard names.insert(name).inserted else { return }
    order.append(name)
    if order.count > Self.limit, let first = order.popFirst() { names.remove(first) }
  }

  mutating func add(_ clients: [String]) { for name in clients { add(name) } }
}
