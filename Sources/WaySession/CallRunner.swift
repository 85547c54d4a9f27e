import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

/// Runs calls along their ``SessionCallResolution``: evaluates interceptors, loads modules, and dispatches
/// each call to its handler or host.
enum CallRunner {
  /// Starts a call. Throws the error that ends it, unless the failure handler runs for it.
  ///
  /// If the URI resolves to a synchronous task and no interceptor waits, the call completes here.
  /// All other calls get a ``SessionCallResolution``.
  ///
  /// `isLast` means that the URI is the one that was resolved last.
  static func start(
    _ kind: CallKind, _ uri: String, _ isLast: Bool, _ options: SessionCallOptions,
    for handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    // The full resolution reports errors according to the caller's rights, and traces every step.
    guard !session.isTraced,
      let resolution = try? session.resolver.resolve(
        uri, options.params, for: options.rights.caller, isLast: isLast)
    else {
      let callResolution = SessionCallResolution(kind, uri, options)
      return try advance(callResolution, for: .request(handle), in: session)
    }
    guard case .match(let match) = resolution, case .task(let run)? = match.routeHandler,
      options.rights.allows(kind.method, resolution)
    else {
      let callResolution = SessionCallResolution(kind, uri, options)
      return try advance(callResolution, .resolved(resolution), for: .request(handle), in: session)
    }
    let call = Call(resolution, options, in: session)
    let event: SessionCallResolution.ResolutionEvent
    switch match.interceptors.map({ $0.evaluate(call) }) ?? .proceed {
    case .proceed:
      guard let disposition = self.runTask(run, call, kind, options.rights.caller, in: session)
      else {
        event = .declined
        break
      }
      guard case .failed(let error) = disposition else { return disposition }
      let callResolution = SessionCallResolution(kind, uri, options, at: resolution)
      return try SessionFailureHandlers.recover(
        callResolution, from: error, isReported: true, for: .request(handle), in: session)
        ?? disposition
    case nil: event = .resolved(resolution)
    case let decision?: event = .intercepted(decision)
    }
    let callResolution = SessionCallResolution(kind, uri, options, at: resolution)
    return try advance(callResolution, event, for: .request(handle), in: session)
  }

  /// Advances a call after an event. Throws the error that ends it, unless the failure handler runs
  /// for it.
  static func advance(
    _ callResolution: SessionCallResolution,
    _ event: SessionCallResolution.ResolutionEvent = .started,
    for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    guard session.isTraced, let tracer = session.environment.tracer else {
      return try advanceWithRecovery(callResolution, event, for: origin, in: session)
    }
    if case .started = event, callResolution.options.span == nil {
      callResolution.attach(
        SessionCallSpan(
          tracer, callResolution.kind, callResolution.uri, callResolution.options.exts,
          callResolution.caller))
    }
    guard let span = callResolution.options.span else {
      return try advanceWithRecovery(callResolution, event, for: origin, in: session)
    }
    let result = span.run {
      Result { () throws(CallError) in
        try advanceWithRecovery(callResolution, event, for: origin, in: session)
      }
    }
    switch result {
    case .success(.later): break
    case .success(.now): span.end(nil)
    case .success(.failed(let error)), .failure(let error): span.end(error)
    }
    return try result.get()
  }

  private static func advanceWithRecovery(
    _ callResolution: SessionCallResolution, _ event: SessionCallResolution.ResolutionEvent,
    for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    do {
      let disposition = try performSteps(callResolution, event, for: origin, in: session)
      guard case .failed(let error) = disposition else { return disposition }
      return try SessionFailureHandlers.recover(
        callResolution, from: error, isReported: true, for: origin, in: session) ?? disposition
    } catch {
      guard
        let disposition = try SessionFailureHandlers.recover(
          callResolution, from: error, isReported: false, for: origin, in: session)
      else { throw error }
      return disposition
    }
  }

