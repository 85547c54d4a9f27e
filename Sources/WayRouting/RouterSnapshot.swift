import WayValues

/// A router as it was at one moment. Immutable, so it is read from any thread without a lock.
public final class RouterSnapshot: Sendable {
  /// Grows with every change of the router.
  package let version: Int
  /// All routes in the order of their registration.
  public let routes: [Route]
  /// What happens to a URI that nobody serves.
  package let undefinedRoute: UndefinedRouteHandler?
  /// Whether `+` in a query is a space.
  package let plusIsSpace: Bool
  /// The first page of each tab, in order; empty where the app has no tabs.
  public let tabs: [RouteURI]
  let actions: [String: RouteTarget]
  let trie: RouteTrie<Route>
  let schemes: SchemeTable
  let dispatchers: [String: Dispatcher]
  let groups: GroupTable
  /// Nil where there are none.
  let interceptors: InterceptorTable?
  /// Nil where there are none.
  let redirects: RedirectTable?
  let hooks: [RouteHook]

  init(_ state: RouterState, version: Int) {
    self.version = version
    routes = state.routes
    undefinedRoute = state.undefinedRoute
    plusIsSpace = state.plusIsSpace
    tabs = state.tabs
    actions = state.actions
    trie = RouteTrie(
      routes.flatMap { route in
        route.patterns.map { RouteTrie.Entry($0, route, priority: route.priority) }
      })
    schemes = SchemeTable(state.schemes)
    groups = GroupTable(routes, added: state.groups)
    interceptors = InterceptorTable(state.interceptors, routes, groups)
    redirects = RedirectTable(state.redirects.redirects)
    hooks = state.hooks
    dispatchers = state.schemes.compactMapValues(\.dispatcher)
  }

  /// Where a URI leads; nothing is run or changed. Redirects are followed first.
  ///
  /// Routes whose pattern names the scheme come before global ones, which a closed scheme does not have. A global
  /// pattern is matched against the path; where the scheme is not `http` or `https` and the authority has no dot,
  /// port or user, the authority is its first segment. Routes of a kind that the scheme's dispatcher does not take
  /// are passed over.
  /// `checking` false does not check the parameters, for a URI that is not called yet. Throws ``RoutingError`` when it leads
  /// nowhere.
  public func resolve(
    _ uri: RouteURI, params: ValueObject = [:], checking: Bool = true
  ) throws(RoutingError) -> Resolution {
    let target = try redirects?.follow(uri, in: self).uri ?? uri
    let split: SplitURI
    do { split = try SplitURI(target) } catch { throw .invalidURI(error) }
    return try resolve(split, params: params, checking: checking)
  }

  /// As ``resolve(_:params:checking:)-(RouteURI,_,_)``, for where the redirects have led.
  func resolve(
    _ split: borrowing SplitURI, params: ValueObject, checking: Bool = true
  ) throws(RoutingError) -> Resolution {
    guard split.uri.parts.schemeEnd >= 0 else {
      throw .invalidURI(RouteURIError(.noScheme, at: 0))
    }
    let scheme = schemes.traits(of: split)
    if scheme.isRemoved { throw .noRoute(uri: split.uri.text, kind: .noDispatcher) }
    if scheme.isNavigation { return try navigation(split, params) }
    let own = trie.index.first(split, in: .scheme)
    if let own, let found = choose(own, split, in: .scheme, scheme) {
      return .match(try self.found(found, split, scheme).match(params, checking: checking))
    }
    if !scheme.isClosed, let first = trie.index.first(split, in: .global),
      let found = choose(first, split, in: .global, scheme)
    {
      return .match(try self.found(found, split, scheme).match(params, checking: checking))
    }
    if let own {
      let route = trie.payloads[own.entry]
      throw .wrongKind(uri: split.uri.text, route: route.name, kind: route.kind)
    }
    let merged = try parameters(split, path: [:], params)
    if scheme.isThirdParty, checking { try Self.checkThirdParty(merged) }
    return .undeclared(uri: split.uri, schemes.dispatcher(scheme), params: merged)
  }

  /// Who sees a call before it goes where it leads; nil for nobody. Navigation is not intercepted.
  package func interceptors(of resolution: Resolution) -> InterceptorChain? {
    switch resolution {
    case .match(let match): match.interceptors
    case .undeclared: interceptors?.common
    case .navigation: nil
    }
  }

  /// Query, path and the caller's parameters, merged; the later ones win.
  package func parameters(
    _ split: borrowing SplitURI, path: ValueObject, _ params: ValueObject
  ) throws(RoutingError) -> ValueObject {
    guard split.uri.parts.queryEnd >= 0 || !path.isEmpty else { return params }
    var merged = try split.uri.queryParameters(plusIsSpace: plusIsSpace)
    merged.merge(path)
    merged.merge(params)
    return merged
  }

  /// The best match of a kind that the dispatcher takes.
  private func choose(
    _ first: TrieIndex.Found, _ split: borrowing SplitURI, in scope: TrieIndex.Scope,
    _ scheme: SchemeTable.Traits
  ) -> TrieIndex.Found? {
    if scheme.takes(trie.payloads[first.entry].kind) { return first }
    return trie.index.all(split, in: scope).first {
      scheme.takes(trie.payloads[$0.entry].kind)
    }
  }

  func found(
    _ found: TrieIndex.Found, _ split: borrowing SplitURI, _ scheme: SchemeTable.Traits
  ) throws(RoutingError) -> FoundRoute {
    let path = try trie.forms[found.entry].values(in: split, from: found.start)
    let params = try parameters(split, path: path, [:])
    var custom: (@Sendable (Call) async throws -> Value)?
    if scheme.isCustom, case .custom(let answer)? = schemes.dispatcher(scheme)?.action {
      custom = answer
    }
    return FoundRoute(
      route: trie.payloads[found.entry], uri: split.uri, pathParams: path, params: params,
      custom: custom, isThirdParty: scheme.isThirdParty,
      interceptors: interceptors?.chain(of: trie.payloads[found.entry]))
  }

  private func navigation(
    _ split: borrowing SplitURI, _ params: ValueObject
  ) throws(RoutingError) -> Resolution {
    guard split.count == 1 else {
      throw .noRoute(uri: split.uri.text, kind: .noRoute)
    }
    let bytes = split.uri.text.utf8.span
    let operation = try split.uri.decoded(
      bytes, Int(split[0].start), Int(split[0].end), plusIsSpace: false,
      what: "the operation")
    return .navigation(
      uri: split.uri, operation: operation, params: try parameters(split, path: [:], params))
  }

  static func checkThirdParty(_ params: ValueObject) throws(RoutingError) {
    guard let target = params["i"]?.string else {
      throw RouteURI.fault("i", "the URI of the other app is missing; it is a string")
    }
    do {
      guard try RouteURI(mapping: target).scheme == nil else { return }
    } catch {
      throw RouteURI.fault("i", "not a URI: \(error)")
    }
    throw RouteURI.fault("i", "the URI of the other app needs a scheme")
  }
}
