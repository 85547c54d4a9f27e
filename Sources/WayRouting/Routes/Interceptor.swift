import WayValues

/// The decision of an interceptor about a call.
///
/// Each decision except ``refuse(_:)`` continues the same call: its exts, its style, its deadline
/// and its caller stay the same.
public enum Interception: Sendable {
  /// The call continues with the next interceptor, or with its handler after the last one.
  case next
  /// The call continues like ``next``, with these parameters instead of all parameters of the
  /// call. They are checked again.
  case change(params: ValueObject)
  /// The call continues with another URI and its interceptors. If `params` is `nil`, the caller's
  /// parameters stay.
  case redirect(to: String, params: ValueObject? = nil)
  /// The call fails with the error 2423 and this reason.
  case refuse(String)
}

/// An interceptor that runs before the route's handler or host, and decides how a call continues.
///
/// An interceptor that waits holds the call: it may open the login page, await its outcome, and
/// then let the call continue. It does not delay other calls. If it exceeds its timeout, the call
/// is refused, and its task is cancelled.
public struct Interceptor: Sendable {
  /// The calls that an interceptor sees, or that need a gate.
  public enum InterceptorScope: Sendable {
    /// All calls, including those of URIs without a declared route, except those of the routes with
    /// these names.
    case all(except: Set<String> = [])
    /// The calls of the routes with these names, whether they are registered yet or not.
    case routes(Set<String>)
    /// The calls of the routes in these groups.
    case groups(Set<String>)

    /// Whether the scope has the calls of a route.
    func covers(_ route: String, in groups: Set<UTF8Key>) -> Bool {
      switch self {
      case .all(let except): !except.contains { $0.isSameUTF8(as: route) }
      case .routes(let names): names.contains { $0.isSameUTF8(as: route) }
      case .groups: coversAny(groups)
      }
    }

    /// Whether the scope has the calls of the routes in any of these groups.
    func coversAny(_ groups: Set<UTF8Key>) -> Bool {
      guard case .groups(let names) = self else { return false }
      return names.contains { groups.contains(UTF8Key($0)) }
    }

    var isGlobal: Bool {
      if case .all = self { true } else { false }
    }
  }

  enum InterceptorBody: Sendable {
    case immediate(@Sendable (Call) throws -> Interception)
    case asynchronous(@Sendable (Call) async throws -> Interception, timeout: Duration)
  }

  /// The name, unique in a router; the error of a refused call contains it.
  public let name: String
  /// The priority; the interceptor with the highest one sees a call first.
  public let priority: Int
  /// The calls that the interceptor sees.
  public let scope: InterceptorScope
  let body: InterceptorBody

  /// Creates an interceptor outside of a router, which sees the calls that it is added to.
  package init(
    waiting name: String, priority: Int, timeout: Duration,
    _ body: @escaping @Sendable (Call) async throws -> Interception
  ) {
    self.init(
      name: name, priority: priority, scope: .all(), body: .asynchronous(body, timeout: timeout))
  }

  init(name: String, priority: Int, scope: InterceptorScope, body: InterceptorBody) {
    (self.name, self.priority, self.scope, self.body) = (name, priority, scope, body)
  }
}