  private static func performSteps(
    _ callResolution: SessionCallResolution, _ event: SessionCallResolution.ResolutionEvent,
    for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    var step = try callResolution.handle(event, in: session.resolver)
    while true {
      switch consume step {
      case .intercept(let chain, let destination):
        let handlerCall = Call(destination.resolution, callResolution.options, in: session)
        switch chain.evaluate(handlerCall) {
        case nil:
          return try runInterceptors(
            chain, destination.resolution, callResolution, for: origin, in: session)
        case .proceed:
          callResolution.setDestination(to: destination)
          let disposition: CallDisposition?
          if case .task(let run) = destination.kind, callResolution.options.attachments == nil {
            // The task gets the call as the interceptors have seen it.
            disposition = self.runTask(
              run, handlerCall, callResolution.kind, callResolution.caller, in: session)
          } else {
            disposition = try dispatch(to: destination, callResolution, for: origin, in: session)
          }
          if let disposition { return disposition }
          step = try callResolution.handle(.declined, in: session.resolver)
        case let decision?:
          step = try callResolution.handle(.intercepted(decision), in: session.resolver)
        }
      case .load(let module):
        return try loadModule(module, callResolution, for: origin, in: session)
      case .respond(let value): return .value(value)
      case .dispatch(let destination):
        if let disposition = try dispatch(to: destination, callResolution, for: origin, in: session)
        {
          return disposition
        }
        step = try callResolution.handle(.declined, in: session.resolver)
      }
    }
  }

  /// Advances a call that its page's handler or its host has declined.
  static func resumeDeclined(_ number: CallNumber, in session: isolated Session) {
    guard let call = session.call(number), let callResolution = call.resolution else { return }
    if let task = call.taskStart {
      session.events.emit(.task, .taskDeclined(task), by: task.caller)
    }
    call.taskStart = nil
    resume(call, callResolution, .declined, in: session)
  }

  /// Advances a call that has waited, and settles it if that ends it.
  static func resume(
    _ call: ActiveCall, _ callResolution: SessionCallResolution,
    _ event: SessionCallResolution.ResolutionEvent,
    in session: isolated Session
  ) {
    do throws(CallError) {
      // The call may have ended while it waited.
      guard session.call(call.number) != nil else { return }
      call.resolution = nil
      try callResolution.options.rights.checkValidity(at: session.environment.now())
      switch try advance(callResolution, event, for: .call(call), in: session) {
      case .now(let response): session.settle(call.number, .success(response))
      case .failed(let error): session.settle(call.number, .failure(error))
      case .later: break
      }
    } catch {
      fail(call, callResolution, error, in: session)
    }
  }

  /// Ends a call that has failed and cannot be recovered. `isReported` is true if its task or page
  /// has failed, and false if the call has reached neither.
  static func fail(
    _ call: ActiveCall, _ callResolution: SessionCallResolution, _ error: CallError,
    isReported: Bool = false,
    in session: isolated Session
  ) {
    guard session.call(call.number) != nil else { return }
    if !isReported {
      session.events.emitRouteFailure(callResolution.currentURI, error, by: callResolution.caller)
    }
    call.attemptedOperation = nil
    session.settle(call.number, .failure(error))
  }

  /// Begins the call of a request that does not complete at once.
  static func beginCall(
    _ origin: Session.CallOrigin, _ callResolution: SessionCallResolution,
    in session: isolated Session
  ) throws(CallError) -> ActiveCall {
    if session.state.isDraining, case .request = origin { throw .draining }
    let call = try session.beginCall(
      origin, callResolution.kind, timeout: callResolution.options.timeout,
      size: callResolution.size)
    call.rights = callResolution.options.rights
    call.uri = call.uri ?? callResolution.uri
    call.span = callResolution.options.span
    return call
  }

