import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

extension PageURI {
  /// Returns the URI of a call in the form in which a page keeps it; `nil` if it is the same as the
  /// one that the call has resolved to.
  static func called(_ text: String, resolvingTo resolved: RouteURI) -> String? {
    guard !text.isSameUTF8(as: resolved.text) else { return nil }
    let called = RouteURI.normalForm(of: text)
    return called.isSameUTF8(as: resolved.text) ? nil : called
  }
}

/// Resolves URIs in one session, with the routes of the router and the hosts of clients. Runs no
/// code of the app. Belongs to its ``Session``'s isolation.
final class SessionDestinationResolver {
  // Accessed with every call; neither property runs code of the app.
  @exclusivity(unchecked) private var cachingResolver: CachingRouteResolver
  /// The hosts that clients of this session have registered.
  @exclusivity(unchecked) var hosts: SessionHosts
  /// Asks the client of an interceptor about a call.
  var askInterceptor:
    (@Sendable (SessionHosts.RegisteredInterceptor, Call) async throws -> Interception)?
  /// The hosts that clients of any session have registered for all sessions.
  private let serverHosts: ServerHosts

  init(_ router: Router, limits: Limits, _ serverHosts: ServerHosts) {
    cachingResolver = CachingRouteResolver(router)
    hosts = SessionHosts(limits: limits)
    self.serverHosts = serverHosts
  }

  /// Returns the interceptors and gates of a call, including the interceptors of clients; `nil` for none.
  func interceptors(of resolution: Resolution) -> InterceptorChain? {
    let chain: InterceptorChain?
    switch resolution {
    case .match(let match): chain = match.interceptors
    case .unmatched: chain = snapshot.interceptors(of: resolution)
    case .navigation: return nil
    }
    guard hosts.hasInterceptors else { return chain }
    let found = hosts.interceptors(
      of: resolution.uri, groups: resolution.route.map(snapshot.groups) ?? [])
    guard !found.isEmpty, let ask = askInterceptor else { return chain }
    return InterceptorChain.adding(
      found.map { entry in
        Interceptor(
          waiting: entry.interceptor.name, priority: entry.interceptor.priority,
          timeout: entry.interceptor.timeout
        ) { call in try await ask(entry, call) }
      }, to: chain)
  }

