import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

// The last step of a call: its handler runs it, or its host gets a request.
extension Session {
  /// Dispatches a call to its handler or host. Returns `nil` if the handler declines, so that the
  /// call moves on to the next one.
  func dispatch(
    to destination: SessionDestination, _ callResolution: SessionCallResolution,
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition? {
    if let attachments = callResolution.options.attachments { try destination.check(attachments) }
    switch destination.kind {
    case .task(let run):
      let call = Call(destination.resolution, callResolution.options, in: self)
      return runTask(run, call, callResolution.kind, callResolution.caller)
    case .page(let handler):
      return try openPage(destination, .app(handler), nil, callResolution, for: origin)
    case .hosted(let host, _) where host.kind == .page:
      return try openPage(destination, .client(host.client), host, callResolution, for: origin)
    case .module(let module):
      return try loadModule(module, callResolution, for: origin)
    case .asyncTask(let run):
      let call = try beginCall(origin, callResolution)
      call.recordTarget(destination.route?.name, host: "server")
      runTask(run, destination, callResolution, call)
      notifyStarted(call)
    case .hosted(let chosen, let params):
      guard let host = host(chosen) else {
        throw CallError(.hostAbsent, "The host of \(destination.uri.text.quoted) is gone")
      }
      let call = try beginCall(origin, callResolution)
      startTask(of: call, at: destination, callResolution, host: host.name)
      call.recordTarget(destination.route?.name, host: host.name)
      var task: ValueObject = [
        "uri": .string(destination.uri.text), "params": .object(params),
        "exts": .object(exts(of: callResolution)), "host": chosen.value,
        "caller": callResolution.options.rights.callerValue,
      ]
      task["key"] = callResolution.options.idempotencyKey.map { .string($0.text) }
      forward("task.run", .object(task), to: host, call)
      notifyStarted(call)
    case .undefined(let handler):
      let call = try beginCall(origin, callResolution)
      runUndefinedRouteHandler(handler, destination, callResolution, call)
      notifyStarted(call)
    case .back:
      let back = try SessionBackRequest(texts: destination.params)
      let call = try beginCall(origin, callResolution)
      call.attemptedOperation = failedOperation(destination.resolution, by: callResolution.caller)
      changeStack(
        back.operation(by: resolver, for: callResolution.caller),
        callResolution.options.exts, by: callResolution.options.rights, as: .back, for: call)
    case .selectTab:
      let options = callResolution.options
      let params = try TabParams(
        destination.uri, options.params, plusIsSpace: resolver.snapshot.plusIsSpace)
      return try selectTab(
        try TabReference(texts: destination.params),
        failedOperation(destination.resolution, by: callResolution.caller), callResolution.kind,
        options.rights, options.span, params, options.exts, for: origin)
    }
    return .later
  }

  /// Returns the `exts` for a host: those of the call, completed by the presentation and the span.
  private func exts(
    of callResolution: SessionCallResolution, _ presentation: Presentation? = nil
  ) -> ValueObject {
    let exts = presentation?.completing(callResolution.options.exts) ?? callResolution.options.exts
    guard isTraced, let span = callResolution.options.span, let tracer = environment.tracer
    else { return exts }
    return span.adding(to: exts, tracer)
  }

  /// Selects a tab in turn, and completes the call with the change. `params` and `exts` are for the
  /// first page of the tab, which its host is asked to show if it is not open.
  func selectTab(
    _ tab: TabReference, _ attempt: SessionFailedOperation?, _ kind: CallKind, _ rights: Rights,
    _ span: SessionCallSpan? = nil, _ params: TabParams = TabParams(), _ exts: ValueObject = [:],
    for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    let stack = pages.stack
    let tab = try resolver.tabIndex(tab, on: stack, for: rights.caller)
    switch try TabSelection(tab, params, exts, by: rights, span, on: stack, resolver) {
    case .open(let uri, let options):
      return try advance(SessionCallResolution(kind, uri, options), for: origin)
    case .change(let operation):
      let call = try beginCall(origin, kind, size: Value.object(exts).size)
      call.attemptedOperation = attempt
      call.span = span
      changeStack(operation, exts, by: rights, as: .back, for: call)
      return .later
    }
  }

  /// Runs a synchronous task to its result, without a Swift task and without leaving the thread.
  /// Returns `nil` if the task declines.
  func runTask(
    _ run: @Sendable (Call) throws -> Value, _ call: Call, _ kind: CallKind, _ caller: Caller
  ) -> CallDisposition? {
    let task = events.emitTaskStart(of: call.uri, call.route, by: caller) { makeCallNumber() }
    do {
      let value = try run(call)
      if let task { events.emitTaskEnd(of: task, nil) }
      return .now(kind.adapted(.value(value)))
    } catch is Declined {
      if let task { events.emit(.task, .taskDeclined(task), by: task.caller) }
      return nil
    } catch let invalid as InvalidResult {
      guard let expected = DeclaredResult(of: call.route, at: call.uri, host: "server") else {
        return .now(kind.adapted(.value(invalid.value)))
      }
      switch handle(invalid, expected) {
      case .success(let response):
        if let task { events.emitTaskEnd(of: task, nil) }
        return .now(kind.adapted(response))
      case .failure(let error):
        if let task { events.emitTaskEnd(of: task, error) }
        return .failed(error)
      }
    } catch {
      let error = events.reportThrown(error, by: caller)
      if let task { events.emitTaskEnd(of: task, error) }
      return .failed(error)
    }
  }

  private func runTask(
    _ run: @escaping @Sendable (Call) async throws -> Value, _ destination: SessionDestination,
    _ callResolution: SessionCallResolution, _ call: ActiveCall
  ) {
    startTask(of: call, at: destination, callResolution, host: "server")
    let handlerCall = Call(destination.resolution, callResolution.options, call.number, in: self)
    call.work = .task(
      Task {
        do {
          let value = try await run(handlerCall)
          // A value that stays in the process is not JSON.
          let isAttached = callResolution.options.attachments?.returnedValue != nil
          settle(
            call.number, check(value, isAttached ? nil : call.declaredResult))
        } catch is Declined {
          resumeDeclined(call.number)
        } catch {
          let thrown = events.reportThrown(error, by: callResolution.caller)
          settle(call.number, .failure(thrown))
        }
      })
  }

  /// Records that a handler or a host starts to work on a call, which it may decline.
  private func startTask(
    of call: ActiveCall, at destination: SessionDestination,
    _ callResolution: SessionCallResolution, host: String
  ) {
    // Most routes declare none, and creating the object has a cost.
    if let route = destination.route, route.result != nil {
      call.declaredResult = DeclaredResult(of: route, at: destination.uri, host: host)
    }
    call.taskStart = events.emitTaskStart(
      of: destination.uri, destination.route, by: callResolution.caller
    ) { makeCallNumber() }
    call.resolution = callResolution
  }

  /// Opens a page in turn. `chosen` is the client that shows it; `nil` if Swift code does.
  private func openPage(
    _ destination: SessionDestination, _ hostReference: HostReference, _ chosen: ChosenHost?,
    _ callResolution: SessionCallResolution, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition {
    var options = callResolution.options
    let requested = try RequestedPage(
      destination, for: callResolution, options, on: pages.stack, resolver)
    if !options.respondsWithChange { try origin.client?.calls.checkPageWaits() }
    let call = try beginCall(origin, callResolution)
    let host =
      switch hostReference {
      case .client(let id): clients[id]?.name ?? ""
      case .app: "server"
      }
    let page = requested.page(
      pages.makePageID(), at: destination,
      exts: exts(of: callResolution, destination.route?.presentation), host: host)
    let charge: ByteBudget.Charge
    do { charge = try pages.charge(page) } catch {
      settle(call.number, .failure(error))
      return .later
    }
    let opener = options.callingPage
    var handlerCall: Call?
    if case .app = hostReference {
      options.callingPage = page.id
      handlerCall = Call(destination.resolution, options, in: self)
    }
    call.resolution = callResolution
    // The failure of the page itself is reported instead.
    call.attemptedOperation = nil
    call.work = .operation
    call.recordTarget(destination.route?.name, host: host, page: page.id)
    pages.open(
      PageOpening(
        page: page, hostReference: hostReference, call: call.number, by: options.rights,
        charge: charge, handlerCall: handlerCall, chosenHost: chosen, opener: opener,
        tab: requested.tab, ownTab: requested.ownTab, edit: options.edit,
        respondsWithChange: options.respondsWithChange,
        delivering: requested.delivery(of: page, at: destination, options),
        popTo: requested.popTarget
      ) { [resolver, rights = options.rights] page, byForce in
        resolver.denial(of: byForce ? .setGuard : .back, about: page, to: rights)
      })
    perform([])
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
