import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The way of one call from its URI to who serves it: redirects, interceptors, lazy modules, handlers
/// that decline, fallbacks, the undefined-route handler.
///
/// Pure: it says what to do next, and is told what came of it. What it throws ends the call.
struct Journey {
  /// What has happened on the way.
  enum Event {
    case begun
    /// The interceptors have decided; `waited` when time has passed, in which hosts may have changed.
    case judged(InterceptorChain.Verdict, waited: Bool)
    /// A module has registered what serves the route.
    case loaded
    /// Who serves it has left the call to the next.
    case declined
    case undefined(UndefinedRoute)
  }

  /// What is to be done next.
  enum Step {
    /// Ask the interceptors about what the URI says.
    case judge(InterceptorChain, Resolution)
    case load(LazyModule)
    case arrive(Destination)
    /// The undefined-route handler's answer.
    case answer(Value)
  }

  let entry: Entry
  private(set) var options: CallOptions
  /// What the URI is that the call has come to.
  private(set) var uri: String
  /// What that says.
  private(set) var resolution: Resolution?
  /// Who serves it, where that is known already.
  private var destination: Destination?
  /// Where the call has been redirected from, after the redirects of the table.
  private var trail: [String] = []
  /// The matches that are left for a call whose handler declined; nil before one did.
  private var rest: ArraySlice<Match>?
  /// The module that was loaded last.
  private var loaded: LazyModule?

  init(_ entry: Entry, _ uri: String, _ options: CallOptions) {
    self.entry = entry
    self.uri = uri
    self.options = options
  }

  /// The URI where it is now.
  var place: String { resolution?.uri.text ?? uri }

  mutating func next(_ event: Event, in guide: Guide) throws(CallError) -> Step {
    switch event {
    case .begun: return try look(in: guide)
    case .judged(let verdict, let waited): return try follow(verdict, waited, in: guide)
    case .loaded: return try look(in: guide)
    case .declined: return try goOn(in: guide)
    case .undefined(.answer(let value)): return .answer(value)
    case .undefined(.decline): throw .noRoute(place)
    case .undefined(.redirect(let next, let params)):
      options.params = params
      return try redirect(to: next, in: guide)
    }
  }

  private mutating func look(in guide: Guide) throws(CallError) -> Step {
    try approach(try guide.look(up: uri, options.params), in: guide)
  }

  /// Comes to what a URI says: its module is loaded, its interceptors are asked, where there are any.
  private mutating func approach(
    _ resolution: Resolution, in guide: Guide
  ) throws(CallError) -> Step {
    self.resolution = resolution
    destination = nil
    if case .match(let match) = resolution, case .lazy(let module) = match.route.handler {
      return try load(module)
    }
    guard let chain = guide.snapshot.interceptors(of: resolution) else {
      return try arrive(in: guide)
    }
    // Nobody is asked about what goes nowhere; the undefined-route handler's redirect comes by here.
    let destination: Destination
    do { destination = try guide.destination(of: resolution) } catch {
      return try fallBack(after: error, in: guide)
    }
    guard destination.isServed else { return .arrive(destination) }
    self.destination = destination
    return .judge(chain, resolution)
  }

  private mutating func load(_ module: LazyModule) throws(CallError) -> Step {
    if let loaded, loaded === module {
      throw CallError(
        .internal, "The module \(module.name.quoted) gave the route of \(uri.quoted) no handler")
    }
    loaded = module
    return .load(module)
  }

  private mutating func arrive(in guide: Guide) throws(CallError) -> Step {
    guard let resolution else { throw .noRoute(uri) }
    let found: Destination
    if let destination {
      found = destination
    } else {
      do { found = try guide.destination(of: resolution) } catch {
        return try fallBack(after: error, in: guide)
      }
    }
    if case .module(let module) = found.kind { return try load(module) }
    return .arrive(found)
  }

  /// Does what the interceptors have decided.
  private mutating func follow(
    _ verdict: InterceptorChain.Verdict, _ waited: Bool, in guide: Guide
  ) throws(CallError) -> Step {
    switch verdict {
    case .pass:
      if waited { destination = nil }
      return try arrive(in: guide)
    case .changed(let params):
      do { resolution = try resolution?.with(params) } catch { throw CallError(error) }
      destination = nil
      return try arrive(in: guide)
    case .redirect(let next, let params, _):
      if let params { options.params = params }
      return try redirect(to: next, in: guide)
    case .refused(let interceptor, let reason):
      throw CallError(
        .refused, "Refused by \(interceptor.quoted): \(reason)",
        data: ["interceptor": .string(interceptor), "reason": .string(reason)])
    case .failed(let error): throw .thrown(error)
    }
  }

  /// Leads the call elsewhere, itself unchanged.
  private mutating func redirect(
    to next: String, in guide: Guide
  ) throws(CallError) -> Step {
    trail.append(place)
    rest = nil
    loaded = nil
    guard trail.count <= Redirect.maxHops else {
      throw CallError(.redirectLoop(chain: trail + [next]))
    }
    uri = next
    return try look(in: guide)
  }

  /// Where a call goes on that nobody serves; throws `error` where it does not.
  private mutating func fallBack(
    after error: CallError, in guide: Guide
  ) throws(CallError) -> Step {
    guard let resolution, let next = try guide.fallback(of: resolution, after: error) else {
      throw error
    }
    return try redirect(to: next.text, in: guide)
  }

  /// Leads a call on whose handler has declined: to the next match, then to the route's fallback, then
  /// to what its scheme and the app have for undefined routes.
  private mutating func goOn(in guide: Guide) throws(CallError) -> Step {
    guard case .match(let match)? = resolution else { throw .declined }
    let snapshot = guide.snapshot
    if let next = try nextMatch(after: match, in: snapshot) {
      return try approach(.match(next), in: guide)
    }
    let target: RouteURI?
    do {
      if let fallback = try snapshot.fallback(of: match) {
        target = fallback
      } else {
        target = try snapshot.undefinedTarget(of: match.uri)
      }
    } catch {
      throw CallError(error)
    }
    if let target { return try redirect(to: target.text, in: guide) }
    guard let handler = snapshot.undefinedRoute else {
      throw CallError(
        .noRoute, "Every route that matches \(match.uri.text.quoted) declined", kind: "declined")
    }
    return .arrive(Destination(undefined: handler, match.uri, match.params))
  }

  private mutating func nextMatch(
    after declined: Match, in snapshot: RouterSnapshot
  ) throws(CallError) -> Match? {
    if rest == nil {
      do { rest = try snapshot.matches(after: declined, params: options.params)[...] } catch {
        throw CallError(error)
      }
    }
    return rest?.popFirst()
  }
}
