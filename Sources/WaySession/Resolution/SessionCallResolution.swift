import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// The resolution of one call, from its URI to its handler or host. Its steps are redirects,
/// interceptors, lazy modules, handlers that decline, fallbacks and the undefined-route handler.
///
/// Pure: it returns the next step, and receives the event that the step results in. An error that
/// it throws ends the call.
///
/// One object, because it is passed from step to step, and kept while other code works on the call.
final class SessionCallResolution {
  /// An event in the resolution of a call.
  enum ResolutionEvent {
    case started
    /// The resolution has begun, and this is the result for its URI.
    case resolved(Resolution)
    /// The interceptors have decided.
    case intercepted(InterceptorChain.ChainDecision)
    /// A module has registered the handler of the route.
    case moduleLoaded
    /// The handler, or the last host that was asked, has declined the call.
    case declined
    case undefined(UndefinedRouteDecision)
    /// A step of the resolution has failed.
    case failed(CallError)
  }

  /// The next step.
  enum ResolutionStep {
    /// Evaluate the interceptors for the resolution of the URI. If they let the call proceed at
    /// once, the destination is final (``SessionCallResolution/setDestination(to:)``).
    case intercept(InterceptorChain, SessionDestination)
    /// Let the call wait until these gates are open, and then report that the interceptors let it
    /// proceed.
    case passGates([Gate])
    case load(LazyModule)
    case dispatch(SessionDestination)
    /// The value that the undefined-route handler has returned.
    case respond(Value)
  }

  let kind: CallKind
  private(set) var options: SessionCallOptions
  /// The URI of the caller, or the one that app code has sent the call to: the URI before redirects
  /// and fallbacks of the table.
  private(set) var calledURI: String
  /// The URI that the call has reached.
  private(set) var uri: String
  /// The resolution of ``uri``.
  private(set) var resolution: Resolution?
  /// The host that the call has reached.
  private var host: ChosenHost?
  /// The state of a call that does not complete at once; `nil` for most calls.
  private var state: SessionResolutionState?

  /// `resolution` is the resolution of the URI, if it is already known.
  init(
    _ kind: CallKind, _ uri: String, _ options: consuming SessionCallOptions,
    at resolution: Resolution? = nil
  ) {
    self.kind = kind
    calledURI = uri
    self.uri = uri
    self.options = options
    self.resolution = resolution
  }

  /// Attaches the call's own span.
  func attach(_ span: SessionCallSpan) { options.span = span }

  /// The approximate memory of the call, in bytes.
  var size: Int {
    uri.utf8.count + Value.object(options.params).size + Value.object(options.exts).size
  }

  /// The caller.
  var caller: Caller { options.rights.caller }

  /// The current URI of the call, in its normal form.
  var currentURI: String { resolution?.uri.text ?? RouteURI.normalForm(of: uri) }

  /// Whether the failure handler may still recover the call. It does not run without a limit.
  func isRecoverable(from error: CallError) -> Bool {
    guard !options.respondsWithChange else { return false }
    return error.protocolCode != .redirectLoop || (state?.trail.count ?? 0) < Redirect.maxRedirects
  }

  /// The caller's own parameters, or those that an interceptor has replaced them with.
  private var effectiveParams: ValueObject { state?.changedParams ?? options.params }

  func handle(_ event: ResolutionEvent, in resolver: SessionDestinationResolver) throws(CallError)
    -> ResolutionStep
  {
    switch event {
    case .started: return try resolve(in: resolver)
    case .resolved(let resolution): return try proceed(resolution, in: resolver)
    case .intercepted(let decision): return try apply(decision, in: resolver)
    case .moduleLoaded: return try resolve(in: resolver)
    case .declined: return try resolveNext(in: resolver)
    case .failed(let error): throw error
    case .undefined(.respond(let value)): return .respond(value)
    case .undefined(.decline): throw .noRoute(currentURI)
    case .undefined(.redirect(let next, let params)):
      options.params = params
      calledURI = next
      return try redirect(to: next, in: resolver)
    }
  }

  private func resolve(in resolver: SessionDestinationResolver) throws(CallError) -> ResolutionStep
  {
    let resolved: Resolution
    do { resolved = try resolver.resolve(uri, options.params, for: caller) } catch {
      // A caller that is not allowed to call a route learns nothing about its parameters.
      if error.protocolCode == .invalidParameters {
        try authorize(try resolver.resolve(uri, options.params, checking: false, for: caller))
      }
      throw error
    }
    return try proceed(resolved, in: resolver)
  }

