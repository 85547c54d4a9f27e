import WayRPC
import WayRouting
import WayTransport
import WayValues

// The life of a call that does not complete at once: it begins, reports progress, and ends once.
extension Session {
  /// The origin of a call: a new request, or a call that continues.
  enum CallOrigin {
    case request(ReplyHandle)
    case call(ActiveCall)
  }

  /// Begins the call of a request that does not complete at once. `size` is the approximate memory
  /// that it uses, in bytes. Fails if the client has too many calls, or if they use too much
  /// memory.
  func beginCall(
    _ origin: CallOrigin, _ kind: CallKind = .invoke, timeout: Duration? = nil,
    size: @autoclosure () -> Int
  ) throws(CallError) -> ActiveCall {
    switch origin {
    case .call(let call): return call
    case .request(let handle):
      if state.rejectsRequests { throw .shuttingDown }
      let charge = try handle.client.charge(ActiveCall.overhead + handle.id.size + size())
      let number = calls.makeNumber()
      try handle.client.calls.begin(number, at: handle)
      clientWriter.markChanged(handle.client)
      let callStart = CallStart(
        start: environment.meter.start, trace: events.callStarted(number, handle))
      return applyTimeout(calls.begin(number, kind, .client(handle, callStart), charge), timeout)
    }
  }

  /// Begins a call of Swift code. If the session has ended, the call fails at once and the result
  /// is `nil`.
  func beginCall(
    _ number: CallNumber, _ kind: CallKind, _ caller: AppCaller, timeout: Duration?
  ) -> ActiveCall? {
    var caller = caller
    caller.trace = events.callStarted(number, of: kind)
    let call = applyTimeout(calls.begin(number, kind, .app(caller)), timeout)
    guard state.isEnding else { return call }
    // A push may be sent again to the next owner of a session that is handed over.
    settle(
      number,
      .failure(
        state.isHandingOver
          ? .shuttingDown : CallError(.cancelledByServer, "The session of the call has ended")))
    return nil
  }

  private func applyTimeout(_ call: ActiveCall, _ timeout: Duration?) -> ActiveCall {
    if let timeout {
      call.deadlineTimer = setTimer(timeout, .call(call.number))
      call.deadline = loop.nanoseconds &+ UInt64(max(timeout / .nanoseconds(1), 0))
    }
    return call
  }

  /// Lifts the limits of a call that only waits for the outcome of a shown page: it has no deadline any
  /// more, and does not count as one in flight.
  func liftLimits(of call: ActiveCall) {
    call.deadlineTimer?.cancel()
    guard call.isCounted, case .client(let handle, _) = call.caller else { return }
    call.isCounted = false
    handle.client.calls.stopCounting(at: handle)
  }

  /// Starts work that does not end at once, and responds with its result. `size` is the approximate
  /// number of bytes that the call holds.
  func respondLater(
    to handle: ReplyHandle, size: Int,
    _ work: @escaping @Sendable () async throws(CallError) -> Value
  ) throws(CallError) -> CallDisposition {
    let call = try beginCall(.request(handle), size: size)
    call.work = .task(
      Task {
        do throws(CallError) {
          settle(call.number, .success(.value(try await work())))
        } catch {
          settle(call.number, .failure(error))
        }
      })
    return .later
  }

  /// Returns a number for a new call.
  func makeCallNumber() -> CallNumber { calls.makeNumber() }

  /// Returns a call that has not ended.
  func call(_ number: CallNumber) -> ActiveCall? { calls[number] }

  /// Completes a call. A call that has its result already keeps it. The failure handler may recover
  /// a call that fails.
  func settle(_ number: CallNumber, _ result: Result<SessionCallResponse, CallError>) {
    if case .failure(let error) = result, let call = calls[number],
      recover(call, from: error)
    {
      return
    }
    if let call = calls.end(number) { finish(call, result) }
  }

  /// Completes a call whose start has ended it.
  func settle(_ number: CallNumber, _ disposition: CallDisposition) {
    switch disposition {
    case .now(let response): settle(number, .success(response))
    case .failed(let error): settle(number, .failure(error))
    case .later: break
    }
  }

