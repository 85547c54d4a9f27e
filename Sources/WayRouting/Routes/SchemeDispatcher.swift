import WayNavigation
import WayValues

/// The meaning of opening a URI of a scheme.
public struct SchemeDispatcher: Sendable {
  /// The action for a URI of the scheme.
  public enum DispatchAction: Sendable {
    /// Pages are opened; the routes of the scheme are pages.
    case page
    /// Tasks are run.
    case task
    /// Methods of services are called.
    case service
    /// The stack changes, as with `navigation:back?count=2`; the scheme has no routes.
    case navigation
    /// The closure handles every call, regardless of the kind of the route.
    case custom(@Sendable (Call) async throws -> Value)
  }

  /// The name of the dispatcher, for people.
  public let name: String
  /// The action for a URI of the scheme.
  public let action: DispatchAction

  /// Creates a dispatcher, to be registered for one or several schemes.
  public init(name: String, action: DispatchAction) {
    self.name = name
    self.action = action
  }

  /// Opens an app of a third party. The parameter `i` is the URI of that app.
  static let thirdParty = SchemeDispatcher(name: "tp", action: .task)

  /// The dispatchers of a new router.
  static let builtIn: [(scheme: String, dispatcher: SchemeDispatcher)] =
    ["native", "flutter", "http", "https", "wxmp"].map {
      ($0, SchemeDispatcher(name: $0, action: .page))
    }
    + [
      ("action", SchemeDispatcher(name: "action", action: .task)),
      ("service", SchemeDispatcher(name: "service", action: .service)),
      ("navigation", SchemeDispatcher(name: "navigation", action: .navigation)),
      ("tp", thirdParty),
    ]
    + ["system", "tel", "mailto", "sms", "settings"].map {
      ($0, SchemeDispatcher(name: "system", action: .task))
    }

  /// Whether the scheme can have routes of a kind.
  func accepts(_ kind: RouteKind) -> Bool {
    switch action {
    case .page: kind == .page
    case .task: kind == .task
    case .service: kind == .service
    case .navigation: false
    case .custom: true
    }
  }
}
