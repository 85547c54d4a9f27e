import WayPatterns
import WayValues

/// A declared route with the parameters of a call. A class, so that it is passed on as one
/// reference.
public final class RouteMatch: CallTarget {
  /// The part that depends on the URI alone, and is the same for every call of it.
  let resolvedRoute: ResolvedRoute
  /// The parameters of query, path and caller, merged; later ones win.
  public let params: ValueObject

  init(resolvedRoute: ResolvedRoute, params: ValueObject) {
    self.resolvedRoute = resolvedRoute
    self.params = params
  }

  /// The route with the handler that it had at the lookup.
  public var route: Route { resolvedRoute.route }
  var declaredRoute: Route? { resolvedRoute.route }
  /// The route's own handler; `nil` if a custom dispatcher handles the call instead.
  package var routeHandler: RouteHandler? {
    resolvedRoute.customHandler == nil ? resolvedRoute.route.checkedHandler : nil
  }
  /// The URI of the lookup.
  public var uri: RouteURI { resolvedRoute.uri }
  /// Whether the URI fits the declared types of the parameters of the path. If not, no other route
  /// matches, and a call succeeds only if it passes other values for them.
  public var fitsTypes: Bool { resolvedRoute.fitsTypes }
  /// The values of the pattern's parameters in the URI.
  public var pathParams: ValueObject { resolvedRoute.pathParams }
  /// The handler of the scheme's custom dispatcher, which runs instead of the route's.
  public var customHandler: (@Sendable (Call) async throws -> Value)? {
    resolvedRoute.customHandler
  }
  /// The interceptors that see the call before the route does, and its gates.
  package var interceptors: InterceptorChain? { resolvedRoute.interceptors }

  /// Returns the match with these parameters instead of all others, after checking them.
  package func with(_ params: ValueObject) throws(RouterResolutionError) -> RouteMatch {
    try resolvedRoute.replacingParameters(params)
  }
}

/// The resolution of a URI to a declared route in one snapshot, independent of the caller's
/// parameters. A class, so that it is passed on as one reference.
final class ResolvedRoute: Sendable {
  let route: Route
  let uri: RouteURI
  let pathParams: ValueObject
  /// The parameters of query and path, converted to the declared kinds.
  let params: ValueObject
  let customHandler: (@Sendable (Call) async throws -> Value)?
  let interceptors: InterceptorChain?
  /// Whether the route needs no permission.
  let isUnrestricted: Bool
  /// Whether the same URI may resolve differently for another caller.
  let dependsOnCaller: Bool
  /// Whether the parameters of the path fit the declared types.
  let fitsTypes: Bool
  /// Whether the caller's parameters are checked as those of a third party's app.
  private let isThirdParty: Bool
  /// Whether any parameters are checked.
  private let checksParameters: Bool
  /// The faults of path and query that are not of the declared kinds.
  private let faults: [PatternParameterFault]

  init(
    route: Route, uri: RouteURI, pathParams: ValueObject, params: ValueObject,
    customHandler: (@Sendable (Call) async throws -> Value)?, isThirdParty: Bool,
    interceptors: InterceptorChain?, dependsOnCaller: Bool, fitsTypes: Bool
  ) {
    self.fitsTypes = fitsTypes
    self.dependsOnCaller = dependsOnCaller
    self.interceptors = interceptors
    self.route = route
    isUnrestricted = route.permissions.isEmpty
    self.uri = uri
    self.customHandler = customHandler
    self.isThirdParty = isThirdParty
    self.pathParams = pathParams
    checksParameters = isThirdParty || route.rules != nil
    (self.params, faults) = route.rules?.convert(params) ?? (params, [])
  }

  /// Returns the match for one call. If `checking` is `false`, parameters that a caller may still
  /// add are not checked.
  func match(_ params: ValueObject, checking: Bool) throws(RouterResolutionError) -> RouteMatch {
    var merged = params
    if !self.params.isEmpty {
      merged = self.params
      merged.merge(params)
    }
    if checksParameters, checking { try check(&merged, params) }
    return RouteMatch(resolvedRoute: self, params: merged)
  }

  /// Returns the match with parameters that replace those of the URI.
  func replacingParameters(_ params: ValueObject) throws(RouterResolutionError) -> RouteMatch {
    var params = params
    if checksParameters { try check(&params, params) }
    return RouteMatch(resolvedRoute: self, params: params)
  }

  private func check(
    _ merged: inout ValueObject, _ given: ValueObject
  ) throws(RouterResolutionError) {
    if isThirdParty { try merged.checkThirdParty() }
    do { try route.rules?.check(&merged, given: given, uriFaults: faults) } catch {
      throw RouterResolutionError(error)
    }
  }
}

extension RouteMatch {
  /// Returns a URI that holds the whole call: its target and all ``params``. The query holds those
  /// that the path does not.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for parameters that a URI cannot hold, such as
  /// objects.
  public func completeURI() throws(PatternParameterError) -> RouteURI {
    try uri.completed(with: params, pathParams: pathParams, route: route)
  }
}

extension ValueObject {
  /// Checks that the parameter `i` is the URI of a third party's app.
  func checkThirdParty() throws(RouterResolutionError) {
    guard let target = self["i"]?.string else {
      throw RouterResolutionError.parameterFault(
        "i", "the URI of the other app is missing; it is a string")
    }
    do {
      guard try RouteURI(mapping: target).scheme == nil else { return }
    } catch {
      throw RouterResolutionError.parameterFault("i", "not a URI: \(error)")
    }
    throw RouterResolutionError.parameterFault("i", "the URI of the other app needs a scheme")
  }
}
