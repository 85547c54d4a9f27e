import Synchronization
import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// The events of one session, which hooks, subscribers, the log and the metrics receive. Belongs to
/// its ``Session``'s isolation.
final class SessionEvents {
  /// The subscribers of events. Checked with every call, and runs no foreign code.
  @exclusivity(unchecked) var subscribers: Subscribers
  /// The events that the session's clients publish.
  private var publications: SessionPublications
  private let session: String
  private let environment: SessionEnvironment
  private let inspector: Inspector
  private let clients: SessionClients
  private let clientWriter: ClientWriter
  private let resolver: SessionDestinationResolver
  /// Sends records to the inspectors. Created on demand, because most sessions have no inspector.
  private var inspectorSink: InspectorSink {
    InspectorSink(of: session, environment, clients: clients, resolver: resolver)
  }
  /// The kinds of events that have observers outside of the session.
  private let observedKinds: ObservedEventKinds

  init(
    of session: String, _ environment: SessionEnvironment, _ subscribers: Subscribers,
    clients: SessionClients, clientWriter: ClientWriter, resolver: SessionDestinationResolver
  ) {
    self.session = session
    self.environment = environment
    inspector = environment.inspector
    self.subscribers = subscribers
    publications = SessionPublications(environment.limits)
    self.clients = clients
    self.clientWriter = clientWriter
    self.resolver = resolver
    observedKinds = environment.observedKinds
  }

  /// Whether events of a kind have any observer.
  func isObserved(_ kind: SessionEvent.EventKinds) -> Bool {
    subscribers.kinds.contains(kind) || observedKinds.all.contains(kind)
      || SessionEvent.EventKinds.hooks.contains(kind) && resolver.snapshot.hasHooks
  }

  /// Emits an event to all its observers; only a check if there are none. `caller` is the caller
  /// that the event is about; `nil` for the app, or if it is about the whole session.
  @inline(__always)
  func emit(
    _ kind: SessionEvent.EventKinds, _ event: @autoclosure () -> SessionEvent,
    by caller: @autoclosure () -> Caller?
  ) {
    // Inlined into the caller, so that nothing is copied for an event without observers.
    if isObserved(kind) { emit(kind, event: event(), by: caller()) }
  }

  private func emit(
    _ kind: SessionEvent.EventKinds, event: SessionEvent, by caller: Caller?
  ) {
    if observedKinds.inspector.contains(kind) { inspectorSink.receive(event, by: caller) }
    if subscribers.kinds.union(observedKinds.app).contains(kind),
      let (topic, data) = event.systemEvent
    {
      publish(topic, data, kind, about: event.subject, by: event.addsURI ? nil : caller)
    }
    let snapshot = resolver.snapshot
    if snapshot.hasHooks, let routeEvent = event.routeEvent {
      snapshot.notifyHooks(routeEvent, caller ?? Caller(session: session))
    }
    if observedKinds.sink.contains(kind) {
      environment.eventSink.emit(session, event, caller.flatMap(EventClient.init))
    }
  }

  /// Sends an event to its subscribers. `caller` has named the URI that the event is about, or is the
  /// client that the event is about.
  private func publish(
    _ topic: SystemTopic, _ data: ValueObject, _ kind: SessionEvent.EventKinds,
    about subject: SessionEvent.Subject?, by caller: Caller?
  ) {
    let event = makeEvent(topic, data)
    if observedKinds.app.contains(kind) { environment.owner.deliverEvent(event) }
    guard subscribers.kinds.contains(kind),
      let bytes = clientWriter.encodeNotification("event", event.value)
    else { return }
    var redacted: [UInt8]?
    for (id, subscriptions) in subscribers.clients where subscriptions.matches(topic.rawValue) {
      guard let client = clients[id], mayReceive(kind, about: subject, client, from: caller) else {
        continue
      }
      guard let subject, client.name != caller?.client?.id, isHidden(subject, from: client.rights)
      else {
        clientWriter.deliver(bytes, to: client)
        continue
      }
      if redacted == nil {
        redacted = clientWriter.encodeNotification(
          "event", makeEvent(topic, subject.redacted(data)).value)
      }
      if let redacted { clientWriter.deliver(redacted, to: client) }
    }
  }

