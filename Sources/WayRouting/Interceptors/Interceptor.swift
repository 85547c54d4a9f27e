import WayValues

/// What an interceptor makes of a call.
///
/// Each but ``refuse(_:)`` goes on with the same call: its exts, its style, its deadline and
/// whoever waits for its result are kept.
public enum Interception: Sendable {
  /// The call goes on to the next interceptor, behind the last to its handler.
  case next
  /// As ``next``, with these parameters in the place of all that the call had. They are checked
  /// once more.
  case change(params: ValueObject)
  /// The call goes on with another URI, whose interceptors are asked in turn. `params` nil keeps
  /// the caller's.
  case redirect(to: String, params: ValueObject? = nil)
  /// The call fails with the error 2423 and this reason.
  case refuse(String)
}

/// Sees calls before the route's handler or host does, and decides what becomes of them.
///
/// An interceptor that waits holds the call: it may open the login page, await its outcome, and
/// then let the call go on. It delays nobody else. When it takes longer than its deadline the call
/// is refused, and its task is cancelled.
public struct Interceptor: Sendable, Named {
  /// Which calls an interceptor sees.
  public enum Scope: Sendable {
    /// All, of URIs without a declared route too, but those of the routes with these names.
    case all(except: Set<String> = [])
    /// Those of the routes with these names, registered or not yet.
    case routes(Set<String>)
    /// Those of the routes in these groups.
    case groups(Set<String>)
  }

  enum Action: Sendable {
    case now(@Sendable (Call) throws -> Interception)
    case later(@Sendable (Call) async throws -> Interception, deadline: Duration)
  }

  /// Unique in a router; the error of a refused call names it.
  public let name: String
  /// The highest sees a call first.
  public let priority: Int
  /// Which calls it sees.
  public let scope: Scope
  let action: Action

  /// Whether it sees the calls of a route.
  func sees(_ route: String, in groups: Set<UTF8Key>) -> Bool {
    switch scope {
    case .all(let except): !except.contains { $0.isSameUTF8(as: route) }
    case .routes(let names): names.contains { $0.isSameUTF8(as: route) }
    case .groups: isFor(groups)
    }
  }

  /// Whether it sees the calls of the routes in some of these groups.
  func isFor(_ groups: Set<UTF8Key>) -> Bool {
    guard case .groups(let names) = scope else { return false }
    return names.contains { groups.contains(UTF8Key($0)) }
  }

  var isGlobal: Bool {
    if case .all = scope { true } else { false }
  }
}

extension Router {
  /// Adds an interceptor that decides at once, or puts it in the place of the one of its name. It
  /// runs on the thread of the caller's session: it must not block. Of interceptors with one
  /// priority the first added sees a call first.
  ///
  /// A ``CallError`` with a code of the application's that it throws reaches the caller; any other
  /// error refuses the call (2423).
  public func intercept(
    _ name: String, on scope: Interceptor.Scope = .all(), priority: Int = 0,
    _ body: @escaping @Sendable (Call) throws -> Interception
  ) {
    add(Interceptor(name: name, priority: priority, scope: scope, action: .now(body)))
  }

  /// Adds an interceptor that may wait, no longer than `deadline` for one call; otherwise as the
  /// one that decides at once.
  public func intercept(
    _ name: String, on scope: Interceptor.Scope = .all(), priority: Int = 0,
    deadline: Duration = .seconds(60),
    _ body: @escaping @Sendable (Call) async throws -> Interception
  ) {
    add(
      Interceptor(
        name: name, priority: priority, scope: scope, action: .later(body, deadline: deadline)))
  }

  private func add(_ interceptor: Interceptor) {
    changeAlways { $0.interceptors.put(interceptor) }
  }

  /// Takes an interceptor back; false when there is none. Calls that it holds it goes on to decide.
  @discardableResult
  public func removeInterceptor(_ name: String) -> Bool {
    changeAlways { $0.interceptors.remove(named: name) }
  }
}
