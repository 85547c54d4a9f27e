import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The way of one call from its URI to who serves it: redirects, interceptors, lazy modules,
/// handlers that decline, fallbacks, the undefined-route handler.
///
/// Pure: it says what to do next, and is told what came of it. What it throws ends the call. One
/// object, since it is handed on from step to step, and kept while others work on the call.
final class Journey {
  /// What has happened on the way.
  enum Event {
    case begun
    /// It has begun, and this is what its URI says.
    case said(Resolution)
    /// The interceptors have decided.
    case judged(InterceptorChain.Verdict)
    /// A module has registered what serves the route.
    case loaded
    /// Who serves it, or the last host that was asked, has left the call to the next.
    case declined
    case undefined(UndefinedRouteDecision)
    /// What it needed on the way has failed.
    case failed(CallError)
  }

  /// What is to be done next.
  enum Step {
    /// Ask the interceptors about what the URI says. Where they let it pass at once, it has arrived
    /// (``Journey/pass(to:)``).
    case judge(InterceptorChain, Destination)
    case load(LazyModule)
    case arrive(Destination)
    /// The undefined-route handler's answer.
    case answer(Value)
  }

  let entry: Entry
  private(set) var options: SessionCallOptions
  /// What the URI is that the call has come to.
  private(set) var uri: String
  /// What that says.
  private(set) var resolution: Resolution?
  /// The host that the call has come to.
  private var host: ChosenHost?
  /// What there is of a call that does not come to its end at once; nil for most.
  private var detour: Detour?

  /// `resolution` is what the URI says, where the call has come to that already.
  init(
    _ entry: Entry, _ uri: String, _ options: consuming SessionCallOptions,
    at resolution: Resolution? = nil
  ) {
    self.entry = entry
    self.uri = uri
    self.options = options
    self.resolution = resolution
  }

  /// The call has a span of its own from here on.
  func begin(_ span: SessionCallSpan) { options.span = span }

  /// About what it keeps, in bytes.
  var size: Int {
    uri.utf8.count + Value.object(options.params).size + Value.object(options.exts).size
  }

  /// Who calls.
  var caller: Caller { options.rights.caller }

  /// The URI where it is now.
  var place: String { resolution?.uri.text ?? uri }

  /// Whether the failure handler may still help: it is not asked without end.
  func mayBeSaved(from error: CallError) -> Bool {
    guard !options.answersChange else { return false }
    return error.protocolCode != .redirectLoop || (detour?.trail.count ?? 0) < Redirect.maxHops
  }

  /// The parameters that are the caller's own, or an interceptor's in their place.
  private var given: ValueObject { detour?.changed ?? options.params }

  func next(_ event: Event, in guide: SessionDestinationResolver) throws(CallError) -> Step {
    switch event {
    case .begun: return try look(in: guide)
    case .said(let resolution): return try approach(resolution, in: guide)
    case .judged(let verdict): return try follow(verdict, in: guide)
    case .loaded: return try look(in: guide)
    case .declined: return try goOn(in: guide)
    case .failed(let error): throw error
    case .undefined(.answer(let value)): return .answer(value)
    case .undefined(.decline): throw .noRoute(place)
    case .undefined(.redirect(let next, let params)):
      options.params = params
      return try redirect(to: next, in: guide)
    }
  }

  private func look(in guide: SessionDestinationResolver) throws(CallError) -> Step {
    let said: Resolution
    do { said = try guide.look(up: uri, options.params, for: caller) } catch {
      // Who may not call a route learns nothing of its parameters.
      if error.protocolCode == .invalidParameters {
        try check(try guide.look(up: uri, options.params, checking: false, for: caller))
      }
      throw error
    }
    return try approach(said, in: guide)
  }

  /// Whether the caller may go on to what a URI says. Fails with 2403.
  private func check(_ said: Resolution) throws(CallError) {
    try options.rights.check(options.method ?? entry.method, said)
  }

  /// Comes to what a URI says: its module is loaded, its interceptors are asked, where there are
  /// any.
  private func approach(
    _ said: Resolution, in guide: SessionDestinationResolver
  ) throws(CallError) -> Step {
    try check(said)
    resolution = said
    let interceptors: InterceptorChain?
    if case .match(let match) = said {
      if case .lazy(let module) = match.route.handler { return try load(module) }
      interceptors = match.interceptors
    } else {
      interceptors = guide.snapshot.interceptors(of: said)
    }
    guard let interceptors else { return try arrive(at: said, in: guide) }
    // Nobody is asked about what goes nowhere; the undefined-route handler's redirect comes by
    // here.
    let destination: Destination
    do { destination = try guide.destination(of: said, given) } catch {
      return try fallBack(after: error, in: guide)
    }
    guard destination.isServed else { return come(to: destination) }
    return .judge(interceptors, destination)
  }

  /// What there is of a call that does not come to its end at once, from now on.
  private func beginDetour() -> Detour {
    if let detour { return detour }
    let begun = Detour()
    detour = begun
    return begun
  }

