import WayRouting
import WayTransport
import WayValues

// Calls of URIs: performs the steps that ``SessionCallResolution`` returns, which end with the
// dispatch of the call to its handler or host.
extension Session {
  /// Starts a call. Throws the error that ends it, unless the failure handler runs for it.
  ///
  /// If the URI resolves to a synchronous task and no interceptor waits, the call completes here.
  /// All other calls get a ``SessionCallResolution``.
  ///
  /// `isLast` means that the URI is the one that was resolved last.
  func start(
    _ kind: CallKind, _ uri: String, _ isLast: Bool, _ options: SessionCallOptions,
    for handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    // The full resolution reports errors according to the caller's rights, and traces every step.
    // Interceptors of clients are not part of the route's chain.
    guard !isTraced, !resolver.hosts.hasInterceptors,
      let resolution = try? resolver.resolve(
        uri, options.params, for: options.rights.caller, isLast: isLast)
    else {
      let callResolution = SessionCallResolution(kind, uri, options)
      return try advance(callResolution, for: .request(handle))
    }
    guard case .match(let match) = resolution, case .task(let run)? = match.routeHandler,
      options.rights.allows(kind.method, resolution)
    else {
      let callResolution = SessionCallResolution(kind, uri, options)
      return try advance(callResolution, .resolved(resolution), for: .request(handle))
    }
    let call = Call(resolution, options, in: self)
    let event: SessionCallResolution.ResolutionEvent
    switch match.interceptors.map({ $0.evaluate(call) }) ?? .proceed {
    case .proceed:
      guard let disposition = runTask(run, call, kind, options.rights.caller) else {
        event = .declined
        break
      }
      guard case .failed(let error) = disposition else { return disposition }
      let callResolution = SessionCallResolution(kind, uri, options, at: resolution)
      return try recover(callResolution, from: error, isReported: true, for: .request(handle))
        ?? disposition
    case nil: event = .resolved(resolution)
    case let decision?: event = .intercepted(decision)
    }
    let callResolution = SessionCallResolution(kind, uri, options, at: resolution)
    return try advance(callResolution, event, for: .request(handle))
  }

  /// Advances a call after an event. Throws the error that ends it, unless the failure handler runs
  /// for it.
  func advance(
    _ callResolution: SessionCallResolution,
    _ event: SessionCallResolution.ResolutionEvent = .started,
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    guard isTraced, let tracer = environment.tracer else {
      return try advanceWithRecovery(callResolution, event, for: origin)
    }
    if case .started = event, callResolution.options.span == nil {
      callResolution.attach(
        SessionCallSpan(
          tracer, callResolution.kind, callResolution.uri, callResolution.options.exts,
          callResolution.caller))
    }
    guard let span = callResolution.options.span else {
      return try advanceWithRecovery(callResolution, event, for: origin)
    }
    let result = span.run {
      Result { () throws(CallError) in
        try advanceWithRecovery(callResolution, event, for: origin)
      }
    }
    switch result {
    case .success(.later): break
    case .success(.now): span.end(nil)
    case .success(.failed(let error)), .failure(let error): span.end(error)
    }
    return try result.get()
  }

  private func advanceWithRecovery(
    _ callResolution: SessionCallResolution, _ event: SessionCallResolution.ResolutionEvent,
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    do {
      let disposition = try performSteps(callResolution, event, for: origin)
      guard case .failed(let error) = disposition else { return disposition }
      return try recover(callResolution, from: error, isReported: true, for: origin)
        ?? disposition
    } catch {
      guard
        let disposition = try recover(callResolution, from: error, isReported: false, for: origin)
      else { throw error }
      return disposition
    }
  }