  private static func runInterceptors(
    _ chain: InterceptorChain, _ resolution: Resolution, _ callResolution: SessionCallResolution,
    for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let call = try beginCall(origin, callResolution, in: session)
    let handlerCall = Call(resolution, callResolution.options, call.number, in: session)
    let start = session.environment.inspector.isActive ? session.loop.nanoseconds : nil
    call.work = .task(
      Task {
        let decision = await chain.evaluate(handlerCall) { delay, work in
          let timer = session.loop.schedule(after: delay, work)
          return { timer.cancel() }
        }
        if let start {
          session.events.inspectorSink.interceptorsDecided(
            call, by: chain.names, decision, since: start)
        }
        resume(call, callResolution, .intercepted(decision), in: session)
      })
    return .later
  }

  private static func loadModule(
    _ module: LazyModule, _ callResolution: SessionCallResolution, for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let call = try beginCall(origin, callResolution, in: session)
    call.work = .task(
      Task {
        do {
          try await module.load()
          resume(call, callResolution, .moduleLoaded, in: session)
        } catch {
          let failure = CallError(
            .internal, "The module \(module.name.quoted) could not register: \(error)")
          resume(call, callResolution, .failed(failure), in: session)
        }
      })
    return .later
  }
}

extension CallRunner {
  /// Dispatches a call to its handler or host. Returns `nil` if the handler declines, so that the
  /// call moves on to the next one.
  private static func dispatch(
    to destination: SessionDestination, _ callResolution: SessionCallResolution,
    for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition? {
    if let attachments = callResolution.options.attachments { try destination.check(attachments) }
    switch destination.kind {
    case .task(let run):
      let call = Call(destination.resolution, callResolution.options, in: session)
      return self.runTask(run, call, callResolution.kind, callResolution.caller, in: session)
    case .page(let handler):
      return try openPage(destination, .app(handler), nil, callResolution, for: origin, in: session)
    case .hosted(let host, _) where host.kind == .page:
      return try openPage(
        destination, .client(host.client), host, callResolution, for: origin, in: session)
    case .module(let module):
      return try loadModule(module, callResolution, for: origin, in: session)
    case .asyncTask(let run):
      let call = try beginCall(origin, callResolution, in: session)
      if session.environment.inspector.isActive {
        call.recordTarget(destination.route?.name, host: "server")
      }
      self.runTask(run, destination, callResolution, call, in: session)
      call.notifyStarted()
    case .hosted(let chosen, let params):
      guard let host = session.host(chosen) else {
        throw CallError(.hostAbsent, "The host of \(destination.uri.text.quoted) is gone")
      }
      let call = try beginCall(origin, callResolution, in: session)
      call.taskStart = session.events.emitTaskStart(
        of: destination.uri, destination.route, by: callResolution.caller
      ) {
        session.makeCallNumber()
      }
      call.resolution = callResolution
      if session.environment.inspector.isActive {
        call.recordTarget(destination.route?.name, host: host.name)
      }
      var task: ValueObject = [
        "uri": .string(destination.uri.text), "params": .object(params),
        "exts": .object(exts(of: callResolution, in: session)), "host": chosen.value,
        "caller": callResolution.options.rights.callerValue,
      ]
      task["key"] = callResolution.options.idempotencyKey.map { .string($0.text) }
      session.forward("task.run", .object(task), to: host, call)
      call.notifyStarted()
    case .undefined(let handler):
      let call = try beginCall(origin, callResolution, in: session)
      SessionFailureHandlers.runUndefinedRouteHandler(
        handler, destination, callResolution, call, in: session)
      call.notifyStarted()
    case .back:
      let back = try SessionBackRequest(texts: destination.params)
      let call = try beginCall(origin, callResolution, in: session)
      call.attemptedOperation = SessionFailedOperation(
        destination.resolution, by: callResolution.caller, in: session)
      session.changeStack(
        back.operation(by: session.resolver, for: callResolution.caller),
        callResolution.options.exts, by: callResolution.options.rights, as: .back, for: call)
    case .selectTab:
      let tab = try session.resolver.tabIndex(
        try TabReference(texts: destination.params), on: session.pages.stack,
        for: callResolution.caller)
      let attempt = SessionFailedOperation(
        destination.resolution, by: callResolution.caller, in: session)
      let options = callResolution.options
      let params = try TabParams(
        destination.uri, options.params, plusIsSpace: session.resolver.snapshot.plusIsSpace)
      return try selectTab(
        tab, attempt, callResolution.kind, options.rights, options.span, params, options.exts,
        for: origin, in: session)
    }
    return .later
  }

  /// Returns the `exts` for a host: those of the call, completed by the presentation and the span.
  private static func exts(
    of callResolution: SessionCallResolution, _ presentation: Presentation? = nil,
    in session: isolated Session
  ) -> ValueObject {
    let exts = presentation?.completing(callResolution.options.exts) ?? callResolution.options.exts
    guard session.isTraced, let span = callResolution.options.span,
      let tracer = session.environment.tracer
    else {
      return exts
    }
    return span.adding(to: exts, tracer)
  }

  /// Selects a tab in turn, and completes the call with the change. If the tab has no page yet, the
  /// host of its first page is asked to show it. Otherwise the first page gets `params` and `exts`,
  /// if there are any.
  static func selectTab(
    _ tab: Int, _ attempt: SessionFailedOperation?, _ kind: CallKind, _ rights: Rights,
    _ span: SessionCallSpan? = nil, _ params: TabParams = TabParams(), _ exts: ValueObject = [:],
    for origin: Session.CallOrigin, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    if params.isEmpty, session.pages.stack.hasPages(tab: tab) {
      let call = try session.beginCall(origin, kind, size: Value.object(exts).size)
      call.attemptedOperation = attempt
      call.span = span
      session.changeStack(
        .select(tab: tab, first: nil, delivering: NavigationDelivery(exts: exts)), exts,
        by: rights, as: .back, for: call)
      return .later
    }
    let snapshot = session.resolver.snapshot
    let uri = try params.uri(of: snapshot.tabs[tab], plusIsSpace: snapshot.plusIsSpace)
    guard try session.resolver.destination(of: uri, params.params).routeKind == .page else {
      throw CallError(.wrongKind, "The first page of tab \(tab), \(uri.quoted), is not a page")
    }
    let options = SessionCallOptions(
      rights: rights, method: .selectTab, span: span, params: params.params, exts: exts,
      style: .tab, tab: tab, respondsWithChange: true)
    let callResolution = SessionCallResolution(kind, uri, options)
    return try advance(callResolution, for: origin, in: session)
  }

  /// Runs a synchronous task to its result, without a Swift task and without leaving the thread.
  /// Returns `nil` if the task declines.
  private static func runTask(
    _ run: @Sendable (Call) throws -> Value, _ call: Call, _ kind: CallKind, _ caller: Caller,
    in session: isolated Session
  ) -> CallDisposition? {
    let task = session.events.emitTaskStart(of: call.uri, call.route, by: caller) {
      session.makeCallNumber()
    }
    do {
      let value = try run(call)
      if let task { session.events.emitTaskEnd(of: task, nil) }
      return .now(kind.adapted(.value(value)))
    } catch is Declined {
      if let task { session.events.emit(.task, .taskDeclined(task), by: task.caller) }
      return nil
    } catch {
      let error = session.events.reportThrown(error, by: caller)
      if let task { session.events.emitTaskEnd(of: task, error) }
      return .failed(error)
    }
  }

  private static func runTask(
    _ run: @escaping @Sendable (Call) async throws -> Value, _ destination: SessionDestination,
    _ callResolution: SessionCallResolution, _ call: ActiveCall, in session: isolated Session
  ) {
    call.taskStart = session.events.emitTaskStart(
      of: destination.uri, destination.route, by: callResolution.caller
    ) {
      session.makeCallNumber()
    }
    call.resolution = callResolution
    let handlerCall = Call(destination.resolution, callResolution.options, call.number, in: session)
    call.work = .task(
      Task {
        do {
          let value = try await run(handlerCall)
          session.settle(call.number, .success(.value(value)))
        } catch is Declined {
          resumeDeclined(call.number, in: session)
        } catch {
          session.settle(
            call.number,
            .failure(session.events.reportThrown(error, by: callResolution.caller)))
        }
      })
  }

  /// Returns what a call gives to its page if that is already open: the parameters of the URI's query
  /// and of the caller, and the caller's `exts`. Returns `nil` if there are neither.
  private static func delivery(
    of page: Page, _ options: SessionCallOptions, _ uri: RouteURI
  ) -> NavigationDelivery? {
    guard page.style == .popTo || page.style == .tab else { return nil }
    let hasParams = !options.params.isEmpty || uri.query?.isEmpty == false
    return NavigationDelivery(of: page, hasParams: hasParams, hasExts: !options.exts.isEmpty)
  }

  /// Opens a page in turn.
  private static func openPage(
    _ destination: SessionDestination, _ hostReference: HostReference, _ chosen: ChosenHost?,
    _ callResolution: SessionCallResolution, for origin: Session.CallOrigin,
    in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    var options = callResolution.options
    let uri = destination.uri.text
    guard callResolution.kind == .open || options.respondsWithChange else {
      throw CallError(
        .wrongKind, "\(uri.quoted) is a page: use router.open, not router.invoke")
    }
    guard !options.isInBatch else {
      throw CallError(
        .wrongKind,
        "A page cannot be opened in a batch, whose response would wait for it; send it on its own")
    }
    let presentation = destination.route?.presentation
    let style = options.style ?? presentation?.style ?? .push
    let called = PageURI.called(callResolution.calledURI, resolvingTo: destination.uri)
    if style == .tab, options.tab == nil {
      let first = PageURI(
        called ?? uri, resolved: uri, route: destination.route?.name,
        pathParams: destination.pathParams)
      options.tab = try session.resolver.tabIndex(
        of: .uri(first), uri, on: session.pages.stack, for: callResolution.caller)
    }
    var popTarget: PageReference?
    if case .object(let target)? = options.exts["pop"], let text = PageReference.popTarget(target) {
      popTarget = session.resolver.reference(text, for: callResolution.caller)
    }
    if !options.respondsWithChange { try origin.client?.calls.checkPageWaits() }
    let call = try beginCall(origin, callResolution, in: session)
    let host: String
    var handlerCall: Call?
    switch hostReference {
    case .client(let id): host = session.clients[id]?.name ?? ""
    case .app: host = "server"
    }
    let page = Page(
      id: session.pages.makePageID(), uri: uri, calledURI: called, route: destination.route?.name,
      pathParams: destination.pathParams, style: style, params: destination.params,
      exts: exts(of: callResolution, presentation, in: session), host: host)
    let charge: ByteBudget.Charge
    do { charge = try session.pages.charge(page) } catch {
      session.settle(call.number, .failure(error))
      return .later
    }
    if case .app = hostReference {
      options.callingPage = page.id
      handlerCall = Call(destination.resolution, options, in: session)
    }
    call.resolution = callResolution
    // The failure of the page itself is reported instead.
    call.attemptedOperation = nil
    call.work = .operation
    if session.environment.inspector.isActive {
      call.recordTarget(destination.route?.name, host: host, page: page.id)
    }
    session.pages.open(
      PageOpening(
        page: page, hostReference: hostReference, call: call.number, by: options.rights,
        charge: charge,
        handlerCall: handlerCall, chosenHost: chosen, opener: callResolution.options.callingPage,
        tab: options.tab, respondsWithChange: options.respondsWithChange,
        delivering: delivery(of: page, options, destination.uri), popTo: popTarget
      ) { [resolver = session.resolver, rights = options.rights] page in
        resolver.denial(of: .back, about: page, to: rights)
      })
    session.perform([])
    return .later
  }
}

extension Session.CallOrigin {
  /// The client that has made the call; `nil` for a call of Swift code.
  fileprivate var client: Client? {
    switch self {
    case .request(let handle): handle.client
    case .call(let call): call.caller.client
    }
  }
}
