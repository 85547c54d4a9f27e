import WayNavigation
import WayPatterns
import WayRouting
import WayValues

// Interceptors of clients, and gates: calls wait until a client has decided about them, and until the
// gates of their route are open. Performs what ``SessionGates`` decides.
extension Session {
  /// Asks the client of an interceptor about a call. Throws its error: one with an application code is
  /// that of the call, and any other one refuses the call.
  func ask(
    _ entry: SessionHosts.RegisteredInterceptor, about call: Call
  ) async throws -> Interception {
    guard let client = clients[entry.client] else {
      throw CallError(.hostAbsent, "The client of the interceptor has left the session")
    }
    let params =
      RecordCoder.value(
        of: InterceptionRequest(entry.interceptor.name, about: call)
      ).object ?? [:]
    // The chain of interceptors ends the request after the timeout.
    let response = await ask(
      ClientMethodRequest(
        client: client.name, method: "router.intercept", params: params, rights: appRights,
        timeout: nil))
    return try Interception(try response.get())
  }

  /// Lets a call wait at the first of its gates that is not open. Returns `nil` if all are.
  func waitAtGate(
    _ needed: [Gate], _ callResolution: SessionCallResolution, for origin: CallOrigin
  ) throws(CallError) -> CallDisposition? {
    guard let gate = gates.firstClosed(of: needed) else { return nil }
    let call = try beginCall(origin, callResolution)
    call.resolution = callResolution
    call.work = .gate(gate.name)
    perform(gates.wait(call.number, of: callResolution.currentURI, at: gate, gates: needed))
    return .later
  }

  /// Opens or closes a gate of the session. Fails with 2404 if the router has no such gate.
  func setGate(_ name: String, isOpen: Bool) throws(CallError) {
    guard resolver.snapshot.gate(named: name) != nil else {
      throw CallError(.noRoute, "There is no gate \(name.quoted)", kind: "noGate")
    }
    perform(gates.set(name, isOpen: isOpen))
  }

  /// Opens the page of a gate for a deep link that waits at it.
  func ask(_ gate: Gate, for link: String) { perform(gates.ask(gate, for: link)) }

  /// Handles that the page of a gate is shown.
  func gatePageShown(_ page: String, at gate: String) {
    perform(gates.pageShown(page, at: gate))
  }

  /// Handles the result of the call that opens the page of a gate.
  func gateCallEnded(
    _ number: CallNumber, at gate: String, _ result: Result<SessionCallResponse, CallError>
  ) {
    let outcome = result.flatMap { response in
      Result { () throws(CallError) in try response.asOutcome }
    }
    perform(gates.callEnded(number, at: gate, outcome))
  }

  /// Restores the gates from before a restart. A page that is not there any more leaves its gate
  /// closed.
  func restore(_ record: SessionGates.GatesRecord) {
    for gate in record.open { gates.restore(open: gate) }
    for (name, page) in record.pages {
      guard let gate = resolver.snapshot.gate(named: name) else { continue }
      let number = makeCallNumber()
      guard pages.restore(number, openerOf: page) else { continue }
      gates.restore(gate, page: page, call: number)
      beginGateCall(number, gate)?.work = .page(page)
    }
  }

  private func beginGateCall(_ number: CallNumber, _ gate: Gate) -> ActiveCall? {
    let call = beginCall(
      number, .open, AppCaller(rights: appRights, receiver: .gate(gate.name)), timeout: nil)
    call?.uri = gate.target.text
    return call
  }

  private func perform(_ effects: [SessionGates.GateEffect]) {
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: SessionGates.GateEffect) {
    switch effect {
    case .recordChange: journal?.recordChange(.gates)
    case .report(let gate, let isOpen):
      events.emit(.session, .gateChanged(GateChange(gate: gate, open: isOpen)), by: nil)
    case .ask(let gate, let uri):
      // The call may end at once, which has effects of its own.
      loop.execute { [weak self] in self?.assumeIsolated { $0.makeCall(of: gate, for: uri) } }
    case .cancel(let call): stop(call, .cancelled)
    case .proceed(let number, let needed):
      guard let call = call(number), let callResolution = call.resolution else { return }
      resume(call, callResolution, .intercepted(.gates(needed, params: nil)))
    case .refuse(let number, let error):
      guard let call = call(number), let callResolution = call.resolution else { return }
      resume(call, callResolution, .failed(error))
    case .openLinks(let gate): openDeepLinks(waitingAt: gate)
    case .refuseLinks(let gate, let error): refuseDeepLinks(waitingAt: gate, error)
    }
  }

  private func makeCall(of gate: Gate, for uri: String) {
    let number = makeCallNumber()
    guard gates.callBegan(number, at: gate.name), let call = beginGateCall(number, gate) else {
      return
    }
    let options = SessionCallOptions(
      rights: appRights, params: gate.params,
      exts: ["gate": RecordCoder.value(of: ["name": gate.name, "uri": uri])], style: gate.style,
      passesGates: true)
    run(.route(.open, uri: gate.target.text, options), call)
  }
}
