import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Carries out a push in each session of its audience, or for each client.
struct PushOperation: PeerOperation {
  struct PushParams: Codable {
    /// The params of `session.push`.
    let push: Value
    let caller: PeerCaller
    /// The bytes that the entries of the result may have as JSON.
    let maxBytes: Int
  }

  static let method = "peer.push"
  private let push: SessionPush
  /// `nil` for the app.
  private let rights: Rights?
  private let maxBytes: Int

  init(_ push: SessionPush, by rights: Rights?, maxBytes: Int) {
    self.push = push
    self.rights = rights
    self.maxBytes = maxBytes
  }

  init(_ params: PushParams, in context: PeerContext) throws(CallError) {
    let configuration = context.server.configuration
    let pushParams = try Params(params.push, of: "session.push", taking: AdminMethods.pushParams)
    push = try SessionPushReader.push(
      pushParams, configuration.router.snapshot(), configuration.limits)
    rights = try params.caller.rights(validAt: configuration.now())
    maxBytes = max(params.maxBytes, 0)
  }

  var timeout: Duration { push.timeout + SessionDispatch.requestTimeout }

  func makeParams() throws(CallError) -> PushParams {
    let caller = PeerCaller(rights)
    if case .limited = caller { throw .limitedCaller }
    return PushParams(push: push.value, caller: caller, maxBytes: maxBytes)
  }

  func run(in context: PeerContext) async throws(CallError) -> SessionPushResult {
    let collector = PushCollector(maxBytes: maxBytes)
    try await context.server.push(push, by: rights, into: collector)
    return collector.result
  }
}

/// Finds the result of a push to several sessions that a server has carried out under the same key.
struct PushResultQuery: PeerOperation, Codable {
  struct KnownPushResult: Codable {
    /// `nil` if the push is not known, or has not ended.
    var result: SessionPushResult?
    /// Whether the key stands for another push.
    var isConflict = false
  }

  static let method = "peer.pushResult"
  let owner: String
  let audience: Audience
  let key: String
  let request: IdempotentRequest

  func run(in context: PeerContext) -> KnownPushResult {
    let name = SessionPushKeys.PushKey(owner: owner, audience: audience, text: key)
    let now = context.server.configuration.now()
    do throws(CallError) {
      let result = try context.server.pushKeys.withLock { (keys) throws(CallError) in
        try keys.result(of: name, request, at: now)
      }
      return KnownPushResult(result: result)
    } catch {
      return KnownPushResult(isConflict: true)
    }
  }
}

extension SessionDispatch {
  /// Carries out a push in each session, or for each client; once for its key. The details of the
  /// result have at most `maxBytes` as JSON. Fails if it cannot begin at all, and with 2409 if the
  /// key stands for another push.
  func push(
    _ push: SessionPush, by rights: Rights?, maxBytes: Int
  ) async throws(CallError) -> SessionPushResult {
    switch push.action {
    case .deliver(let link): try link.validate()
    case .event(let topic, let data, _): try checkData(data, of: topic)
    case .open, .invoke, .pageCall, .edit, .client: break
    }
    guard let key = push.key, push.audience.session == nil else {
      return try await perform(push, by: rights, maxBytes: maxBytes)
    }
    // A session remembers the key by itself. For several, this server does, since some of them may
    // be new when the push is repeated.
    let name = SessionPushKeys.PushKey(
      owner: Rights.pushKeyOwner(rights), audience: push.audience, text: key)
    let task = try sessionServer.pushKeys.withLock { (keys) throws(CallError) in
      try keys.begin(name, push.request, at: sessionServer.configuration.now()) {
        Task { await performOnce(push, name, by: rights, maxBytes: maxBytes) }
      }
    }
    return try await task.value.get()
  }

  /// Fails with 2422 if the data of an event does not fit its topic, if the table declares that.
  private func checkData(_ data: Value, of topic: String) throws(CallError) {
    guard let declared = sessionServer.configuration.router.snapshot().topics[topic] else { return }
    do { try declared.check(data) } catch { throw CallError(RouterResolutionError(error)) }
  }

  /// Carries out a push to several sessions that is new to this server.
  private func performOnce(
    _ push: SessionPush, _ name: SessionPushKeys.PushKey, by rights: Rights?, maxBytes: Int
  ) async -> Result<SessionPushResult, CallError> {
    let result: Result<SessionPushResult, CallError>
    do throws(CallError) {
      if let known = try await resultAtOtherServer(of: push, name) {
        result = .success(known)
      } else if await sessionServer.conflicts(push, by: rights) {
        throw .keyConflict(name.text)
      } else {
        result = .success(try await perform(push, by: rights, maxBytes: maxBytes))
      }
    } catch {
      result = .failure(error)
    }
    sessionServer.pushKeys.withLock {
      $0.end(name, result, at: sessionServer.configuration.now())
    }
    return result
  }

