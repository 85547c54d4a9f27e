import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// Tells those who watch what happens in one session. Asked only while somebody does. Belongs to its
/// ``Session``'s isolation.
struct InspectorSink {
  private let session: String
  private let watch: Watch
  private let loop: any EventLoop
  private let members: SessionClients
  private let guide: SessionDestinationResolver

  init(
    of session: String, _ environment: SessionEnvironment, members: SessionClients,
    guide: SessionDestinationResolver
  ) {
    self.session = session
    watch = environment.watch
    loop = environment.loop
    self.members = members
    self.guide = guide
  }

  private func record(
    _ type: String, at start: UInt64, _ client: String?, _ more: ValueObject
  ) -> InspectorRecord {
    var told: ValueObject = [
      "type": .string(type), "at": watch.at(start), "session": .string(session),
    ]
    told["client"] = client.map(Value.string)
    told.merge(more)
    return InspectorRecord(session: session, client: client, members: told)
  }

  private func tell(_ client: String?, _ record: () -> InspectorRecord) {
    watch.tell(session, client, record())
  }

  private func tell(
    _ type: String, at start: UInt64, _ client: String?, _ more: @autoclosure () -> ValueObject
  ) {
    watch.tell(session, client, record(type, at: start, client, more()))
  }

  private func elapsed(since start: UInt64) -> UInt64 {
    let now = loop.nanoseconds
    return now > start ? now - start : 0
  }
}

// Calls.
extension InspectorSink {
  /// A call of a client has begun to wait.
  func began(
    _ note: CallTrace, _ number: CallNumber, _ start: UInt64, _ address: ReplyHandle
  ) {
    guard watch.isOn else { return }
    note.number = number
    watch.began(note, session, address.client.name) { [self] note in
      var said = record(
        "call", at: start, address.client.name, about(note, address).with("state", "waits"))
      said.params = note.params?.withoutTokens(of: note.method)
      return said
    }
  }

  /// A call of a client has its answer.
  func answered(
    _ note: CallTrace, _ answer: Result<Answer, CallError>, of address: ReplyHandle,
    after time: UInt64
  ) {
    note.isEnded = true
    guard watch.isOn else { return }
    end(
      note, answer, address.client.name, about(note, address), elapsed: time,
      address.client.rights.caller)
  }

  /// What a call of Swift code is noted by, which is told with its end.
  func note(of entry: Entry, _ number: CallNumber) -> CallTrace {
    CallTrace(entry.method.name, number: number, at: loop.nanoseconds)
  }

  /// A call of Swift code has its answer. One that is about no URI shows in what was asked for it.
  func ended(_ call: CallInFlight, _ answer: Result<Answer, CallError>) {
    guard watch.isOn, let note = call.caller.note, let uri = call.uri else { return }
    note.isEnded = true
    let about: ValueObject = [
      "method": .string(note.method), "uri": .string(uri), "call": .integer(Int64(call.number)),
    ]
    end(
      note, answer, nil, about, elapsed: elapsed(since: note.start), call.rights?.caller, uri: uri)
  }

  /// What is known of a client's call from its beginning.
  private func about(_ note: CallTrace, _ address: ReplyHandle) -> ValueObject {
    var members: ValueObject = [
      "id": address.isSilent ? .null : address.id.value, "method": .string(note.method),
    ]
    members["name"] = address.client.software.name.map(Value.string)
    if address.isSilent { members["notification"] = true }
    members["uri"] = note.uri.map(Value.string)
    members["call"] = note.number.map { .integer(Int64($0)) }
    members["from"] = (note.params?["from"]?.string ?? address.client.page).map(Value.string)
    members["route"] = note.route.map(Value.string)
    members["host"] = note.host.map(Value.string)
    members["page"] = (note.page ?? note.params?["page"]?.string).map(Value.string)
    return members
  }

  private func end(
    _ note: CallTrace, _ answer: Result<Answer, CallError>, _ client: String?, _ about: ValueObject,
    elapsed time: UInt64, _ caller: Caller?, uri: String? = nil
  ) {
    var about = about
    if let uri = note.uri ?? uri, isAboutRoute(note.method) {
      let said = try? guide.look(up: uri, [:], checking: false, for: caller)
      let route = note.route ?? said?.route?.name
      about["route"] = route.map(Value.string)
      if about["host"] == nil, case .success = answer { about["host"] = "server" }
      watch.count(route ?? "", code: answer.code, nanoseconds: time)
    }
    tell(client) { ended(note, answer, client, about, time) }
  }

  private func isAboutRoute(_ method: String) -> Bool {
    method == "router.open" || method == "router.invoke"
  }

  private func ended(
    _ note: CallTrace, _ answer: Result<Answer, CallError>, _ client: String?, _ about: ValueObject,
    _ time: UInt64
  ) -> InspectorRecord {
    var about = about
    about["ms"] = .milliseconds(time)
    about["code"] = .integer(Int64(answer.code))
    let params = note.params?.withoutTokens(of: note.method)
    let result: Value
    switch answer {
    case .success(.document): result = "…"
    case .success(let answer):
      result = answer.value.withoutTokens(of: note.method)
      if case .outcome(let outcome) = answer { about["outcome"] = .string(outcome.kind.rawValue) }
    case .failure(let error):
      result = error.value
      about["error"] = .string(error.message)
    }
    return exchange(
      "call", at: loop.nanoseconds &- time, client, about, (params, params?.jsonSize ?? 0), result)
  }

