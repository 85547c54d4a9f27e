import WayNavigation
import WayPatterns
import WayValues

/// A condition for calls of certain routes, such as that the user has signed in.
///
/// Each session has its own state of each gate, and a gate is closed at first. The first call of such
/// a route opens the page of the gate, or runs its task, once for the session; the other calls wait.
/// If the page finishes as it should, the gate is open: all calls that wait continue, in the order
/// in which they came, and later ones pass. Otherwise all of them are refused with the error 2423,
/// and the next call opens the page again.
///
/// The page gets `exts.gate` with the name of the gate and the URI of the first call that waits. A gate
/// follows the interceptors of a call. Several gates of a call are passed one after another,
/// in the order in which they were added. The page of a gate passes all gates.
public struct Gate: Sendable {
  /// The name, unique in a router; the error of a refused call contains it.
  public let name: String
  /// The calls that need the gate: those that one of these scopes covers.
  public let scopes: [Interceptor.InterceptorScope]
  /// The URI of the page or task that decides whether the gate opens.
  public let target: RouteURI
  /// The parameters of the page or task.
  public let params: ValueObject
  /// The style of the page; `nil` for that of its route.
  public let style: Style?
  /// The schema that the result of the page or task has to fit for the gate to open; `nil` for any.
  public let passes: ValueSchema?

  /// Creates a gate, closed in every session.
  public init(
    _ name: String, on scopes: [Interceptor.InterceptorScope], opens target: RouteURI,
    params: ValueObject = [:], style: Style? = nil, passes: ValueSchema? = nil
  ) {
    self.name = name
    self.scopes = scopes
    self.target = target
    self.params = params
    self.style = style
    self.passes = passes
  }

  /// Whether calls of a route need the gate, apart from groups that the route was added to.
  package func covers(_ route: Route) -> Bool {
    let groups = Set(route.groups.map { UTF8Key($0) })
    return scopes.contains { $0.covers(route.name, in: groups) }
  }

  /// Returns why the page of the gate, with this outcome, does not open the gate; `nil` if it does.
  package func refusal(for outcome: Outcome) -> String? {
    switch outcome.kind {
    case .finished: break
    case .failed: return "\(target.text) failed"
    case .dismissed, .replaced, .cancelled: return "\(target.text) was \(outcome.kind.rawValue)"
    }
    guard outcome.code == 0 else {
      let message = outcome.message.isEmpty ? "" : ": \(outcome.message.brief)"
      return "\(target.text) finished with the code \(outcome.code)\(message)"
    }
    var faults: [SchemaFault] = []
    passes?.check(outcome.data, &faults)
    return faults.first.map {
      "the result of \(target.text) is not accepted: \($0.fault(of: "data"))"
    }
  }
}
