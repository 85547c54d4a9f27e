import Synchronization
import WayNavigation
import WayPatterns
import WayValues

/// The state of a router at one moment. Immutable, so it can be read from any thread without a
/// lock.
public final class RouterSnapshot: Sendable {
  /// The number of patterns that ``nearestPattern(to:for:)`` compares with a URI.
  private static let maxComparedPatterns = 256

  /// The version, which grows with every change of the router.
  package let version: Int
  private let settings: RouterSettings
  let routingTable: RoutingTable
  let schemes: RouterSchemeTable
  /// The group table, built at its first use.
  private let groupTable = Mutex<RouteGroupTable?>(nil)
  let declaredRoutes = RouterDeclaredRoutes()
  private let interceptors: InterceptorTable
  private let redirects: RedirectTable

  init(
    version: Int, settings: RouterSettings, routes: RoutingTable, schemes: RouterSchemeTable,
    interceptors: InterceptorTable, redirects: RedirectTable
  ) {
    self.version = version
    self.settings = settings
    routingTable = routes
    self.schemes = schemes
    self.interceptors = interceptors
    self.redirects = redirects
  }

  /// All routes in the order of their registration.
  public var routes: [Route] { routingTable.routes }

  /// Returns the pattern that a URI without a route misspells by one or two letters; `nil` if there
  /// is none. It ignores routes that the caller may not call, and global patterns.
  ///
  /// The cost is bounded, since a peer may cause it often: only 256 patterns are compared.
  package func nearestPattern(to uri: RouteURI, for caller: Caller) -> RoutePattern? {
    guard let misspelled = MisspelledURI(uri) else { return nil }
    var nearest: (distance: Int, pattern: RoutePattern)?
    var remaining = Self.maxComparedPatterns
    for route in routingTable.routes.prefix(Self.maxComparedPatterns) {
      for pattern in route.patterns.prefix(remaining) {
        remaining -= 1
        let limit = (nearest?.distance ?? MisspelledURI.maxDistance + 1) - 1
        guard limit > 0, let distance = misspelled.distance(to: pattern, atMost: limit),
          distance > 0, route.isCallable(by: caller)
        else { continue }
        nearest = (distance, pattern)
      }
    }
    return nearest?.pattern
  }

  /// Resolves a URI, after removing its dot segments and following redirects. It runs and changes
  /// nothing.
  ///
  /// Routes with a pattern for the scheme come before global ones, which a closed scheme ignores. A
  /// global pattern is matched against the path. If the scheme is not `http` or `https`, and the
  /// authority has no dot, port or user, the authority is the first segment.
  ///
  /// The lookup skips routes of a kind that the scheme's dispatcher does not accept, and routes
  /// with a rollout that does not include the caller. It also skips routes that declare a type or
  /// a constraint that a parameter of the path does not fit. If no other route matches, it returns
  /// the first of these, whose check of parameters then fails. If `checking` is `false`, the parameters are
  /// not checked, for a URI that is not called yet. Throws ``RouterResolutionError`` if the URI has no
  /// target.
  ///
  /// - Parameter caller: the caller, which matters if a ``RouteRollout`` applies; `nil` for an anonymous
  ///   one.
  public func resolve(
    _ uri: RouteURI, params: ValueObject = [:], checking: Bool = true, for caller: Caller? = nil
  ) throws(RouterResolutionError) -> Resolution {
    let called = uri.withoutDotSegments
    let redirected = try follow(called, for: caller)
    let split: SplitURI
    do { split = try SplitURI(redirected?.uri ?? called) } catch { throw .invalidURI(error) }
    return try resolve(
      split, params: params, checking: checking, for: caller,
      isPersonal: redirected?.dependsOnCaller ?? false)
  }

  /// Resolves a URI as ``resolve(_:params:checking:for:)-(RouteURI,_,_,_)`` does, after its
  /// redirects.
  ///
  /// - Parameter isPersonal: whether the redirects may differ for other callers.
  func resolve(
    _ split: borrowing SplitURI, params: ValueObject, checking: Bool = true, for caller: Caller?,
    isPersonal: Bool = false
  ) throws(RouterResolutionError) -> Resolution {
    var rolloutCheck = RolloutCheck(caller: caller, dependsOnCaller: isPersonal)
    guard split.uri.hasScheme else {
      throw .invalidURI(RouteURIError(.noScheme, at: 0))
    }
    let scheme = schemes.traits(of: split)
    if scheme.isRemoved { throw .noRoute(uri: split.uri.text, kind: .noDispatcher) }
    if scheme.isNavigation { return try navigation(split, params) }
    var misfit: RouteTrie.Candidate?
    let schemeMatch = routingTable.trie.best(split, in: .scheme)
    if let schemeMatch,
      let found = choose(schemeMatch, split, in: .scheme, scheme, &rolloutCheck, &misfit)
    {
      return .match(
        try self.resolvedRoute(found, split, scheme, rolloutCheck).match(params, checking: checking)
      )
    }
    if !scheme.isClosed, let first = routingTable.trie.best(split, in: .global),
      let found = choose(first, split, in: .global, scheme, &rolloutCheck, &misfit)
    {
      return .match(
        try self.resolvedRoute(found, split, scheme, rolloutCheck).match(params, checking: checking)
      )
    }
    if let misfit {
      let resolved = try self.resolvedRoute(misfit, split, scheme, rolloutCheck, fitsTypes: false)
      return .match(try resolved.match(params, checking: checking))
    }
    if let schemeMatch, case let route = route(of: schemeMatch), !scheme.accepts(route.kind) {
      throw .wrongKind(uri: split.uri.text, route: route.name, kind: route.kind)
    }
    let unmatched = UnmatchedURI(
      split.uri, schemes.dispatcher(scheme), params: try parameters(split, path: [:], [:]),
      isClosed: scheme.isClosed, isThirdParty: scheme.isThirdParty,
      isCacheable: !rolloutCheck.dependsOnCaller)
    return try unmatched.resolution(params, checking: checking)
  }