  /// Whether a client may receive an event. The events contain data of other clients, which a guest may
  /// not see; it receives the visibility of its own pages. No client receives events about itself.
  private func mayReceive(
    _ kind: SessionEvent.EventKinds, about subject: SessionEvent.Subject?, _ client: Client,
    from caller: Caller?
  ) -> Bool {
    if case .client(let name) = subject, name == client.name { return false }
    guard client.rights.caller.isGuest else { return true }
    guard kind == .visibility, case .page(let page) = subject else { return false }
    return page.id == client.page || page.host == client.name || client.name == caller?.client?.id
  }

  /// Whether the policy denies that a client sees a page on the stack, opens or runs the target of
  /// another's call, or asks for the other clients.
  private func isHidden(_ subject: SessionEvent.Subject, from rights: Rights) -> Bool {
    switch subject {
    case .page(let page): return resolver.denial(of: .stack, about: page, to: rights) != nil
    case .call(let uri):
      let resolution = try? resolver.resolve(uri, [:], checking: false, for: rights.caller)
      return resolution.map { rights.denial(ofOpening: $0) != nil } ?? false
    case .client: return (try? rights.authorize(ClientPresence.method)) == nil
    }
  }

  /// Sends one client an event that concerns no other client.
  func send(_ topic: SystemTopic, _ data: ValueObject, to client: Client) {
    clientWriter.notify(client, "event", makeEvent(topic, data).value)
  }

  private func makeEvent(_ topic: SystemTopic, _ data: ValueObject) -> BridgeEvent {
    var fields: ValueObject = ["session": .string(session)]
    fields.merge(data)
    return BridgeEvent(topic: topic.rawValue, data: .object(fields), at: environment.now())
  }

  /// Delivers an event to the clients that were subscribed to its topic when it was published, or
  /// only to the client with the given name. Returns whom it has reached.
  func deliver(_ event: PublishedEvent, only name: String? = nil) -> EventReach {
    var reach = EventReach.noSubscriber
    for (id, subscriptions) in subscribers.clients where subscriptions.matches(event) {
      guard let client = clients.sender(id), name?.isSameUTF8(as: client.name) != false else {
        continue
      }
      if !client.isDisconnected {
        reach = .subscriber
      } else if reach == .noSubscriber {
        reach = .absentSubscriber
      }
      clientWriter.deliver(event.message, to: client)
    }
    return reach
  }
}

// Events that clients of the session publish.
extension SessionEvents {
  /// Sends an event of a client to the subscribers of its topic, and keeps it as the last of `count`
  /// events of the topic for later subscribers; not if that is 0. With `clears`, removes the earlier
  /// ones of the clients. Throws 2413 for an event that is too
  /// large, and 2429 if the client publishes too often or the session has no room to retain it.
  func publish(
    _ topic: String, _ data: Value, retain count: Int, clears: Bool, by client: Client
  ) throws(CallError) -> EventReceipt {
    let event = BridgeEvent(
      topic: topic, data: data, at: environment.now(), session: session, client: client.name)
    guard let message = clientWriter.encodeNotification("event", event.value) else {
      throw CallError(.tooLarge, "The event cannot be sent: its data nests too deep")
    }
    let limit = min(
      environment.limits.maxAnswer, count > 0 ? SessionPublications.maxRetained.bytes : .max)
    guard message.count <= limit else {
      throw CallError(
        .tooLarge, "The event has \(message.count) bytes, more than \(limit)",
        data: ["limit": .integer(Int64(limit))])
    }
    let charge = count > 0 ? try retentionCharge(message.count) : nil
    try publications.charge(
      message.count, &client.calls.publishAllowance, at: environment.loop.nanoseconds)
    let published = PublishedEvent(
      number: environment.owner.makeEventNumber(), topic: topic, message: message)
    if clears { forget(topic) }
    if let charge { publications.retain(published, in: session, last: count, charge) }
    environment.owner.deliverEvent(event)
    var receipt = EventReceipt()
    for (id, subscriptions) in subscribers.clients where subscriptions.matches(topic) {
      guard let receiver = clients[id] else { continue }
      if receiver.isDisconnected { receipt.waiting += 1 } else { receipt.delivered += 1 }
      clientWriter.deliver(message, to: receiver)
    }
    return receipt
  }