  private func finish(_ call: ActiveCall, _ result: Result<SessionCallResponse, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    if let task = call.taskStart { events.emitTaskEnd(of: task, error) }
    if let error {
      events.emit(failed: call.attemptedOperation, error)
      // `respond` records the refusal of a client's own request.
      if error.isRefusal, case .app(let caller) = call.caller, let rights = caller.rights {
        events.recordRefusal(error, of: nil, about: call.uri, by: rights.caller)
      }
    }
    call.span?.end(error)
    switch call.caller {
    case .app(let caller):
      let result = result.map(call.kind.adapted)
      events.callEnded(call, result)
      switch caller.receiver {
      case .code(let onResult, _): onResult(result)
      case .key(let name): settleRequests(of: name, result)
      case .deepLinks: linkCallEnded(call.number, result)
      case .gate(let gate): gateCallEnded(call.number, at: gate, result)
      }
    case .client(let handle, let callStart):
      let leaves = handle.client.calls.end(call.number, at: handle, isCounted: call.isCounted)
      // After a crash, the client would otherwise get another response.
      if call.isStored { journal?.recordChange(.clientState(handle.client.id)) }
      if leaves { removeLater(handle.client.id) }
      switch result {
      case .success(let response): respond(call.kind.adapted(response), to: handle, callStart)
      case .failure(let error): respond(error, to: handle, callStart, about: call.uri)
      }
    }
  }

  /// Removes a client in a later turn, when its last response was sent. Call on any thread.
  nonisolated func removeLater(_ id: ClientID) {
    loop.execute { [weak self] in self?.assumeIsolated { $0.remove(id) } }
  }

  /// Notifies the caller that a page is shown, for whose outcome the call waits from now on.
  func notifyPageShown(_ page: String, by call: ActiveCall) {
    guard case .app(let caller) = call.caller else { return }
    switch caller.receiver {
    case .code(_, let onPageShown): onPageShown?(page)
    case .key(let name): recordPage(page, of: name)
    case .deepLinks: linkPageShown(by: call.number)
    case .gate(let gate): gatePageShown(page, at: gate)
    }
  }

  /// Notifies the caller that work on a task has started.
  func notifyStarted(_ call: ActiveCall) {
    guard case .app(let caller) = call.caller, case .deepLinks = caller.receiver else { return }
    linkTaskStarted(by: call.number)
  }

  /// Removes a call that has not begun its work, so that its request can be performed again.
  func removeHeldCall(_ number: CallNumber) -> ReplyHandle? {
    guard let call = calls.end(number), case .client(let handle, _) = call.caller else {
      return nil
    }
    handle.client.calls.end(number, at: handle, isCounted: call.isCounted)
    return handle
  }

  /// Forwards the progress of a call to its caller. Progress after the result is dropped.
  func reportProgress(_ value: Value, of number: CallNumber) {
    guard let call = calls[number] else { return }
    if let key = call.leadKey {
      for waiter in idempotencyKeys.waiters(for: key) { reportProgress(value, of: waiter) }
    }
    guard case .client(let handle, _) = call.caller, !handle.isNotification else { return }
    clientWriter.sendProgress(handle.client, handle.id, value)
  }

  /// Stops a call before its work is done. A call whose page is shown continues until the page is
  /// closed.
  func stop(_ number: CallNumber, _ reason: StopReason) {
    // If the last waiting request of a key is cancelled or times out, the key's call stops, and the
    // request with it. A caller that has left leaves the call to clients that return.
    if case .key(let name)? = calls[number]?.work,
      reason == .cancelled || reason == .deadlineExceeded,
      let leader = idempotencyKeys.leader(ofLastWaiter: number, name)
    {
      return stop(leader, reason)
    }
    switch calls.stop(number, reason) {
    case nil: break
    case .close(let page): perform(pages.cancel(page, for: number))
    case .end(let call):
      if case .page(let page) = call.work { pages.removeOpener(number, of: page) }
      finish(call, .failure(reason.error))
      switch call.work {
      case .none, .page: break
      case .key(let name): idempotencyKeys.removeWaiter(call.number, name)
      case .gate(let gate): gates.remove(call.number, from: gate)
      case .task(let task): task.cancel()
      case .request(let id, let client):
        if let caller = call.caller.client { clientWriter.retainSlot(id, client, caller) }
        clientWriter.cancelRequest(id, client)
      case .remoteRequest(let request): request.cancel(holdingSlotOf: call.caller.client, on: loop)
      case .operation:
        let actions = pages.abandon(number)
        for case .cancelRequest(.client(let id, let host)) in actions {
          if let caller = call.caller.client { clientWriter.retainSlot(id, host, caller) }
        }
        perform(actions)
      }
    }
  }
}
