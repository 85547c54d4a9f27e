import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The client or code that shows a page.
enum HostReference {
  /// A client that hosts the page.
  case client(ClientID)
  /// Swift code of the app itself.
  case app(PageHandler)
}

/// The destination of a URI, with its parameters.
struct SessionDestination {
  enum DestinationKind {
    case task(@Sendable (Call) throws -> Value)
    case asyncTask(@Sendable (Call) async throws -> Value)
    /// A client shows or runs it. The parameters are those of the call, with the captures of the
    /// host's pattern.
    indirect case hosted(ChosenHost, params: ValueObject)
    /// A page of Swift code.
    case page(PageHandler)
    /// `navigation:back`
    case back
    /// `navigation:selectTab`
    case selectTab
    case undefined(UndefinedRouteHandler)
    /// A module that registers the route's handler when the route is called.
    case module(LazyModule)
  }

  let kind: DestinationKind
  let routeKind: RouteKind
  /// The resolution of the URI.
  let resolution: Resolution

  init(_ kind: DestinationKind, _ routeKind: RouteKind, _ resolution: Resolution) {
    self.kind = kind
    self.routeKind = routeKind
    self.resolution = resolution
  }

  /// The undefined-route handler, for a URI without a handler or host.
  init(undefined handler: @escaping UndefinedRouteHandler, _ uri: RouteURI, _ params: ValueObject) {
    self.init(.undefined(handler), .task, .unmatched(UnmatchedURI(uri), params: params))
  }

  var uri: RouteURI { resolution.uri }
  var params: ValueObject {
    if case .hosted(_, let params) = kind { params } else { resolution.params }
  }
  /// The match of the declared route.
  var match: RouteMatch? { if case .match(let match) = resolution { match } else { nil } }
  var route: Route? { resolution.route }
  var pathParams: ValueObject { match?.pathParams ?? [:] }

  /// Whether a handler or host serves the URI itself, and not the undefined-route handler.
  var isHandled: Bool {
    if case .undefined = kind { false } else { true }
  }

  /// Throws if the attachments of a call would have to leave the process.
  func check(_ attachments: RouterAttachments) throws(CallError) {
    switch kind {
    case .hosted, .back, .selectTab:
      throw CallError(attachments.deliveryError(of: uri.text))
    case .task, .asyncTask, .page, .undefined, .module: break
    }
  }
}