  /// Returns the result of a push that another server has carried out under the same key. Throws
  /// 2409 if the key stands for another push there.
  private func resultAtOtherServer(
    of push: SessionPush, _ name: SessionPushKeys.PushKey
  ) async throws(CallError) -> SessionPushResult? {
    let query = PushResultQuery(
      owner: name.owner, audience: name.audience, key: name.text, request: push.request)
    for case .success(let known) in await sendToOthers(query).map(\.result) {
      if known.isConflict { throw .keyConflict(name.text) }
      if let result = known.result { return result }
    }
    return nil
  }

  private func perform(
    _ push: SessionPush, by rights: Rights?, maxBytes: Int
  ) async throws(CallError) -> SessionPushResult {
    let operation = PushOperation(push, by: rights, maxBytes: maxBytes)
    let responses = try await send(operation, toServersOf: push.audience)
    if responses.count == 1, case .success(let result)? = responses.first?.result {
      return try await completed(result, of: push, by: rights)
    }
    let collector = PushCollector(maxBytes: maxBytes)
    for response in responses {
      switch response.result {
      case .success(let result): collector.add(result)
      case .failure(let error): collector.add(error, of: response.server)
      }
    }
    return try await completed(collector.result, of: push, by: rights)
  }

  /// Completes the result of a push that has reached no session: a deep link waits for one, and so
  /// does an event that is retained.
  private func completed(
    _ result: SessionPushResult, of push: SessionPush, by rights: Rights?
  ) async throws(CallError) -> SessionPushResult {
    var result = result
    let receipt = result.receipt
    switch push.action {
    case .deliver(let link)
    where receipt.delivered == 0 && receipt.waiting == 0 && !push.audience.isSingleSession:
      // A link that each session has rejected does not wait for another one.
      guard receipt.failed == result.silentServers.count else { break }
      try await sessionServer.enqueue(link, for: push.audience, by: rights)
      cluster?.publishPresence()
      result.receipt.waiting = 1
    case .event(_, _, let retain) where retain > 0:
      result.receipt.waiting += max(receipt.unreachable, receipt.isEmpty ? 1 : 0)
      result.receipt.unreachable = 0
    default:
      if receipt.isEmpty { result.receipt.unreachable = 1 }
    }
    if receipt.isEmpty { reportAbsence(of: push, isWaiting: result.receipt.waiting > 0) }
    return result
  }

  /// Passes a push on to the push service if it is for a user none of whose sessions has received it.
  private func reportAbsence(of push: SessionPush, isWaiting: Bool) {
    let configuration = sessionServer.configuration
    guard let report = configuration.eventSink.awayPush, case .user(let name) = push.audience,
      var away = AwayPush(push, at: configuration.now())
    else { return }
    away.user = name
    away.isWaiting = isWaiting
    report(away)
  }

  /// Calls a method of every client of an audience. A client that has lost its connection fails at
  /// once, and gets the request when it is back.
  package func call(
    _ method: String, _ params: ValueObject, of audience: Audience, timeout: Duration
  ) async throws(CallError) -> [Delivery<Value>] {
    let push = SessionPush(
      audience: audience, action: .client(method), params: params, timeout: timeout,
      method: method)
    return try await self.push(push, by: nil, maxBytes: .max).entries.compactMap(
      Delivery.init(peerValue:))
  }

  /// Calls a method of one page, whichever client or handler responds for it.
  package func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration
  ) async throws(CallError) -> Value {
    guard case .server = try await location(of: session) else {
      return try await sessionServer.call(page: page, in: session, method, params, timeout: timeout)
    }
    let push = SessionPush(
      audience: .session(session), action: .pageCall(page: page, method: method), params: params,
      timeout: timeout, method: "page.call")
    let result = try await self.push(push, by: nil, maxBytes: .max).entries.first
    guard let delivery = result.flatMap(Delivery.init(peerValue:)) else {
      throw LoopSessions.sessionNotFound(session)
    }
    return try delivery.result.get()
  }

  /// Delivers a deep link to every session of an audience that has hosts or can open it. If there
  /// is none yet, the next session of the audience that registers a matching host receives the
  /// link. If that session ends before it has opened the link, the link is pending again.
  ///
  /// Fails with -32602 for a string that is no URI, with 2409 if its key stands for another link, and
  /// with 2429 if too many links are pending.
  @discardableResult
  package func deliver(
    _ link: DeepLink, to audience: Audience
  ) async throws(CallError) -> DeliveryReceipt {
    let push = SessionPush(
      audience: audience, action: .deliver(link), params: [:], timeout: SessionPush.defaultTimeout,
      method: "router.deliver", key: link.key)
    return try await self.push(push, by: nil, maxBytes: 0).linkReceipt
  }

  /// Publishes an event of the app to the clients of an audience that subscribe to its topic, and
  /// keeps the last `retain` events of the topic for later subscribers. Fails with -32602 for a
  /// wrong topic or count, and with 2413 for data that cannot be sent.
  @discardableResult
  package func publish(
    _ topic: String, _ data: Value, to audience: Audience, retain: Int
  ) async throws(CallError) -> DeliveryReceipt {
    let push = SessionPush(
      audience: audience, action: .event(topic: topic, data: data, retain: retain), params: [:],
      timeout: Self.requestTimeout, method: "event")
    return try await self.push(push, by: nil, maxBytes: 0).receipt
  }
}