  private func load(_ module: LazyModule) throws(CallError) -> Step {
    let detour = beginDetour()
    if let loaded = detour.loaded, loaded === module {
      throw CallError(
        .internal, "The module \(module.name.quoted) gave the route of \(uri.quoted) no handler")
    }
    detour.begin(with: module)
    return .load(module)
  }

  private func arrive(
    at said: Resolution, in guide: SessionDestinationResolver
  ) throws(CallError) -> Step {
    let destination: Destination
    do { destination = try guide.destination(of: said, given) } catch {
      return try fallBack(after: error, in: guide)
    }
    if case .module(let module) = destination.kind { return try load(module) }
    return come(to: destination)
  }

  private func come(to destination: Destination) -> Step {
    pass(to: destination)
    return .arrive(destination)
  }

  /// The call comes to who serves it.
  func pass(to destination: Destination) {
    if case .hosted(let host, _) = destination.kind { self.host = host } else { host = nil }
  }

  /// Does what the interceptors have decided.
  private func follow(
    _ verdict: InterceptorChain.Verdict, in guide: SessionDestinationResolver
  ) throws(CallError) -> Step {
    guard let said = resolution else { throw .noRoute(uri) }
    switch verdict {
    // Time may have passed, in which hosts have changed.
    case .pass: return try arrive(at: said, in: guide)
    case .changed(let params):
      let changed: Resolution
      do { changed = try said.with(params) } catch { throw CallError(error) }
      resolution = changed
      beginDetour().change(params)
      return try arrive(at: changed, in: guide)
    case .redirect(let next, let params, _):
      if let params { options.params = params }
      return try redirect(to: next, in: guide)
    case .refused(let interceptor, let reason):
      throw CallError(
        .refused, "Refused by \(interceptor.quoted): \(reason)",
        data: ["interceptor": .string(interceptor), "reason": .string(reason)])
    case .failed(let error): throw error
    }
  }

  /// Leads the call elsewhere, itself unchanged.
  private func redirect(
    to next: String, in guide: SessionDestinationResolver
  ) throws(CallError) -> Step {
    let trail = (detour?.trail ?? []) + [place]
    guard trail.count <= Redirect.maxHops else {
      throw CallError(.redirectLoop(chain: trail + [next]))
    }
    detour = Detour(trail: trail)
    resolution = nil
    uri = next
    return try look(in: guide)
  }

  /// Where a call goes on that nobody serves; throws `error` where it does not.
  private func fallBack(
    after error: CallError, in guide: SessionDestinationResolver
  ) throws(CallError) -> Step {
    guard let resolution, let next = try guide.fallback(of: resolution, after: error) else {
      throw error
    }
    return try redirect(to: next.text, in: guide)
  }

  /// Leads a call on that was declined: to the next host of the same URI, then to the next match,
  /// then to the route's fallback, then to what its scheme and the app have for undefined routes.
  private func goOn(in guide: SessionDestinationResolver) throws(CallError) -> Step {
    guard let said = resolution else { throw .declined }
    let snapshot = guide.snapshot
    if let next = try nextHost(of: said, in: guide) { return come(to: next) }
    if case .match(let match) = said {
      let detour = beginDetour()
      detour.pass(match)
      while let next = try nextMatch(after: match, in: snapshot) {
        // One that nobody serves is passed over, as if it had declined.
        if case .hosted = next.route.handler,
          (try? guide.destination(of: .match(next), options.params)) == nil
        {
          detour.pass(next)
          continue
        }
        return try approach(.match(next), in: guide)
      }
    }
    let target: RouteURI?
    do {
      if let match = detour?.fallback, let fallback = try snapshot.fallback(of: match) {
        target = fallback
      } else {
        target = try snapshot.undefinedTarget(of: said.uri)
      }
    } catch {
      throw CallError(error)
    }
    if let target { return try redirect(to: target.text, in: guide) }
    guard let handler = snapshot.undefinedRoute else {
      throw CallError(
        .noRoute, "Everybody who serves \(said.uri.text.quoted) declined", kind: "declined")
    }
    return come(to: Destination(undefined: handler, said.uri, said.params))
  }

  /// Who serves the same after the host that has declined, where one has.
  private func nextHost(
    of said: Resolution, in guide: SessionDestinationResolver
  ) throws(CallError) -> Destination? {
    guard let host else { return nil }
    self.host = nil
    let detour = beginDetour()
    detour.decline(host.host)
    guard let next = try? guide.destination(of: said, given, except: detour.declined),
      next.isServed
    else { return nil }
    return next
  }

  private func nextMatch(
    after declined: RouteMatch, in snapshot: RouterSnapshot
  ) throws(CallError) -> RouteMatch? {
    let detour = beginDetour()
    var left: ArraySlice<RouteMatch>
    if let rest = detour.rest {
      left = rest
    } else {
      do {
        left = try snapshot.matches(after: declined, params: options.params, for: caller)[...]
      } catch {
        throw CallError(error)
      }
    }
    let next = left.popFirst()
    detour.goOn(leaving: left)
    return next
  }
}