  /// The record of a request with its answer.
  private func exchange(
    _ type: String, at start: UInt64, _ client: String?, _ about: ValueObject,
    _ params: (value: Value?, bytes: Int), _ result: Value
  ) -> InspectorRecord {
    var about = about
    about["paramsBytes"] = .integer(Int64(params.bytes))
    about["resultBytes"] = .integer(Int64(result.jsonSize))
    var record = record(type, at: start, client, about)
    record.params = params.value
    record.result = result
    return record
  }
}

// What is asked of clients, and interceptors.
extension InspectorSink {
  /// A request to a client has its answer, or will have none.
  func ended(
    _ method: String, _ note: RequestTrace, _ result: Result<Value, CallError>, of client: Client
  ) {
    let time = elapsed(since: note.start)
    var about: ValueObject = [
      "id": note.id.value, "method": .string(method), "ms": .milliseconds(time),
    ]
    about["name"] = client.software.name.map(Value.string)
    about["call"] = note.call.map { .integer(Int64($0)) }
    about["page"] = note.page.map(Value.string)
    about["uri"] = note.uri.map(Value.string)
    let answer: Value
    switch result {
    case .success(let value): (about["code"], answer) = (0, value)
    case .failure(let error):
      (about["code"], answer) = (.integer(Int64(error.code)), error.value)
      about["error"] = .string(error.message)
    }
    tell(client.name) {
      exchange("ask", at: note.start, client.name, about, (note.params, note.paramsBytes), answer)
    }
  }

  /// Interceptors that do not answer at once, and were asked at `start`, have decided on a call.
  func judged(
    _ call: CallInFlight, by names: [String], _ verdict: InterceptorChain.Verdict,
    since start: UInt64
  ) {
    guard watch.isOn else { return }
    var about: ValueObject = [
      "names": .list(names.map(Value.string)), "call": .integer(Int64(call.number)),
      "verdict": .string(verdict.name), "ms": .milliseconds(elapsed(since: start)),
    ]
    about["uri"] = call.uri.map(Value.string)
    tell("interceptors", at: start, call.caller.client?.name, about)
  }
}

// Pages and clients.
extension InspectorSink {
  func saw(_ happening: Happening, by caller: Caller?) {
    let now = loop.nanoseconds
    switch happening {
    case .pageAsked(let page): tell(page, "asked", by: caller)
    case .pageOpened(let page, let time):
      tell(page, "opened", by: caller, ["ms": .milliseconds(time.nanoseconds)])
    case .pageResumed(let page): tell(page, "resumed", by: caller)
    case .pageClosed(let page, let outcome, let time):
      tell(
        page, "closed", by: caller,
        ["ms": .milliseconds(time.nanoseconds), "outcome": .string(outcome.kind.rawValue)])
    case .pageFailed(let page, let error, let time):
      tell(
        page, "failed", by: caller,
        [
          "ms": .milliseconds(time.nanoseconds), "code": .integer(Int64(error.code)),
          "error": .string(error.message),
        ])
    case .joined(let client, let name, _, _):
      var about: ValueObject = ["event": "joined"]
      about["name"] = name.map(Value.string)
      about["page"] = members.named(client)?.page.map(Value.string)
      if members.named(client)?.rights.caller.isGuest == true { about["guest"] = true }
      tell("client", at: now, client, about)
    case .left(let client, let code):
      tell("client", at: now, client, Self.event("left", code))
    case .away(let client, let code):
      tell("client", at: now, client, Self.event("away", code))
    case .back(let client):
      let since = members.named(client)?.absentSince ?? now
      tell("client", at: now, client, ["event": "back", "ms": .milliseconds(now &- since)])
    case .gaveUp(let client):
      tell("client", at: now, client, ["event": "gaveUp"])
    case .hostSilent(let client, let method):
      tell("client", at: now, client, ["event": "silent", "method": .string(method)])
    case .ended: tell("session", at: now, nil, ["event": "ended"])
    case .restored, .unreadable, .notRestored, .takenOver, .handedOver, .taskStarted, .taskEnded,
      .taskDeclined,
      .handlerAnswered, .routeFailed, .attemptFailed, .called, .threw:
      break
    }
  }

  /// A client hosts something else from now on.
  func hosts(_ client: Client) {
    let hosts = guide.hosts.definitions(of: client.id).map(\.value)
    tell(
      "client", at: loop.nanoseconds, client.name,
      ["event": "hosts", "hosts": .list(hosts)])
  }

  private static func event(_ name: String, _ code: UInt16?) -> ValueObject {
    var about: ValueObject = ["event": .string(name)]
    about["code"] = code.map { .integer(Int64($0)) }
    return about
  }

  private func tell(
    _ page: Page, _ event: String, by caller: Caller?, _ more: ValueObject = [:]
  ) {
    var about: ValueObject = [
      "event": .string(event), "page": .string(page.id), "uri": .string(page.uri),
      "host": .string(page.host), "style": .string(page.style.rawValue),
    ]
    about["route"] = page.route.map(Value.string)
    about["by"] = caller?.client.map { .string($0.id) }
    about.merge(more)
    tell("page", at: loop.nanoseconds, nil, about)
  }
}

extension Result<Answer, CallError> {
  fileprivate var code: Int {
    if case .failure(let error) = self { error.code } else { 0 }
  }
}

extension InterceptorChain.Verdict {
  fileprivate var name: String {
    switch self {
    case .pass: "pass"
    case .changed: "changed"
    case .redirect: "redirect"
    case .refused: "refused"
    case .failed: "failed"
    }
  }
}

extension Duration {
  fileprivate var nanoseconds: UInt64 { UInt64(max(self / .nanoseconds(1), 0)) }
}

extension ValueObject {
  fileprivate func with(_ name: String, _ value: Value) -> ValueObject {
    var members = self
    members[name] = value
    return members
  }
}
