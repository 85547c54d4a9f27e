import Synchronization
import WayNavigation
import WayPatterns
import WayValues

/// A router as it was at one moment. Immutable, so it is read from any thread without a lock.
public final class RouterSnapshot: Sendable {
  /// Grows with every change of the router.
  package let version: Int
  /// The table that was loaded last; nil for none.
  package let table: TableStamp?
  /// The names of the routes that tables declare.
  package let declaredNames: Set<UTF8Key>
  private let strays: Set<UTF8Key>
  /// What happens to a URI that nobody serves.
  package let undefinedRoute: UndefinedRouteHandler?
  /// What may still help a call that fails.
  package let failedCall: FailedCallHandler?
  /// Whether `+` in a query is a space.
  package let plusIsSpace: Bool
  /// The first page of each tab, in order; empty where the app has no tabs.
  public let tabs: [RouteURI]
  let actions: [String: PatternTarget]
  let placed: RouteTable
  let schemes: SchemeTable
  let dispatchers: [String: SchemeDispatcher]
  let addedGroups: AddedGroups
  /// Made when somebody asks first.
  let groups = Mutex<GroupTable?>(nil)
  /// Nil where there are none.
  let interceptors: InterceptorTable?
  /// Nil where there are none.
  let redirects: RedirectTable?
  let hooks: [RouteHook]

  /// Of what `state` is now, whose table of routes is up to date.
  init(_ state: inout RouterState, version: Int) {
    self.version = version
    undefinedRoute = state.undefinedRoute
    failedCall = state.failedCall
    table = state.table
    declaredNames = state.declaredNames
    strays = state.strayHandlers
    plusIsSpace = state.plusIsSpace ?? state.declared.plusIsSpace
    tabs = state.tabs ?? state.declared.tabs
    actions = state.actions ?? state.declared.actions
    placed = state.parts.routes
    (schemes, dispatchers) = state.madeSchemes()
    addedGroups = state.groups
    interceptors = state.madeInterceptors()
    redirects = state.madeRedirects()
    hooks = state.hooks
  }

  /// All routes in the order of their registration. Costs by how many there are.
  public var routes: [Route] { placed.routes.map(\.route) }

  /// The names of the routes that code has given a handler, and that no table has any more.
  package var strayHandlers: [String] { strays.map(\.text).sorted() }

  /// Where a URI leads; nothing is run or changed. Its dot segments are removed and redirects are
  /// followed first.
  ///
  /// Routes whose pattern names the scheme come before global ones, which a closed scheme does not
  /// have. A global pattern is matched against the path; where the scheme is not `http` or `https`
  /// and the authority has no dot, port or user, the authority is its first segment. Routes of a
  /// kind that the scheme's dispatcher does not take are passed over, and so are those that are not
  /// released for the caller. `checking` false does not check the parameters, for a URI that is not
  /// called yet. Throws ``RoutingError`` when it leads nowhere.
  ///
  /// - Parameter caller: who calls, which counts where a ``Release`` says so; nil for nobody in
  ///   particular.
  public func resolve(
    _ uri: RouteURI, params: ValueObject = [:], checking: Bool = true, for caller: Caller? = nil
  ) throws(ResolutionError) -> Resolution {
    let called = uri.withoutDotSegments
    let way = try redirects?.follow(called, in: self, for: caller)
    let split: SplitURI
    do { split = try SplitURI(way?.uri ?? called) } catch { throw .invalidURI(error) }
    return try resolve(
      split, params: params, checking: checking, for: caller, isPersonal: way?.isPersonal ?? false)
  }