  /// Returns the first host of a URI: one of this session, otherwise a server-wide host. Hosts
  /// without a connection come last.
  private func host(
    of uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false,
    except declined: Set<SessionHosts.RegisteredHost>
  ) throws(CallError) -> ChosenHost? {
    if hosts.mayHaveAbsentHosts {
      let connected = try hosts.find(
        uri, kind: kind, patternsOnly: patternsOnly, connectedOnly: true, except: declined)
      if let connected { return connected }
      let serverWide = try serverHosts.find(
        uri, kind: kind, patternsOnly: patternsOnly, connectedOnly: true, except: declined)
      if let serverWide { return serverWide }
    }
    if let host = try hosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: declined) {
      return host
    }
    return try serverHosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: declined)
  }

  /// Whether the only host of a destination has lost its connection, so that a call waits for it.
  func isAbsent(_ destination: SessionDestination) -> Bool {
    if case .hosted(let host, _) = destination.kind { isAbsent(host) } else { false }
  }

  /// Whether a host has lost its connection.
  func isAbsent(_ host: ChosenHost) -> Bool {
    host.client < 0 ? serverHosts.isAbsent(host.client) : hosts.isAbsent(host.client)
  }

  var router: Router { cachingResolver.router }

  /// The current state of the router.
  var snapshot: RouterSnapshot { cachingResolver.current() }

  /// The URI that was resolved last, which is likely to be called again; empty if there is none.
  var lastURI: String { cachingResolver.lastText() }

  /// Resolves a URI for a caller, regardless of its host.
  ///
  /// If `checking` is false, the parameters are not validated, for a URI that is not called yet.
  /// `isLast` means that the URI is what ``lastURI`` has just returned.
  func resolve(
    _ text: String, _ params: ValueObject, checking: Bool = true, for caller: Caller?,
    isLast: Bool = false
  ) throws(CallError) -> Resolution {
    do {
      return try cachingResolver.resolve(
        text, params: params, checking: checking, for: caller, isLast: isLast)
    } catch {
      throw CallError(error)
    }
  }

  /// Returns the destination of a resolution. It tries, in this order: the declared route, a host
  /// without a declared route, the scheme's dispatcher, the undefined-route handler.
  ///
  /// `params` are the caller's own. Hosts in `declined` are skipped.
  func destination(
    of resolution: Resolution, _ params: @autoclosure () -> ValueObject,
    except declined: Set<SessionHosts.RegisteredHost> = []
  ) throws(CallError) -> SessionDestination {
    switch resolution {
    case .match(let match):
      return SessionDestination(
        try handler(of: match, except: declined), match.route.kind, resolution)
    case .navigation(let uri, let operation, _):
      switch operation {
      case "back": return SessionDestination(.back, .task, resolution)
      case "selectTab": return SessionDestination(.selectTab, .task, resolution)
      default: throw .noRoute(uri.text)
      }
    case .unmatched(let place, _):
      let uri = place.uri
      if let host = try host(
        of: uri, kind: nil, patternsOnly: place.isClosed, except: declined)
      {
        // As with a declared route, captures of the path override the query, and the caller's own
        // parameters override both.
        let merged = host.adding(to: resolution.params, under: params())
        return SessionDestination(.hosted(host, params: merged), host.kind, resolution)
      }
      if case .custom(let run)? = place.dispatcher?.action {
        return SessionDestination(.asyncTask(run), .task, resolution)
      }
      let snapshot = snapshot
      // The scheme's own target comes first.
      if !snapshot.hasUndefinedTarget(uri), let handler = snapshot.undefinedRouteHandler {
        return SessionDestination(.undefined(handler), .task, resolution)
      }
      throw .noRoute(uri.text)
    }
  }

  private func handler(
    of match: RouteMatch, except declined: Set<SessionHosts.RegisteredHost>
  ) throws(CallError) -> SessionDestination.DestinationKind {
    if let custom = match.customHandler { return .asyncTask(custom) }
    switch match.route.checkedHandler {
    case .task(let run): return .task(run)
    case .asyncTask(let run): return .asyncTask(run)
    case .page(let handler): return .page(handler.makeInstance())
    case .lazy(let module): return .module(module)
    case .hosted:
      guard let host = try host(of: match.uri, kind: match.route.kind, except: declined) else {
        throw CallError(
          .hostAbsent, "The route \(match.route.name.quoted) has no host in this session")
      }
      // Parameters that the route has parsed and validated are not replaced.
      return .hosted(host, params: host.adding(to: match.params, under: match.params))
    }
  }

  /// Returns the URI that a call without a host is redirected to for this error, or `nil`.
  func fallback(
    of resolution: Resolution, after error: CallError
  ) throws(CallError) -> RouteURI? {
    do {
      switch (resolution, error.protocolCode) {
      case (.match(let match), .hostAbsent): return try snapshot.fallback(of: match)
      case (.unmatched(let place, _), .noRoute):
        return try snapshot.undefinedTarget(of: place.uri)
      default: return nil
      }
    } catch {
      throw CallError(error)
    }
  }

  /// Returns the final destination of a URI, after its fallbacks. Without `checking`, only the
  /// parameters of a path that fits no route are checked. With `rights`, fails with 2403 if
  /// they allow neither to open nor to run what the URI reaches.
  func destination(
    of text: String, _ params: ValueObject, checking: Bool = true, for rights: Rights? = nil
  ) throws(CallError) -> SessionDestination {
    var text = text
    var trail: [String] = []
    while true {
      let resolution = try resolve(text, params, checking: checking, for: rights?.caller)
      if let refusal = rights?.denial(ofOpening: resolution) { throw refusal }
      if !checking, case .match(let match) = resolution, !match.fitsTypes {
        // Without other values for the parameters of the path, a call fails.
        _ = try resolve(text, params, for: rights?.caller)
      }
      do { return try destination(of: resolution, params) } catch {
        guard let next = try fallback(of: resolution, after: error) else { throw error }
        trail.append(text)
        guard trail.count <= Redirect.maxRedirects else {
          throw CallError(.redirectLoop(chain: trail + [next.text]))
        }
        text = next.text
      }
    }
  }

  /// Returns the current resolution of a call; `nil` if its text is not a URI.
  func resolution(of callResolution: SessionCallResolution) -> Resolution? {
    if let resolution = callResolution.resolution { return resolution }
    let params = callResolution.options.params
    if let resolution = try? resolve(
      callResolution.uri, params, checking: false, for: callResolution.caller)
    {
      return resolution
    }
    return (try? RouteURI(mapping: callResolution.uri))
      .map { .unmatched(UnmatchedURI($0), params: params) }
  }

  /// Whether a URI can be opened or run now. The undefined-route handler counts, but does not run.
  func canOpen(_ uri: String, _ rights: Rights) -> Bool {
    (try? destination(of: uri, [:], checking: false, for: rights)) != nil
  }

  /// Returns the reason why a method may not be called about an open page; nil if it may.
  func denial(of method: PolicyRouteMethod, about page: Page, to rights: Rights) -> CallError? {
    do throws(CallError) {
      try rights.check(method, try resolve(page.uri, [:], checking: false, for: rights.caller))
      return nil
    } catch {
      // The target of a page that is no longer declared cannot be checked.
      return error.protocolCode == .forbidden ? error : nil
    }
  }

  /// Returns the reference of a text to a page on the stack.
  ///
  /// A text with a colon is a URI, whether or not it resolves to anything now. Another text is a
  /// page's id, or the name of a route.
  func reference(_ text: String, for caller: Caller?) -> PageReference {
    guard text.utf8.contains(UInt8(ascii: ":")) else { return .named(text) }
    let called = RouteURI.normalForm(of: text)
    guard let resolution = try? resolve(text, [:], checking: false, for: caller) else {
      return .uri(PageURI(called))
    }
    let match: RouteMatch? = if case .match(let match) = resolution { match } else { nil }
    return .uri(
      PageURI(
        called, resolved: resolution.uri.text, route: match?.route.name,
        pathParams: match?.pathParams ?? [:]))
  }

  /// Returns the tab of the table whose first page a reference means; `nil` if there is none.
  func declaredTab(of wanted: PageReference, for caller: Caller?) -> Int? {
    snapshot.tabs.firstIndex { tab in
      guard case .uri(let first) = reference(tab.text, for: caller) else { return false }
      switch wanted {
      case .uri(let uri): return first.isSamePage(as: uri)
      case .named(let name): return first.route?.isSameUTF8(as: name) == true
      case .page: return false
      }
    }
  }

  /// Returns the tab whose first page a reference means: that of the table, or otherwise the one
  /// that is open. `uri` is the reference as it was written.
  func tabIndex(
    of wanted: PageReference, _ uri: String, on stack: NavigationStack, for caller: Caller?
  ) throws(CallError) -> Int {
    if let declared = declaredTab(of: wanted, for: caller) { return declared }
    if let open = stack.tab(beginningWith: wanted) { return open }
    throw CallError(.noRoute, "No tab begins with the page \(uri.quoted)", kind: "noTab")
  }

  /// Returns the URIs of the pages below the page of a deep link, lowest first.
  func parents(of link: DeepLink, for caller: Caller?) throws(CallError) -> [RouteURI] {
    guard
      case .match(let match)? = try? resolve(
        link.uri, link.params, checking: false, for: caller)
    else {
      return []
    }
    do { return try snapshot.parents(of: match) } catch { throw CallError(error) }
  }
}