  /// Checks that the caller may call the target of a URI. Fails with 2403.
  private func authorize(_ resolved: Resolution) throws(CallError) {
    try options.rights.check(options.method ?? kind.method, resolved)
  }

  /// Proceeds to the target of a URI: its module is loaded, and its interceptors are evaluated, if
  /// there are any.
  private func proceed(
    _ resolved: Resolution, in resolver: SessionDestinationResolver
  ) throws(CallError) -> ResolutionStep {
    try authorize(resolved)
    resolution = resolved
    if case .match(let match) = resolved, case .lazy(let module) = match.route.handler {
      return try load(module)
    }
    guard let interceptors = resolver.interceptors(of: resolved) else {
      return try resolveDestination(of: resolved, in: resolver)
    }
    // Interceptors do not run for a URI without a destination. The redirect of an undefined route
    // passes here, too.
    let destination: SessionDestination
    do { destination = try resolver.destination(of: resolved, effectiveParams) } catch {
      return try fallBack(after: error, in: resolver)
    }
    guard destination.isHandled else { return try dispatch(to: destination) }
    try checkKind(of: destination)
    return .intercept(interceptors, destination)
  }

  /// Returns the state of a call that does not complete at once, which it creates if needed.
  private func ensureState() -> SessionResolutionState {
    if let state { return state }
    let newState = SessionResolutionState()
    state = newState
    return newState
  }

  private func load(_ module: LazyModule) throws(CallError) -> ResolutionStep {
    let state = ensureState()
    if let loaded = state.loadedModule, loaded === module {
      throw CallError(
        .internal,
        "The module \(module.name.quoted) did not register a handler for the route of \(uri.quoted)"
      )
    }
    state.restart(with: module)
    return .load(module)
  }

  private func resolveDestination(
    of resolved: Resolution, in resolver: SessionDestinationResolver
  ) throws(CallError) -> ResolutionStep {
    let destination: SessionDestination
    do { destination = try resolver.destination(of: resolved, effectiveParams) } catch {
      return try fallBack(after: error, in: resolver)
    }
    if case .module(let module) = destination.kind { return try load(module) }
    return try dispatch(to: destination)
  }

  /// Fails with 2405 if the call has to lead to a page of an edit and leads to something else.
  private func checkKind(of destination: SessionDestination) throws(CallError) {
    guard case .edit = options.placement, destination.isHandled, destination.routeKind != .page
    else { return }
    throw CallError(
      .wrongKind, "\(currentURI.quoted) is not a page, and cannot be put on the stack")
  }

  private func dispatch(to destination: SessionDestination) throws(CallError) -> ResolutionStep {
    try checkKind(of: destination)
    setDestination(to: destination)
    return .dispatch(destination)
  }

  /// Records the handler or host that the call has reached.
  func setDestination(to destination: SessionDestination) {
    if case .hosted(let host, _) = destination.kind { self.host = host } else { host = nil }
  }

  /// Applies the decision of the interceptors.
  private func apply(
    _ decision: InterceptorChain.ChainDecision, in resolver: SessionDestinationResolver
  ) throws(CallError) -> ResolutionStep {
    guard let resolved = resolution else { throw .noRoute(uri) }
    switch decision {
    // Hosts may have changed while the interceptors were running.
    case .proceed: return try resolveDestination(of: resolved, in: resolver)
    case .changed(let params):
      return try resolveDestination(of: try change(params, of: resolved), in: resolver)
    case .gates(let gates, let params):
      if let params { _ = try change(params, of: resolved) }
      return options.passesGates ? try apply(.proceed, in: resolver) : .passGates(gates)
    case .redirect(let next, let params, _):
      if let params { options.params = params }
      calledURI = next
      return try redirect(to: next, in: resolver)
    case .refused(let interceptor, let reason):
      throw CallError(
        .refused, "Refused by \(interceptor.quoted): \(reason)",
        data: ["interceptor": .string(interceptor), "reason": .string(reason)])
    case .failed(let error): throw error
    }
  }

  /// Replaces the parameters of the call with those of interceptors.
  private func change(
    _ params: ValueObject, of resolved: Resolution
  ) throws(CallError) -> Resolution {
    let changed: Resolution
    do { changed = try resolved.with(params) } catch { throw CallError(error) }
    resolution = changed
    ensureState().replaceParams(params)
    return changed
  }