  /// Follows the redirects of a URI; `nil` if there are none.
  func follow(
    _ uri: RouteURI, for caller: Caller?, explaining: Bool = false
  ) throws(RouterResolutionError) -> RedirectTable.RedirectedURI? {
    redirects.isEmpty
      ? nil
      : try redirects.follow(
        uri, schemes, plusIsSpace: plusIsSpace, for: caller, explaining: explaining)
  }

  /// All gates, in the order in which a call passes them.
  public var gates: [Gate] { interceptors.gates }

  /// Returns the gate with a name; `nil` if there is none.
  package func gate(named name: String) -> Gate? {
    gates.first { $0.name.isSameUTF8(as: name) }
  }

  /// Returns the interceptors and gates of a call; `nil` for none. Navigation has neither.
  package func interceptors(of resolution: Resolution) -> InterceptorChain? {
    switch resolution {
    case .match(let match): match.interceptors
    case .unmatched: interceptors.defaultChain
    case .navigation: nil
    }
  }

  /// Returns the groups of a route: those that it names, and those that it was added to.
  package func groups(of route: Route) -> Set<UTF8Key> {
    Set(settings.addedGroups.allGroups(of: route))
  }

  /// Returns the parameters of query, path and caller, merged; later ones win.
  package func parameters(
    _ split: borrowing SplitURI, path: ValueObject, _ params: ValueObject
  ) throws(RouterResolutionError) -> ValueObject {
    guard split.uri.hasQuery || !path.isEmpty else { return params }
    var merged: ValueObject
    do { merged = try split.uri.queryParameters(plusIsSpace: plusIsSpace) } catch {
      throw RouterResolutionError(error)
    }
    merged.merge(path)
    merged.merge(params)
    return merged
  }

  func route(of candidate: RouteTrie.Candidate) -> Route { routingTable.route(of: candidate.form) }

  /// Returns the best match of a kind that the dispatcher accepts, whose rollout includes the
  /// caller, and whose types the URI fits. Sets `misfit` to the first one that it does not fit.
  private func choose(
    _ first: RouteTrie.Candidate, _ split: borrowing SplitURI, in scope: RouteTrie.MatchScope,
    _ scheme: RouterSchemeTable.SchemeTraits, _ rolloutCheck: inout RolloutCheck,
    _ misfit: inout RouteTrie.Candidate?
  ) -> RouteTrie.Candidate? {
    if isEligible(first, scheme, &rolloutCheck), fitsTypes(first, split) { return first }
    for candidate in routingTable.trie.candidates(split, in: scope)
    where isEligible(candidate, scheme, &rolloutCheck) {
      if fitsTypes(candidate, split) { return candidate }
      misfit = misfit ?? candidate
    }
    return nil
  }

  /// Whether the segments of a URI fit the types that the route of a match declares.
  @inline(__always)
  func fitsTypes(_ candidate: RouteTrie.Candidate, _ split: borrowing SplitURI) -> Bool {
    route(of: candidate).matchesByType ? typeFault(of: candidate, split) == nil : true
  }

  /// Returns the first parameter of the path that does not fit the type that the route of a match
  /// declares, and the fault; `nil` if all fit.
  func typeFault(
    of candidate: RouteTrie.Candidate, _ split: borrowing SplitURI
  ) -> (name: String, fault: String)? {
    guard let rules = route(of: candidate).rules, rules.hasPathTypes else { return nil }
    // A segment that is no text leads to an error if the route is chosen.
    guard let path = try? routingTable.trie.captures(of: candidate, in: split) else { return nil }
    return rules.pathFault(path)
  }

