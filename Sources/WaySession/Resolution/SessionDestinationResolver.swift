import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Knows where URIs lead in one session: what the router says, and which hosts are there. Runs
/// nothing. Belongs to its ``Session``'s isolation.
final class SessionDestinationResolver {
  // Asked with every call, and neither runs anything of the app's.
  @exclusivity(unchecked) private var reader: CachingResolver
  /// What the members show and run.
  @exclusivity(unchecked) var hosts: SessionHosts
  /// What clients of any session run for all.
  private let serverHosts: ServerHosts

  init(_ router: Router, limits: Limits, _ serverHosts: ServerHosts) {
    reader = CachingResolver(router)
    hosts = SessionHosts(limits: limits)
    self.serverHosts = serverHosts
  }

  /// Who serves a URI first: a member, else who serves all sessions.
  private func host(
    of uri: RouteURI, kind: RouteKind?, patternsOnly: Bool = false,
    except declined: Set<SessionHosts.Host>
  ) throws(CallError) -> ChosenHost? {
    if let host = try hosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: declined) {
      return host
    }
    return try serverHosts.find(uri, kind: kind, patternsOnly: patternsOnly, except: declined)
  }

  var router: Router { reader.router }

  /// The router as it is now.
  var snapshot: RouterSnapshot { reader.current() }

  /// The URI that was looked up last, which is likely to be called again; empty for none.
  var lastURI: String { reader.lastText() }

  /// What a URI says to a caller, whoever serves it. `checking` false leaves the parameters unchecked, for a
  /// URI that is not called yet; `isLast` says that it is what ``lastURI`` has just given.
  func look(
    up text: String, _ params: ValueObject, checking: Bool = true, for caller: Caller?,
    isLast: Bool = false
  ) throws(CallError) -> Resolution {
    do {
      return try reader.resolve(
        text, params: params, checking: checking, for: caller, isLast: isLast)
    } catch {
      throw CallError(error)
    }
  }

  /// Who serves what a URI says: the declared route, then a host that shows it without a
  /// declaration, then the scheme's dispatcher, then the undefined-route handler. `params` are the
  /// caller's own; hosts that have declined the call are left out.
  func destination(
    of resolution: Resolution, _ params: @autoclosure () -> ValueObject,
    except declined: Set<SessionHosts.Host> = []
  ) throws(CallError) -> Destination {
    switch resolution {
    case .match(let match):
      return Destination(try handler(of: match, except: declined), match.route.kind, resolution)
    case .navigation(let uri, let operation, _):
      switch operation {
      case "back": return Destination(.back, .task, resolution)
      case "selectTab": return Destination(.selectTab, .task, resolution)
      default: throw .noRoute(uri.text)
      }
    case .undeclared(let place, _):
      let uri = place.uri
      if let host = try host(
        of: uri, kind: nil, patternsOnly: place.isClosed, except: declined)
      {
        // As a declared route's: what the path says goes over the query, and under the caller's own.
        let merged = host.adding(to: resolution.params, under: params())
        return Destination(.hosted(host, params: merged), host.kind, resolution)
      }
      if case .custom(let run)? = place.dispatcher?.action {
        return Destination(.asyncTask(run), .task, resolution)
      }
      let snapshot = snapshot
      // The scheme's own target goes first.
      if !snapshot.hasUndefinedTarget(uri), let handler = snapshot.undefinedRoute {
        return Destination(.undefined(handler), .task, resolution)
      }
      throw .noRoute(uri.text)
    }
  }

  private func handler(
    of match: RouteMatch, except declined: Set<SessionHosts.Host>
  ) throws(CallError) -> Destination.Kind {
    if let custom = match.custom { return .asyncTask(custom) }
    switch match.route.handler {
    case .task(let run): return .task(run)
    case .asyncTask(let run): return .asyncTask(run)
    case .page(let handler): return .page(handler.forOpening())
    case .lazy(let module): return .module(module)
    case .hosted:
      guard let host = try host(of: match.uri, kind: match.route.kind, except: declined) else {
        throw CallError(
          .hostAbsent, "The route \(match.route.name.quoted) has no host in this session")
      }
      // What the route has read of the URI, and checked, stays.
      return .hosted(host, params: host.adding(to: match.params, under: match.params))
    }
  }

  /// Where a call goes on that nobody serves for this reason; nil for nowhere.
  func fallback(
    of resolution: Resolution, after error: CallError
  ) throws(CallError) -> RouteURI? {
    do {
      switch (resolution, error.protocolCode) {
      case (.match(let match), .hostAbsent): return try snapshot.fallback(of: match)
      case (.undeclared(let place, _), .noRoute):
        return try snapshot.undefinedTarget(of: place.uri)
      default: return nil
      }
    } catch {
      throw CallError(error)
    }
  }

  /// Where a URI leads in the end, fallbacks followed. With `rights`, it fails with 2403 where they
  /// allow neither to open nor to run what it reaches.
  func destination(
    of text: String, _ params: ValueObject, checking: Bool = true, for rights: Rights? = nil
  ) throws(CallError) -> Destination {
    var text = text
    var trail: [String] = []
    while true {
      let resolution = try look(up: text, params, checking: checking, for: rights?.caller)
      if let refusal = rights?.refusal(ofOpening: resolution) { throw refusal }
      do { return try destination(of: resolution, params) } catch {
        guard let next = try fallback(of: resolution, after: error) else { throw error }
        trail.append(text)
        guard trail.count <= Redirect.maxHops else {
          throw CallError(.redirectLoop(chain: trail + [next.text]))
        }
        text = next.text
      }
    }
  }

  /// What a call says where it is now; nil for what is no URI.
  func said(by journey: Journey) -> Resolution? {
    if let said = journey.resolution { return said }
    let params = journey.options.params
    if let said = try? look(up: journey.uri, params, checking: false, for: journey.caller) {
      return said
    }
    return (try? RouteURI(mapping: journey.uri))
      .map { .undeclared(UnmatchedURI($0), params: params) }
  }

  /// Whether something would open or run a URI now. The undefined-route handler counts, which is
  /// not asked what it would say.
  func canOpen(_ uri: String, _ rights: Rights) -> Bool {
    (try? destination(of: uri, [:], checking: false, for: rights)) != nil
  }

  /// What a text refers to on the stack. One with a colon is a URI, which means the nearest page of
  /// the same route and path parameters; other text is a page's id, or the name of a route.
  func reference(_ text: String, for caller: Caller?) -> PageReference {
    guard text.utf8.contains(UInt8(ascii: ":")),
      let resolution = try? look(up: text, [:], checking: false, for: caller)
    else { return .named(text) }
    guard case .match(let match) = resolution else { return .uri(resolution.uri.text) }
    return .route(name: match.route.name, pathParams: match.pathParams)
  }

  /// The tab whose first page a reference means.
  func tab(
    of wanted: PageReference, _ uri: String, for caller: Caller?
  ) throws(CallError) -> Int {
    for (index, tab) in snapshot.tabs.enumerated() {
      let first = reference(tab.text, for: caller)
      if first == wanted { return index }
      if case (.route(let route, _), .named(let name)) = (first, wanted), route.isSameUTF8(as: name)
      {
        return index
      }
    }
    throw CallError(.noRoute, "\(uri.quoted) is the first page of no tab", kind: "noTab")
  }

  /// The URIs of the pages that lie under the page of a link, lowest first.
  func parents(of link: DeepLink, for caller: Caller?) throws(CallError) -> [RouteURI] {
    guard
      case .match(let match)? = try? look(
        up: link.uri, link.params, checking: false, for: caller)
    else {
      return []
    }
    do { return try snapshot.parents(of: match) } catch { throw CallError(error) }
  }
}
