import WayNavigation
import WayRouting
import WayTransport
import WayValues

// Operations of the app in the sessions of this server, outside of a client's call.
extension SessionServer {
  /// Opens a page, or runs a task, in each session of an audience. Returns when each page is shown,
  /// and each task is done or rejected.
  func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, carrying: [String: any Sendable] = [:]
  ) async -> [Delivery<OpenedPage>] {
    let attachments = RouterAttachments(carrying)
    return await gather(audience) { loopSessions in
      await loopSessions.open(
        uri, params, exts: exts, style: style, in: audience, timeout: timeout, attachments)
    }
  }

  /// Calls a method of one page, whichever client or handler responds for it.
  func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration
  ) async throws(CallError) -> Value {
    try await loopSessions(ofLive: session).call(
      page: page, in: session, method, params, timeout: timeout)
  }

  /// The sessions of an audience as they are now.
  func sessions(_ audience: Audience) async -> [SessionInfo] {
    await gather(audience) { await $0.sessions(audience) }
  }

  /// Adds a session to a group. Fails with 2404 if there is no such session.
  func add(session: String, toGroup group: String) async throws(CallError) {
    try await loopSessions(ofLive: session).add(session: session, toGroup: group)
  }

  /// Removes a session from a group; nothing happens if it is not in it. Fails with 2404 if there
  /// is no such session.
  func remove(session: String, fromGroup group: String) async throws(CallError) {
    try await loopSessions(ofLive: session).remove(session: session, fromGroup: group)
  }

  private func loopSessions(ofLive session: String) throws(CallError) -> LoopSessions {
    guard let loopSessions = loopSessions(ofSession: session) else {
      throw LoopSessions.sessionNotFound(session)
    }
    return loopSessions
  }

  /// Keeps a deep link for the next session of its audience that can open it. Fails with 2429 if
  /// too many links are pending.
  func enqueue(_ link: DeepLink, for audience: Audience, by rights: Rights?) async throws(CallError)
  {
    try unclaimedLinks.withLock { (links) throws(CallError) in
      try links.add(link, for: audience, by: rights, at: configuration.now())
    }
    // Such a session may have been opened in the meantime.
    for loopSessions in sessionsByLoop(for: audience) { await loopSessions.offerDeepLinks() }
  }
}

// Pushes to sessions, by the app or by a client of another session.
extension SessionServer {
  /// Carries out a push in each session of this server, or for each client. Fails if it cannot begin
  /// at all. `rights` are nil for the app.
  func push(
    _ push: SessionPush, by rights: Rights?, into collector: PushCollector
  ) async throws(CallError) {
    switch push.action {
    case .open, .invoke, .pageCall, .edit: await run(push, by: rights, into: collector)
    case .client(let method):
      guard !MethodTable.isReserved(method) else {
        throw .invalidParams(
          "The protocol reserves the method name \(method.quoted); choose another name")
      }
      await run(push, by: rights, into: collector)
    case .deliver(let link):
      await deliver(link, to: push.audience, by: rights, into: collector)
    case .event(let topic, let data, let retain):
      let key = push.keyName(by: rights).map { (name: $0, request: push.request) }
      collector.add(
        try await publish(topic, data, to: push.audience, retain: retain, once: key))
    }
  }

  private func run(
    _ push: SessionPush, by rights: Rights?, into collector: PushCollector
  ) async {
    _ = await gather(push.audience) { loopSessions -> [Void] in
      await loopSessions.push(
        push, by: rights?.transferred(to: loopSessions.policy), into: collector)
      return []
    }
  }

  /// Delivers a deep link to every session of an audience that has hosts or can open it.
  private func deliver(
    _ link: DeepLink, to audience: Audience, by rights: Rights?, into collector: PushCollector
  ) async {
    let copies = DeepLinkCopies()
    _ = await gather(audience) { loopSessions -> [Void] in
      await loopSessions.deliver(
        link, to: audience, by: rights?.transferred(to: loopSessions.policy), copies,
        into: collector)
      return []
    }
  }

  /// Whether a session of an audience has received another push under the key of this one.
  func conflicts(_ push: SessionPush, by rights: Rights?) async -> Bool {
    guard push.key != nil else { return false }
    let request = push.request
    return await gather(push.audience) { loopSessions in
      [await loopSessions.conflicts(push, request, by: rights)]
    }.contains(true)
  }
}

extension Delivery<Value> {
  /// Decodes an entry in the result of `session.push`; `nil` if it is not about a session.
  init?(peerValue: Value) {
    guard let session = peerValue["session"]?.string else { return nil }
    let result: Result<Value, CallError> =
      if let error = peerValue["error"] {
        .failure(CallError(peerValue: error))
      } else if peerValue["state"] == "waiting" {
        .failure(
          CallError(
            .hostAbsent, "The client has lost its connection; it gets the request when it is back",
            kind: "waiting", data: ["retryable": false]))
      } else {
        .success(peerValue["result"] ?? .null)
      }
    self.init(
      session: session, client: peerValue["client"]?.string,
      result: result.mapError(\.markedFromNestedCall))
  }
}