  private func retentionCharge(_ byteCount: Int) throws(CallError) -> ByteBudget.Charge {
    do { return try clients.budget.charge(byteCount) } catch {
      throw CallError(error, for: byteCount)
    }
  }

  /// The retained events of clients whose topics are wanted, in no order.
  func retainedEvents(where isWanted: (String) -> Bool) -> [PublishedEvent] {
    publications.retained.events { topic, _ in isWanted(topic) }
  }

  /// Removes the retained events of clients of a topic.
  func forget(_ topic: String) { publications.forget(topic, in: session) }
}

extension SessionEvents {
  private static let failureCount = Atomic(0)

  /// Returns the error that a caller gets when Swift code has thrown `error`. An error that is not
  /// meant for callers is emitted under a number, and `caller` gets only the number.
  func reportThrown(_ error: any Error, by caller: Caller) -> CallError {
    if let callError = CallError(thrown: error) { return callError }
    let number = Self.failureCount.add(1, ordering: .relaxed).newValue
    emit(.fault, .handlerThrew(number: number, error), by: caller)
    return CallError(
      .internal, "The task failed; the server's log has the reason under the number \(number)",
      data: ["failure": .integer(Int64(number))])
  }

  /// Reports a result that does not fit its declaration, also to the client that has returned it,
  /// unless the request of that client fails with the same faults.
  func report(_ report: InvalidResultReport) {
    environment.invalidResults.withLock { $0[report.source, default: 0] += 1 }
    let client = clients.named(report.host)
    emit(.fault, .resultInvalid(report), by: client?.rights.caller)
    guard let client, report.source != .page || !report.isRejected else { return }
    send(.routeInvalidResult, report.value, to: client)
  }

  /// Records the result of a call. `code` is the code of an error, or `nil`. `callStart` is the
  /// start of a call that did not complete at once.
  func recordResponse(
    _ code: Int?, of handle: ReplyHandle, _ callStart: CallStart?,
    _ result: () -> Result<SessionCallResponse, CallError>
  ) {
    let time = environment.meter.record(handle.method, code: code, since: callStart?.start)
    // A trace may be left from the time in which calls were traced.
    guard let trace = callStart == nil ? handle.client.trace : callStart?.trace,
      callStart != nil || inspector.tracesCalls
    else { return }
    recordResponse(trace, code, of: handle, time, result())
  }

  @inline(never)
  private func recordResponse(
    _ trace: CallTrace, _ code: Int?, of handle: ReplyHandle, _ time: UInt64,
    _ result: Result<SessionCallResponse, CallError>
  ) {
    inspectorSink.callEnded(trace, result, of: handle, after: time)
    emit(
      .call,
      .callEnded(
        CallRecord(
          client: handle.client.name, id: handle.id, method: trace.method, uri: trace.uri,
          code: code ?? 0, nanoseconds: time)), by: handle.caller)
  }