  /// Redirects the call to another URI, with its options unchanged.
  private func redirect(
    to next: String, in resolver: SessionDestinationResolver
  ) throws(CallError) -> ResolutionStep {
    let trail = (state?.trail ?? []) + [currentURI]
    guard trail.count <= Redirect.maxRedirects else {
      throw CallError(.redirectLoop(chain: trail + [next]))
    }
    state = SessionResolutionState(trail: trail)
    resolution = nil
    uri = next
    return try resolve(in: resolver)
  }

  /// Redirects a call without a host to its fallback. Throws `error` if there is none.
  private func fallBack(
    after error: CallError, in resolver: SessionDestinationResolver
  ) throws(CallError) -> ResolutionStep {
    guard let resolution, let next = try resolver.fallback(of: resolution, after: error) else {
      throw addingSuggestion(to: error, in: resolver)
    }
    return try redirect(to: next.text, in: resolver)
  }

  /// Adds the pattern that the URI may misspell to an error without a route. A caller that may not
  /// list the routes learns nothing about them.
  private func addingSuggestion(
    to error: CallError, in resolver: SessionDestinationResolver
  ) -> CallError {
    guard error.protocolCode == .noRoute, case .unmatched(let place, _)? = resolution,
      (try? options.rights.authorize("router.routes")) != nil,
      let pattern = resolver.snapshot.nearestPattern(to: place.uri, for: caller)
    else { return error }
    return .noRoute(place.uri.text, near: pattern.text)
  }

  /// Whether another host of the URI is connected, while the one that the call has reached is not.
  func hasConnectedAlternative(in resolver: SessionDestinationResolver) -> Bool {
    guard let host, let resolution,
      case .hosted(let other, _)? = try? resolver.destination(
        of: resolution, effectiveParams, except: state?.declinedHosts ?? []
      ).kind
    else { return false }
    return other.client != host.client && other.kind == host.kind && !resolver.isAbsent(other)
  }

  /// Advances a call that was declined. It tries, in this order: the URI's next host, the next
  /// match, the route's fallback, the undefined-route targets of scheme and app.
  private func resolveNext(in resolver: SessionDestinationResolver) throws(CallError)
    -> ResolutionStep
  {
    guard let resolved = resolution else { throw .declined }
    let snapshot = resolver.snapshot
    if let next = try nextHost(of: resolved, in: resolver) { return try dispatch(to: next) }
    if case .match(let match) = resolved {
      let state = ensureState()
      state.skip(match)
      while let next = try nextMatch(after: match, in: snapshot) {
        // A match without a host is skipped, as if it had declined.
        if case .hosted = next.route.handler,
          (try? resolver.destination(of: .match(next), options.params)) == nil
        {
          state.skip(next)
          continue
        }
        return try proceed(.match(next), in: resolver)
      }
    }
    let target: RouteURI?
    do {
      if let match = state?.fallbackMatch, let fallback = try snapshot.fallback(of: match) {
        target = fallback
      } else {
        target = try snapshot.undefinedTarget(of: resolved.uri)
      }
    } catch {
      throw CallError(error)
    }
    if let target { return try redirect(to: target.text, in: resolver) }
    guard let handler = snapshot.undefinedRouteHandler else {
      throw CallError(
        .noRoute, "All hosts and handlers of \(resolved.uri.text.quoted) declined", kind: "declined"
      )
    }
    return try dispatch(to: SessionDestination(undefined: handler, resolved.uri, resolved.params))
  }

  /// Returns the next destination of the same URI after the host that has declined, if a host has
  /// declined.
  private func nextHost(
    of resolved: Resolution, in resolver: SessionDestinationResolver
  ) throws(CallError) -> SessionDestination? {
    guard let host else { return nil }
    self.host = nil
    let state = ensureState()
    state.decline(host.host)
    guard
      let next = try? resolver.destination(
        of: resolved, effectiveParams, except: state.declinedHosts),
      next.isHandled
    else { return nil }
    return next
  }

  private func nextMatch(
    after declined: RouteMatch, in snapshot: RouterSnapshot
  ) throws(CallError) -> RouteMatch? {
    let state = ensureState()
    var left: ArraySlice<RouteMatch>
    if let rest = state.remainingMatches {
      left = rest
    } else {
      do {
        left = try snapshot.matches(after: declined, params: options.params, for: caller)[...]
      } catch {
        throw CallError(error)
      }
    }
    let next = left.popFirst()
    state.advance(leaving: left)
    return next
  }
}
