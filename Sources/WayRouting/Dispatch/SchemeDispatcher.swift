import WayNavigation
import WayValues

/// What opening means for a scheme.
public struct SchemeDispatcher: Sendable {
  /// What is done with a URI of the scheme.
  public enum Action: Sendable {
    /// Pages are opened; the routes of the scheme are pages.
    case page
    /// Tasks are run.
    case task
    /// Methods of services are called.
    case service
    /// The stack is moved, as in `navigation:back?count=2`; the scheme has no routes.
    case navigation
    /// The closure answers every call, whatever the kind of the route.
    case custom(@Sendable (Call) async throws -> Value)
  }

  /// What the scheme stands for, for people.
  public let name: String
  /// What is done with a URI of the scheme.
  public let action: Action

  /// A dispatcher, to be registered for one scheme or several.
  public init(name: String, action: Action) {
    self.name = name
    self.action = action
  }

  /// Opens an app of a third party; its URI is the parameter `i`.
  static let thirdParty = SchemeDispatcher(name: "tp", action: .task)

  /// The dispatchers that every router begins with.
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

  /// Whether routes of a kind belong under the scheme.
  func takes(_ kind: RouteKind) -> Bool {
    switch action {
    case .page: kind == .page
    case .task: kind == .task
    case .service: kind == .service
    case .navigation: false
    case .custom: true
    }
  }
}