  /// Records the refusal of a client's request. `target` is the URI or the page of the request. It
  /// is evaluated only if the refusal has a record. The refusal of a nested call was recorded with
  /// that call.
  @inline(never)
  func recordRefusal(
    _ error: CallError, of method: SessionCallMeter.MethodIndex?,
    about target: @autoclosure () -> String?, by caller: Caller
  ) {
    guard !error.isFromNestedCall, let auditTrail = environment.auditTrail,
      let client = EventClient(caller)
    else { return }
    let method = method.flatMap { $0 == environment.meter.other ? nil : $0 }
    auditTrail.recordThrottled(
      AuditRecord(
        refusing: method.map { environment.meter.names[Int($0)] }, with: error, by: client),
      about: target())
  }

  /// Reports that a call has reached neither a page nor a task.
  func emitRouteFailure(_ uri: @autoclosure () -> String?, _ error: CallError, by caller: Caller) {
    guard isObserved(.route), let uri = uri() else { return }
    emit(.route, .routeFailed(uri: RouteURI.normalForm(of: uri), error), by: caller)
  }

  /// Reports that a change of the stack or a call of a page was rejected or has failed.
  func emit(failed attempt: SessionFailedOperation?, _ error: CallError) {
    guard let attempt else { return }
    emit(.route, .operationFailed(attempt, error), by: attempt.caller)
  }

  /// Reports the start of a task, under a number of the session's calls. Returns `nil` if task
  /// events are not observed.
  func emitTaskStart(
    of uri: @autoclosure () -> RouteURI, _ route: @autoclosure () -> Route?, by caller: Caller,
    _ number: () -> CallNumber
  ) -> TaskStart? {
    guard isObserved(.task) else { return nil }
    let task = TaskStart(
      number: number(), uri: uri().text, route: route()?.name, caller: caller,
      startTime: environment.loop.nanoseconds)
    emit(.task, .taskStarted(task), by: caller)
    return task
  }

  /// Reports the end of a task; `error` is `nil` if it has returned a value.
  func emitTaskEnd(of task: TaskStart, _ error: CallError?) {
    emit(
      .task, .taskEnded(task, error: error, after: elapsed(since: task.startTime)), by: task.caller)
  }

  /// Returns the time since `start`, which is in nanoseconds of the loop's clock.
  func elapsed(since start: UInt64) -> Duration {
    .nanoseconds(Int64(clamping: environment.loop.nanoseconds &- start))
  }
}

// The traces of calls and of requests to clients, which are reported when they end. Without an observer
// of calls there is none.
extension SessionEvents {
  /// Returns the trace of a client's request, which has become the call with this number and begins to
  /// wait.
  func callStarted(_ number: CallNumber, _ handle: ReplyHandle) -> CallTrace? {
    // Otherwise the trace is one of an earlier request.
    guard inspector.tracesCalls, let trace = handle.client.trace else { return nil }
    inspectorSink.callStarted(trace, number, handle)
    return trace
  }

  /// Returns the trace of a call of Swift code, which begins.
  func callStarted(_ number: CallNumber, of kind: CallKind) -> CallTrace? {
    guard inspector.isActive else { return nil }
    return CallTrace(kind.method.name, number: number, at: environment.loop.nanoseconds)
  }

  /// Records the result of a call of Swift code.
  func callEnded(_ call: ActiveCall, _ result: Result<SessionCallResponse, CallError>) {
    if call.caller.trace != nil { inspectorSink.appCallEnded(call, result) }
  }

  /// Begins the trace of a request that was sent to a client for a call, which is one of this session.
  @inline(__always)
  func traceRequest(
    _ id: RequestID, _ params: Value, to client: Client, for call: @autoclosure () -> CallNumber?
  ) {
    guard inspector.isActive else { return }
    client.pending[id]?.trace = inspector.traceRequest(id, params, for: call())
  }

  /// Records the result of a request to a client.
  @inline(__always)
  func requestEnded(
    _ request: PendingRequest, _ result: Result<Value, CallError>, of client: Client
  ) {
    guard let trace = request.trace else { return }
    inspectorSink.requestEnded(request.method, trace, result, of: client)
  }
}
