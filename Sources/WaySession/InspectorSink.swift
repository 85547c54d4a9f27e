import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Sends the inspectors, if there are any, records of one session: of its calls, its requests to
/// clients, and its events. Belongs to its ``Session``'s isolation.
struct InspectorSink {
  private let session: String
  private let inspector: Inspector
  private let loop: any EventLoop
  private let clients: SessionClients
  private let resolver: SessionDestinationResolver

  init(
    of session: String, _ environment: SessionEnvironment, clients: SessionClients,
    resolver: SessionDestinationResolver
  ) {
    self.session = session
    inspector = environment.inspector
    loop = environment.loop
    self.clients = clients
    self.resolver = resolver
  }

  private func makeRecord(
    _ type: String, at start: UInt64, _ client: String?, _ more: ValueObject
  ) -> InspectorRecord {
    var fields: ValueObject = [
      "type": .string(type), "at": inspector.timestamp(start), "session": .string(session),
    ]
    fields["client"] = client.map(Value.string)
    fields.merge(more)
    return InspectorRecord(session: session, client: client, members: fields)
  }

  private func emit(_ client: String?, _ record: () -> InspectorRecord) {
    inspector.emit(session, client, record())
  }

  private func elapsed(since start: UInt64) -> UInt64 {
    let now = loop.nanoseconds
    return now > start ? now - start : 0
  }
}

extension InspectorSink {
  /// Records that a client's call has begun to wait.
  func callStarted(
    _ trace: CallTrace, _ number: CallNumber, _ handle: ReplyHandle
  ) {
    guard inspector.isActive else { return }
    trace.number = number
    inspector.recordWaiting(trace, session, handle.client.name) { [self] trace in
      var record = makeRecord(
        "call", at: trace.start, handle.client.name,
        describe(trace, handle).adding("state", "waits"))
      record.params = trace.params?.withoutTokens(of: trace.method)
      return record
    }
  }

  /// Records the result of a client's call.
  func callEnded(
    _ trace: CallTrace, _ response: Result<SessionCallResponse, CallError>, of handle: ReplyHandle,
    after time: UInt64
  ) {
    trace.hasEnded = true
    guard inspector.isActive else { return }
    emitCallEnd(
      trace, response, handle.client.name, describe(trace, handle), elapsed: time,
      handle.client.rights.caller)
  }

  /// Records the result of a call of Swift code. A call without a URI is visible only in the
  /// requests that it makes.
  func appCallEnded(_ call: ActiveCall, _ response: Result<SessionCallResponse, CallError>) {
    guard inspector.isActive, let trace = call.caller.trace, let uri = call.uri else { return }
    trace.hasEnded = true
    let about: ValueObject = [
      "method": .string(trace.method), "uri": .string(uri), "call": .integer(Int64(call.number)),
    ]
    emitCallEnd(
      trace, response, nil, about, elapsed: elapsed(since: trace.start), call.rights?.caller,
      uri: uri)
  }

  /// Returns the properties of a client's call that are known from its start.
  private func describe(_ trace: CallTrace, _ handle: ReplyHandle) -> ValueObject {
    var members: ValueObject = [
      "id": handle.isNotification ? .null : handle.id.value, "method": .string(trace.method),
    ]
    members["name"] = handle.client.software.name.map(Value.string)
    if handle.isNotification { members["notification"] = true }
    members["uri"] = trace.uri.map(Value.string)
    members["call"] = trace.number.map { .integer(Int64($0)) }
    members["from"] = (trace.params?["from"]?.string ?? handle.client.page).map(Value.string)
    members["route"] = trace.route.map(Value.string)
    members["host"] = trace.host.map(Value.string)
    members["page"] = (trace.page ?? trace.params?["page"]?.string).map(Value.string)
    return members
  }

  private func emitCallEnd(
    _ trace: CallTrace, _ response: Result<SessionCallResponse, CallError>, _ client: String?,
    _ about: ValueObject,
    elapsed time: UInt64, _ caller: Caller?, uri: String? = nil
  ) {
    var about = about
    if let uri = trace.uri ?? uri, isRouterCall(trace.method) {
      let resolution = try? resolver.resolve(uri, [:], checking: false, for: caller)
      let route = trace.route ?? resolution?.route?.name
      about["route"] = route.map(Value.string)
      if about["host"] == nil, case .success = response { about["host"] = "server" }
      inspector.recordCall(route ?? "", code: response.code, nanoseconds: time)
    }
    emit(client) { callRecord(trace, response, client, about, time) }
  }

  private func isRouterCall(_ method: String) -> Bool {
    method == "router.open" || method == "router.invoke"
  }

  private func callRecord(
    _ trace: CallTrace, _ response: Result<SessionCallResponse, CallError>, _ client: String?,
    _ about: ValueObject,
    _ time: UInt64
  ) -> InspectorRecord {
    var about = about
    about["ms"] = .milliseconds(time)
    about["code"] = .integer(Int64(response.code))
    let params = trace.params?.withoutTokens(of: trace.method)
    let result: Value
    switch response {
    case .success(.openRPCDocument): result = "…"
    case .success(let response):
      result = response.value.withoutTokens(of: trace.method)
      if case .outcome(let outcome) = response { about["outcome"] = .string(outcome.kind.rawValue) }
    case .failure(let error):
      result = error.value
      about["error"] = .string(error.message)
    }
    return exchangeRecord(
      "call", at: trace.start, client, about, (params, params?.jsonSize ?? 0), result)
  }

  /// Returns the record of a request with its response.
  private func exchangeRecord(
    _ type: String, at start: UInt64, _ client: String?, _ about: ValueObject,
    _ params: (value: Value?, bytes: Int), _ result: Value
  ) -> InspectorRecord {
    var about = about
    about["paramsBytes"] = .integer(Int64(params.bytes))
    about["resultBytes"] = .integer(Int64(result.jsonSize))
    var record = makeRecord(type, at: start, client, about)
    record.params = params.value
    record.result = result
    return record
  }
}

extension InspectorSink {
  /// Records that a request to a client has its response, or will get none.
  func requestEnded(
    _ method: String, _ trace: RequestTrace, _ result: Result<Value, CallError>, of client: Client
  ) {
    let time = elapsed(since: trace.start)
    var about: ValueObject = [
      "id": trace.id.value, "method": .string(method), "ms": .milliseconds(time),
    ]
    about["name"] = client.software.name.map(Value.string)
    about["call"] = trace.call.map { .integer(Int64($0)) }
    about["page"] = trace.page.map(Value.string)
    about["uri"] = trace.uri.map(Value.string)
    let response: Value
    switch result {
    case .success(let value): (about["code"], response) = (0, value)
    case .failure(let error):
      (about["code"], response) = (.integer(Int64(error.code)), error.value)
      about["error"] = .string(error.message)
    }
    emit(client.name) {
      exchangeRecord(
        "ask", at: trace.start, client.name, about, (trace.params, trace.paramsBytes), response)
    }
  }

  /// Records an event of the session, unless it has no record. `caller` is the caller that it is about.
  func receive(_ event: SessionEvent, by caller: Caller?) {
    let now = loop.nanoseconds
    guard let event = InspectedEvent(event, by: caller, among: clients, at: now) else { return }
    emit(event.client) { makeRecord(event.type, at: event.start, event.client, event.members) }
  }
}

extension Result<SessionCallResponse, CallError> {
  fileprivate var code: Int {
    if case .failure(let error) = self { error.code } else { 0 }
  }
}

extension ValueObject {
  fileprivate func adding(_ name: String, _ value: Value) -> ValueObject {
    var members = self
    members[name] = value
    return members
  }
}