  private func isEligible(
    _ candidate: RouteTrie.Candidate, _ scheme: RouterSchemeTable.SchemeTraits,
    _ rolloutCheck: inout RolloutCheck
  ) -> Bool {
    let route = route(of: candidate)
    return scheme.accepts(route.kind) && rolloutCheck.includes(route)
  }

  func resolvedRoute(
    _ found: RouteTrie.Candidate, _ split: borrowing SplitURI,
    _ scheme: RouterSchemeTable.SchemeTraits,
    _ rolloutCheck: RolloutCheck, fitsTypes: Bool = true
  ) throws(RouterResolutionError) -> ResolvedRoute {
    let path: ValueObject
    do { path = try routingTable.trie.captures(of: found, in: split) } catch {
      throw RouterResolutionError(error)
    }
    let params = try parameters(split, path: path, [:])
    let route = route(of: found)
    var customHandler: (@Sendable (Call) async throws -> Value)?
    if scheme.isCustom, case .custom(let handler)? = schemes.dispatcher(scheme)?.action {
      customHandler = handler
    }
    return ResolvedRoute(
      route: route, uri: split.uri, pathParams: path, params: params,
      customHandler: customHandler, isThirdParty: scheme.isThirdParty,
      interceptors: interceptors.chain(of: route, settings.addedGroups),
      dependsOnCaller: rolloutCheck.dependsOnCaller, fitsTypes: fitsTypes)
  }

  private func navigation(
    _ split: borrowing SplitURI, _ params: ValueObject
  ) throws(RouterResolutionError) -> Resolution {
    guard split.count == 1 else {
      throw .noRoute(uri: split.uri.text, kind: .noRoute)
    }
    let operation: String
    do { operation = try split.text(at: 0, of: nil, what: "the operation") } catch {
      throw RouterResolutionError(error)
    }
    return .navigation(
      uri: split.uri, operation: operation, params: try parameters(split, path: [:], params))
  }
}

// The settings of the router.
extension RouterSnapshot {
  /// The table that was loaded last; `nil` for none.
  package var table: TableStamp? { settings.table }
  /// The names of the routes that tables declare.
  package var declaredNames: Set<UTF8Key> { settings.declaredNames }
  /// The names of the routes that code has given a handler and that no table declares any more.
  package var orphanedHandlers: [String] { settings.orphanedHandlers.map(\.text).sorted() }
  /// The handler of URIs that no route or host serves.
  package var undefinedRouteHandler: UndefinedRouteHandler? { settings.undefinedRouteHandler }
  /// The handler of calls that fail.
  package var failedCallHandler: FailedCallHandler? { settings.failedCallHandler }
  /// Whether `+` in a query is a space.
  package var plusIsSpace: Bool { settings.plusIsSpace ?? true }
  /// The first page of each tab, in order; empty for an app without tabs.
  public var tabs: [RouteURI] { settings.tabs ?? [] }
  var actions: [String: PatternTarget] { settings.actions ?? [:] }
  /// The topics that tables declare, by name.
  package var topics: [String: DeclaredTopic] { settings.topics }
  /// Whether there are any hooks.
  package var hasHooks: Bool { !settings.hooks.isEmpty }

  /// Sends an event to all hooks.
  package func notifyHooks(_ event: RouteEvent, _ caller: Caller) {
    for hook in settings.hooks { hook.handler(event, caller) }
  }

  /// Whether a scheme can have routes of a kind. A scheme without a dispatcher can have any kind.
  package func accepts(_ kind: RouteKind, inScheme scheme: String) -> Bool {
    schemes.traits(ofScheme: scheme).accepts(kind)
  }
}

extension RouterSnapshot {
  /// Returns the names of the routes in a group: those that name the group themselves, in the order
  /// of their registration, then those that were added. The cost of the first call is linear in the
  /// number of routes.
  public func routes(inGroup group: String) -> [String] { groups.routes(of: group) }

  /// The names of all groups that have routes, sorted. The first use costs as much as that of
  /// ``routes(inGroup:)``.
  public var groupNames: [String] { groups.names.sorted() }

  private var groups: RouteGroupTable {
    groupTable.withLock { groups in
      if let groups { return groups }
      let made = RouteGroupTable(routes, added: settings.addedGroups.routesByGroup)
      groups = made
      return made
    }
  }
}

extension Route {
  /// Whether the route's permissions and rollout include a caller.
  fileprivate func isCallable(by caller: Caller) -> Bool {
    (permissions.isEmpty || caller.identity.isMember(ofAny: permissions))
      && rollout?.includes(caller, salt: name) != false
  }
}

/// A check of rollouts for a caller, which records whether the caller mattered.
struct RolloutCheck {
  let caller: Caller?
  /// Whether the result may differ for another caller.
  var dependsOnCaller: Bool

  /// Whether the rollout of a route includes the caller.
  mutating func includes(_ route: Route) -> Bool {
    guard let rollout = route.rollout else { return true }
    dependsOnCaller = true
    return rollout.includes(caller, salt: route.name)
  }
}
