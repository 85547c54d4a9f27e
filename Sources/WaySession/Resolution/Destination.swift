import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Who shows a page.
enum HostReference {
  /// A client that hosts it.
  case client(ClientID)
  /// Swift code of the app itself.
  case swift(PageHandler)
}

/// What a URI leads to, and with which parameters.
struct Destination {
  enum Kind {
    case task(@Sendable (Call) throws -> Value)
    case asyncTask(@Sendable (Call) async throws -> Value)
    /// A client shows or runs it; the parameters are those of the call with what the host's pattern
    /// takes.
    indirect case hosted(ChosenHost, params: ValueObject)
    /// A page of Swift code.
    case page(PageHandler)
    /// `navigation:back`
    case back
    /// `navigation:selectTab`
    case selectTab
    case undefined(UndefinedRouteHandler)
    /// What serves the route is registered when it is called.
    case module(LazyModule)
  }

  let kind: Kind
  let routeKind: RouteKind
  /// What the URI says.
  let resolution: Resolution

  init(_ kind: Kind, _ routeKind: RouteKind, _ resolution: Resolution) {
    self.kind = kind
    self.routeKind = routeKind
    self.resolution = resolution
  }

  /// The undefined-route handler, for a URI that nobody serves.
  init(undefined handler: @escaping UndefinedRouteHandler, _ uri: RouteURI, _ params: ValueObject) {
    self.init(.undefined(handler), .task, .undeclared(UnmatchedURI(uri), params: params))
  }

  var uri: RouteURI { resolution.uri }
  var params: ValueObject {
    if case .hosted(_, let params) = kind { params } else { resolution.params }
  }
  /// The declared route's.
  var match: RouteMatch? { if case .match(let match) = resolution { match } else { nil } }
  var route: Route? { resolution.route }
  var pathParams: ValueObject { match?.pathParams ?? [:] }

  /// Whether somebody serves the URI itself, and not the undefined-route handler in his place.
  var isServed: Bool {
    if case .undefined = kind { false } else { true }
  }

  /// Throws where what a call carries would have to leave the process.
  func check(_ carried: Carried) throws(CallError) {
    switch kind {
    case .hosted, .back, .selectTab:
      throw CallError(carried.refusal(of: uri.text))
    case .task, .asyncTask, .page, .undefined, .module: break
    }
  }
}