  /// As ``resolve(_:params:checking:for:)-(RouteURI,_,_,_)``, for where the redirects have led.
  ///
  /// - Parameter isPersonal: whether they lead other callers elsewhere.
  func resolve(
    _ split: borrowing SplitURI, params: ValueObject, checking: Bool = true, for caller: Caller?,
    isPersonal: Bool = false
  ) throws(ResolutionError) -> Resolution {
    var asker = RolloutCheck(caller: caller, isPersonal: isPersonal)
    guard split.uri.hasScheme else {
      throw .invalidURI(RouteURIError(.noScheme, at: 0))
    }
    let scheme = schemes.traits(of: split)
    if scheme.isRemoved { throw .noRoute(uri: split.uri.text, kind: .noDispatcher) }
    if scheme.isNavigation { return try navigation(split, params) }
    let own = trie.best(split, in: .scheme)
    if let own, let found = choose(own, split, in: .scheme, scheme, &asker) {
      return .match(try self.found(found, split, scheme, asker).match(params, checking: checking))
    }
    if !scheme.isClosed, let first = trie.best(split, in: .global),
      let found = choose(first, split, in: .global, scheme, &asker)
    {
      return .match(try self.found(found, split, scheme, asker).match(params, checking: checking))
    }
    if let own, case let route = route(of: own), !scheme.takes(route.kind) {
      throw .wrongKind(uri: split.uri.text, route: route.name, kind: route.kind)
    }
    let place = UnmatchedURI(
      split.uri, schemes.dispatcher(scheme), params: try parameters(split, path: [:], [:]),
      isClosed: scheme.isClosed, isThirdParty: scheme.isThirdParty, isLasting: !asker.isPersonal)
    return try place.resolution(params, checking: checking)
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
  ) throws(ResolutionError) -> ValueObject {
    guard split.uri.hasQuery || !path.isEmpty else { return params }
    var merged: ValueObject
    do { merged = try split.uri.queryParameters(plusIsSpace: plusIsSpace) } catch {
      throw ResolutionError(error)
    }
    merged.merge(path)
    merged.merge(params)
    return merged
  }

  var trie: LayeredTrie { placed.trie }

  func route(of candidate: RouteTrie.Candidate) -> Route { placed.route(of: candidate.form) }

  /// The best match of a kind that the dispatcher takes, and which is released for who asks.
  private func choose(
    _ first: RouteTrie.Candidate, _ split: borrowing SplitURI, in scope: RouteTrie.Scope,
    _ scheme: SchemeTable.Traits, _ asker: inout RolloutCheck
  ) -> RouteTrie.Candidate? {
    if isTaken(first, scheme, &asker) { return first }
    for candidate in trie.candidates(split, in: scope) where isTaken(candidate, scheme, &asker) {
      return candidate
    }
    return nil
  }

  private func isTaken(
    _ candidate: RouteTrie.Candidate, _ scheme: SchemeTable.Traits, _ asker: inout RolloutCheck
  ) -> Bool {
    let route = route(of: candidate)
    return scheme.takes(route.kind) && asker.mayTake(route)
  }

  func found(
    _ found: RouteTrie.Candidate, _ split: borrowing SplitURI, _ scheme: SchemeTable.Traits,
    _ asker: RolloutCheck
  ) throws(ResolutionError) -> ResolvedRoute {
    let path: ValueObject
    do { path = try trie.captures(of: found, in: split) } catch { throw ResolutionError(error) }
    let params = try parameters(split, path: path, [:])
    let route = route(of: found)
    var custom: (@Sendable (Call) async throws -> Value)?
    if scheme.isCustom, case .custom(let answer)? = schemes.dispatcher(scheme)?.action {
      custom = answer
    }
    return ResolvedRoute(
      route: route, uri: split.uri, pathParams: path, params: params,
      custom: custom, isThirdParty: scheme.isThirdParty,
      interceptors: interceptors?.chain(of: route, addedGroups), isPersonal: asker.isPersonal)
  }

  private func navigation(
    _ split: borrowing SplitURI, _ params: ValueObject
  ) throws(ResolutionError) -> Resolution {
    guard split.count == 1 else {
      throw .noRoute(uri: split.uri.text, kind: .noRoute)
    }
    let operation: String
    do { operation = try split.text(at: 0, of: nil, what: "the operation") } catch {
      throw ResolutionError(error)
    }
    return .navigation(
      uri: split.uri, operation: operation, params: try parameters(split, path: [:], params))
  }

  static func checkThirdParty(_ params: ValueObject) throws(ResolutionError) {
    guard let target = params["i"]?.string else {
      throw ResolutionError.fault("i", "the URI of the other app is missing; it is a string")
    }
    do {
      guard try RouteURI(mapping: target).scheme == nil else { return }
    } catch {
      throw ResolutionError.fault("i", "not a URI: \(error)")
    }
    throw ResolutionError.fault("i", "the URI of the other app needs a scheme")
  }
}

/// Who asks where a URI leads, and whether that mattered.
struct RolloutCheck {
  let caller: Caller?
  /// Whether the answer may be another for another caller.
  var isPersonal: Bool

  /// Whether a route is there for who asks.
  mutating func mayTake(_ route: Route) -> Bool {
    guard let release = route.release else { return true }
    isPersonal = true
    return release.admits(caller, salt: route.name)
  }
}
