import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// The type and the members of the record of a session's event, and the client that it is about.
struct InspectedEvent {
  let type: String
  let members: ValueObject
  let client: String?
  /// When it began, in nanoseconds of the loop's clock.
  let start: UInt64

  private init(
    _ type: String, _ members: ValueObject, client: String? = nil, at start: UInt64
  ) {
    (self.type, self.members, self.client, self.start) = (type, members, client, start)
  }

  /// Returns `nil` if the event has no record. `caller` is the caller that it is about, `clients` are
  /// those of the session, and `now` is the time in nanoseconds of the loop's clock.
  init?(
    _ event: SessionEvent, by caller: Caller?, among clients: SessionClients, at now: UInt64
  ) {
    switch event {
    case .pageRequested(let page): self.init(page, "asked", by: caller, at: now)
    case .pageOpened(let page, let time):
      self.init(page, "opened", by: caller, at: now, ["ms": .milliseconds(time.nanoseconds)])
    case .pageResumed(let page): self.init(page, "resumed", by: caller, at: now)
    case .pageClosed(let page, let outcome, let time):
      self.init(
        page, "closed", by: caller, at: now,
        ["ms": .milliseconds(time.nanoseconds), "outcome": .string(outcome.kind.rawValue)])
    case .pageFailed(let page, let error, let time):
      self.init(
        page, "failed", by: caller, at: now,
        [
          "ms": .milliseconds(time.nanoseconds), "code": .integer(Int64(error.code)),
          "error": .string(error.message),
        ])
    case .joined(let client, _):
      self.init(
        client.client, "joined", at: now,
        [
          "name": client.name.map(Value.string), "page": client.page.map(Value.string),
          "guest": client.guest.map(Value.bool), "agent": client.agent,
        ])
    case .left(let client, let code):
      self.init(client, "left", at: now, ["code": code.map { .integer(Int64($0)) }])
    case .disconnected(let client, let code):
      self.init(client, "away", at: now, ["code": code.map { .integer(Int64($0)) }])
    case .reconnected(let client):
      let since = clients.named(client)?.link.disconnectedAt ?? now
      self.init(client, "back", at: now, ["ms": .milliseconds(now &- since)])
    case .discarded(let client): self.init(client, "gaveUp", at: now)
    case .hostTimedOut(let client, let method):
      self.init(client, "silent", at: now, ["method": .string(method)])
    case .hostsChanged(let client, let hosts):
      self.init(client, "hosts", at: now, ["hosts": .array(hosts)])
    case .interceptorsDecided(let decided): self.init(decided, at: now)
    case .gateChanged(let change):
      var members: ValueObject = ["event": "gate"]
      members.merge(RecordCoder.value(of: change).object ?? [:])
      self.init("session", members, at: now)
    case .ended: self.init("session", ["event": "ended"], at: now)
    case .resultInvalid(let report):
      let client = clients.named(report.host)
      self.init("result", report.value, client: client?.name, at: now)
    case .restored, .unreadable, .restoreFailed, .takenOver, .handedOver, .taskStarted, .taskEnded,
      .taskDeclined, .pageVisibilityChanged, .handlerResponded, .routeFailed, .operationFailed,
      .callEnded, .handlerThrew:
      return nil
    }
  }

  /// An event of a client. Members that are `nil` are left out.
  private init(
    _ client: String, _ event: String, at now: UInt64,
    _ details: KeyValuePairs<String, Value?> = [:]
  ) {
    var members: ValueObject = ["event": .string(event)]
    for (name, value) in details where value != nil { members[name] = value }
    self.init("client", members, client: client, at: now)
  }

  private init(
    _ page: Page, _ event: String, by caller: Caller?, at now: UInt64, _ details: ValueObject = [:]
  ) {
    var members: ValueObject = [
      "event": .string(event), "page": .string(page.id), "uri": .string(page.uri),
      "host": .string(page.host), "style": .string(page.style.rawValue),
    ]
    members["route"] = page.route.map(Value.string)
    members["by"] = caller?.client.map { .string($0.id) }
    members.merge(details)
    self.init("page", members, at: now)
  }

  private init(_ decided: InterceptorsDecision, at now: UInt64) {
    let time = now > decided.startTime ? now - decided.startTime : 0
    var members: ValueObject = [
      "names": .array(decided.names.map(Value.string)), "call": .integer(Int64(decided.call)),
      "verdict": .string(decided.decision.name), "ms": .milliseconds(time),
    ]
    members["uri"] = decided.uri.map(Value.string)
    self.init("interceptors", members, client: decided.client, at: decided.startTime)
  }
}

extension InterceptorChain.ChainDecision {
  fileprivate var name: String {
    switch self {
    case .proceed, .gates(_, params: nil): "pass"
    case .changed, .gates: "changed"
    case .redirect: "redirect"
    case .refused: "refused"
    case .failed: "failed"
    }
  }
}

extension Duration {
  fileprivate var nanoseconds: UInt64 { UInt64(max(self / .nanoseconds(1), 0)) }
}
