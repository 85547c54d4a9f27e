import WayPatterns
import WayValues

/// A declared route with the parameters of a call. A class, so that it is handed on as one
/// reference.
public final class RouteMatch: Sendable {
  /// What the URI alone leads to; the same for every call of it.
  let found: ResolvedRoute
  /// Query, path and the caller's parameters, merged; the later ones win.
  public let params: ValueObject

  init(found: ResolvedRoute, params: ValueObject) {
    self.found = found
    self.params = params
  }

  /// The route with the handler that it had when it was looked up.
  public var route: Route { found.route }
  /// What answers the call, where that is the route's own handler.
  package var work: RouteHandler? { found.custom == nil ? found.route.handler : nil }
  /// The URI that was looked up.
  public var uri: RouteURI { found.uri }
  /// What the pattern's parameters took from the URI.
  public var pathParams: ValueObject { found.pathParams }
  /// Answers the call instead of the route, where the scheme has a custom dispatcher.
  public var custom: (@Sendable (Call) async throws -> Value)? { found.custom }
  /// Who sees the call before the route does.
  package var interceptors: InterceptorChain? { found.interceptors }

  /// The same with other parameters in the place of all, which are checked.
  package func with(_ params: ValueObject) throws(ResolutionError) -> RouteMatch {
    try found.changed(params)
  }
}

/// What a URI leads to in one snapshot, without anything of the caller's. A class, so that it is
/// handed on as one reference.
final class ResolvedRoute: Sendable {
  let route: Route
  let uri: RouteURI
  let pathParams: ValueObject
  /// Query and path, turned into the declared kinds.
  let params: ValueObject
  let custom: (@Sendable (Call) async throws -> Value)?
  let interceptors: InterceptorChain?
  /// Whether the route needs no permission.
  let isForAll: Bool
  /// Whether the same URI may lead another caller elsewhere.
  let isPersonal: Bool
  /// The caller's parameters are checked as those of a third party's app.
  private let isThirdParty: Bool
  /// Whether anything about the parameters is checked.
  private let isChecked: Bool
  /// What in path and query is not of the declared kinds.
  private let faults: [PatternParameterFault]

  init(
    route: Route, uri: RouteURI, pathParams: ValueObject, params: ValueObject,
    custom: (@Sendable (Call) async throws -> Value)?, isThirdParty: Bool,
    interceptors: InterceptorChain?, isPersonal: Bool
  ) {
    self.isPersonal = isPersonal
    self.interceptors = interceptors
    self.route = route
    isForAll = route.permissions.isEmpty
    self.uri = uri
    self.custom = custom
    self.isThirdParty = isThirdParty
    self.pathParams = pathParams
    isChecked = isThirdParty || route.rules != nil
    (self.params, faults) = route.rules?.convert(params) ?? (params, [])
  }

  /// The match for one call. `checking` false leaves unchecked what a caller may still add.
  func match(_ params: ValueObject, checking: Bool) throws(ResolutionError) -> RouteMatch {
    var merged = params
    if !self.params.isEmpty {
      merged = self.params
      merged.merge(params)
    }
    if isChecked, checking { try check(&merged, params) }
    return RouteMatch(found: self, params: merged)
  }

  /// The match with parameters that take the place of those of the URI.
  func changed(_ params: ValueObject) throws(ResolutionError) -> RouteMatch {
    var params = params
    if isChecked { try check(&params, params) }
    return RouteMatch(found: self, params: params)
  }

  private func check(
    _ merged: inout ValueObject, _ given: ValueObject
  ) throws(ResolutionError) {
    if isThirdParty { try RouterSnapshot.checkThirdParty(merged) }
    try route.rules?.check(&merged, given: given, uriFaults: faults)
  }
}