  private func performSteps(
    _ callResolution: SessionCallResolution, _ event: SessionCallResolution.ResolutionEvent,
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    var step = try callResolution.handle(event, in: resolver)
    while true {
      switch consume step {
      case .intercept(let chain, let destination):
        let handlerCall = Call(destination.resolution, callResolution.options, in: self)
        switch chain.evaluate(handlerCall) {
        case nil:
          return try runInterceptors(chain, destination.resolution, callResolution, for: origin)
        case .proceed:
          callResolution.setDestination(to: destination)
          let disposition: CallDisposition?
          if case .task(let run) = destination.kind, callResolution.options.attachments == nil {
            // The task gets the call as the interceptors have seen it.
            disposition = runTask(run, handlerCall, callResolution.kind, callResolution.caller)
          } else {
            disposition = try dispatch(to: destination, callResolution, for: origin)
          }
          if let disposition { return disposition }
          step = try callResolution.handle(.declined, in: resolver)
        case let decision?:
          step = try callResolution.handle(.intercepted(decision), in: resolver)
        }
      case .passGates(let gates):
        if let disposition = try waitAtGate(gates, callResolution, for: origin) {
          return disposition
        }
        step = try callResolution.handle(.intercepted(.proceed), in: resolver)
      case .load(let module):
        return try loadModule(module, callResolution, for: origin)
      case .respond(let value): return .value(value)
      case .dispatch(let destination):
        if let disposition = try dispatch(to: destination, callResolution, for: origin) {
          return disposition
        }
        step = try callResolution.handle(.declined, in: resolver)
      }
    }
  }

  /// Advances a call that its page's handler or its host has declined.
  func resumeDeclined(_ number: CallNumber) {
    guard let call = call(number), let callResolution = call.resolution else { return }
    if let task = call.taskStart { events.emit(.task, .taskDeclined(task), by: task.caller) }
    call.taskStart = nil
    resume(call, callResolution, .declined)
  }

  /// Advances a call that has waited, and settles it if that ends it.
  func resume(
    _ call: ActiveCall, _ callResolution: SessionCallResolution,
    _ event: SessionCallResolution.ResolutionEvent
  ) {
    do throws(CallError) {
      // The call may have ended while it waited.
      guard calls[call.number] != nil else { return }
      call.resolution = nil
      try callResolution.options.rights.checkValidity(at: environment.now())
      settle(call.number, try advance(callResolution, event, for: .call(call)))
    } catch {
      fail(call, callResolution, error)
    }
  }

  /// Ends a call that has failed and cannot be recovered. `isReported` is true if its task or page
  /// has failed, and false if the call has reached neither.
  func fail(
    _ call: ActiveCall, _ callResolution: SessionCallResolution, _ error: CallError,
    isReported: Bool = false
  ) {
    guard calls[call.number] != nil else { return }
    if !isReported {
      events.emitRouteFailure(callResolution.currentURI, error, by: callResolution.caller)
    }
    call.attemptedOperation = nil
    settle(call.number, .failure(error))
  }

  /// Begins the call of a request that does not complete at once.
  func beginCall(
    _ origin: CallOrigin, _ callResolution: SessionCallResolution
  ) throws(CallError) -> ActiveCall {
    if state.isDraining, case .request = origin { throw .draining }
    let call = try beginCall(
      origin, callResolution.kind, timeout: callResolution.options.timeout,
      size: callResolution.size)
    call.rights = callResolution.options.rights
    call.uri = call.uri ?? callResolution.uri
    call.span = callResolution.options.span
    return call
  }

  private func runInterceptors(
    _ chain: InterceptorChain, _ resolution: Resolution, _ callResolution: SessionCallResolution,
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    let call = try beginCall(origin, callResolution)
    let handlerCall = Call(resolution, callResolution.options, call.number, in: self)
    let start = loop.nanoseconds
    call.work = .task(
      Task {
        let decision = await chain.evaluate(handlerCall) { delay, work in
          let timer = loop.schedule(after: delay, work)
          return { timer.cancel() }
        }
        events.emit(
          .detail,
          .interceptorsDecided(
            InterceptorsDecision(
              call: call.number, client: call.caller.client?.name, uri: call.uri,
              names: chain.names, decision: decision, startTime: start)),
          by: call.rights?.caller)
        resume(call, callResolution, .intercepted(decision))
      })
    return .later
  }

  /// Loads the module that registers the handler of a call.
  func loadModule(
    _ module: LazyModule, _ callResolution: SessionCallResolution, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    let call = try beginCall(origin, callResolution)
    call.work = .task(
      Task {
        do {
          try await module.load()
          resume(call, callResolution, .moduleLoaded)
        } catch {
          let failure = CallError(
            .internal, "The module \(module.name.quoted) could not register: \(error)")
          resume(call, callResolution, .failed(failure))
        }
      })
    return .later
  }
}
