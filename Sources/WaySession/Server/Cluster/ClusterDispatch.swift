import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Runs operations of the app, and of administrators, in the sessions of all servers: here, and by
/// requests to the others. Usable from any thread.
package struct ClusterDispatch: Sendable {
  let sessionServer: SessionServer
  private var cluster: ClusterNode? { sessionServer.cluster }

  /// The timeout of requests that another server handles at once.
  static let requestTimeout: Duration = .seconds(10)

  /// The location of sessions.
  enum DispatchTarget {
    case local
    case server(String)
  }

  /// Returns the location of the one session in an audience; nil for sessions of all servers. Fails
  /// with 2503 if the location cannot be found out.
  func target(of audience: Audience) async throws(CallError) -> DispatchTarget? {
    if let session = audience.session { return try await target(of: session) }
    guard let cluster else { return .local }
    if let reason = cluster.rejectionReason {
      throw CallError(
        .unavailable, "The sessions of other servers cannot be found: \(reason.text)")
    }
    return nil
  }

  /// Returns the location of a session; ``DispatchTarget/local`` if it does not exist.
  func target(of session: String) async throws(CallError) -> DispatchTarget {
    guard let cluster, let loop = sessionServer.sessionsByLoop.first?.loop,
      sessionServer.loopSessions(ofSession: session) == nil
    else { return .local }
    switch await cluster.finder.find(session, for: loop) {
    case .local, .notFound: return .local
    case .server(let server): return .server(server)
    case .unknown(let reason):
      throw CallError(.unavailable, "The session \(session.quoted) cannot be reached: \(reason)")
    }
  }

  /// Sends a request to one other server. Fails as ``ClusterNode/request(_:_:within:progress:)``.
  func request(
    _ server: String, _ body: ValueObject, within time: Duration = requestTimeout
  ) async throws(CallError) -> Value {
    guard let cluster else { throw CallError(.unavailable, "This server is not part of a cluster") }
    return try await cluster.request(server, .object(body), within: time)
  }

  /// Sends a request to all other servers at once, and returns the response of each.
  func requestOthers(
    _ body: ValueObject, within time: Duration = requestTimeout
  ) async -> [ClusterNode.PeerResponse] {
    await cluster?.requestOthers(.object(body), within: time) ?? []
  }

  /// Carries out a push in each session, or for each client; once for its key. The details of the
  /// result have at most `maxBytes` as JSON. Fails if it cannot begin at all, and with 2409 if the
  /// key stands for another push.
  func push(
    _ push: SessionPush, by rights: Rights?, maxBytes: Int
  ) async throws(CallError) -> SessionPushResult {
    if case .deliver(let link) = push.action { try link.validate() }
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
    guard cluster != nil else { return nil }
    let responses = await requestOthers([
      "ask": "pushKey", "owner": .string(name.owner), "to": name.audience.value,
      "key": .string(name.text), "request": RecordCoder.value(of: push.request),
    ])
    for case .success(let value) in responses.map(\.result) {
      if value["conflict"] == true { throw .keyConflict(name.text) }
      if let result = value["result"] {
        let collector = PushCollector(maxBytes: .max)
        collector.add(peerValue: result)
        return collector.result
      }
    }
    return nil
  }

  private func perform(
    _ push: SessionPush, by rights: Rights?, maxBytes: Int
  ) async throws(CallError) -> SessionPushResult {
    let collector = PushCollector(maxBytes: maxBytes)
    let target = try await target(of: push.audience)
    if case .local? = target {
      try await sessionServer.push(push, by: rights, into: collector)
    } else {
      let body = try pushRequest(push, by: rights, maxBytes: maxBytes)
      let timeout = push.timeout + Self.requestTimeout
      if case .server(let server)? = target {
        collector.add(peerValue: try await request(server, body, within: timeout))
      } else {
        async let others = requestOthers(body, within: timeout)
        try await sessionServer.push(push, by: rights, into: collector)
        for other in await others {
          switch other.result {
          case .success(let value): collector.add(peerValue: value)
          case .failure(let error): collector.add(error, of: other.server)
          }
        }
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
    return result
  }

  private func pushRequest(
    _ push: SessionPush, by rights: Rights?, maxBytes: Int
  ) throws(CallError) -> ValueObject {
    // The limits of a guest, and the delegation of a caller, are only known here.
    guard rights?.isUndelegated != false else {
      throw .forbidden(
        "cluster",
        "A guest, or a host that acts for its caller, cannot push to sessions of other servers")
    }
    var body: ValueObject = [
      "ask": "push", "push": push.value, "bytes": .integer(Int64(maxBytes)),
    ]
    body["caller"] = rights?.peerValue
    return body
  }

  /// Opens a page, or runs a task, in each session of an audience. Returns when each page is shown,
  /// and each task is done or rejected. Only the sessions of this server receive the attachments in
  /// `carrying`.
  package func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, carrying: [String: any Sendable] = [:]
  ) async throws(CallError) -> [Delivery<OpenedPage>] {
    func openLocally() async -> [Delivery<OpenedPage>] {
      await sessionServer.open(
        uri, params, exts: exts, style: style, in: audience, timeout: timeout, carrying: carrying)
    }
    guard let cluster else { return await openLocally() }
    var body: ValueObject = [
      "ask": "open", "uri": .string(uri), "params": .object(params), "exts": .object(exts),
      "to": audience.value, "timeoutMs": .integer(timeout.milliseconds),
    ]
    body["style"] = style.map { .string($0.rawValue) }
    let servers: [String]
    switch try await target(of: audience) {
    case .local: return await openLocally()
    case .server(let server): servers = [server]
    case nil: servers = cluster.others.map(\.server)
    }
    return await withTaskGroup(of: [Delivery<OpenedPage>].self) { [body] tasks in
      if audience.session == nil { tasks.addTask { await openLocally() } }
      for server in servers {
        tasks.addTask { await RemotePages.open(body, at: server, cluster) }
      }
      return await tasks.reduce(into: []) { $0 += $1 }
    }
  }

  /// Calls a method of every client of an audience.
  package func call(
    _ method: String, _ params: ValueObject, of audience: Audience, timeout: Duration
  ) async throws(CallError) -> [Delivery<Value>] {
    guard cluster != nil else {
      return try await sessionServer.call(method, params, of: audience, timeout: timeout)
    }
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
    guard case .server = try await target(of: session) else {
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

  /// The sessions of an audience as they are now, without those of servers that have not responded.
  package func sessions(_ audience: Audience) async -> [SessionInfo] {
    let target = try? await target(of: audience)
    if case .local? = target { return await sessionServer.sessions(audience) }
    let body: ValueObject = ["ask": "sessions", "of": audience.value]
    if case .server(let server)? = target {
      return Self.sessionInfos((try? await request(server, body)) ?? .null)
    }
    async let others = requestOthers(body)
    return await sessionServer.sessions(audience)
      + (await others).flatMap { Self.sessionInfos((try? $0.result.get()) ?? .null) }
  }

  private static func sessionInfos(_ response: Value) -> [SessionInfo] {
    (response.array ?? []).compactMap { value in
      try? RecordCoder.decode(SessionInfoRecord.self, from: value, "session").info
    }
  }

  /// Returns a page of the sessions of all servers, each as its entry in the result of
  /// `session.list`, without those of servers that have not responded.
  func sessionList(_ query: SessionListQuery) async -> [Value] {
    guard cluster != nil else { return await sessionServer.sessionList(query).entries }
    var body: ValueObject = [
      "ask": "list", "limit": .integer(Int64(query.limit)),
      "bytes": .integer(Int64(query.maxBytes)),
    ]
    body["after"] = query.after.map(Value.string)
    async let others = requestOthers(body)
    var pages = [await sessionServer.sessionList(query)]
    for case .success(let value) in (await others).map(\.result) {
      pages.append(
        SessionListPage(
          entries: value["sessions"]?.array ?? [], hasMore: value["more"] == true))
    }
    // Sessions after the end of a page that is not complete may be missing.
    let ends = pages.filter(\.hasMore).compactMap { $0.entries.last?["session"]?.string }
    let end = ends.min()
    let entries = pages.flatMap(\.entries).compactMap { entry in
      entry["session"]?.string.map { (id: $0, entry: entry) }
    }
    var builder = SessionListBuilder(query)
    for (id, entry) in entries.sorted(by: { $0.id < $1.id }) {
      if let end, id > end { break }
      guard builder.add(entry) else { break }
    }
    return builder.page.entries
  }

  /// Adds a session to a group. Fails with 2404 if there is no such session.
  package func add(session: String, toGroup group: String) async throws(CallError) {
    guard case .server(let server) = try await target(of: session) else {
      return try await self.sessionServer.add(session: session, toGroup: group)
    }
    _ = try await request(
      server, ["ask": "group", "session": .string(session), "add": .string(group)])
  }

  /// Removes clients of a session, on whichever server it is. Returns their names. `caller` is the
  /// administrator; `nil` for the app. Fails with 2404 if there is no such session or client.
  package func revoke(
    _ revocation: SessionRevocation, by caller: Caller?
  ) async throws(CallError) -> [String] {
    let clients = try await performRevocation(revocation, by: caller)
    // The request of an administrator is recorded with its result.
    if caller == nil {
      sessionServer.auditTrail?.record(
        AuditRecord(of: revocation, removing: clients, by: nil, cause: "code"))
    }
    return clients
  }

  /// Returns the state of the client of a caller, on whichever server it is. Fails if a server that
  /// may have the client does not respond.
  func callerStatus(of caller: Caller) async throws(CallError) -> CallerStatus {
    guard let client = caller.client?.id else { return .absent }
    let session = caller.clientSession
    let body: ValueObject = [
      "ask": "caller", "session": .string(session), "client": .string(client),
    ]
    let target = try await target(of: session)
    if case .server(let server) = target {
      return try await CallerStatus(peerValue: request(server, body)) ?? .absent
    }
    let local = await sessionServer.callerStatus(of: client, in: session)
    guard case .absent = local, sessionServer.loopSessions(ofSession: session) == nil else {
      return local
    }
    // The server at which its session has ended knows whether an administrator has ended it.
    for response in await requestOthers(body) {
      if let status = try CallerStatus(peerValue: response.result.get()) { return status }
    }
    return .absent
  }

  private func performRevocation(
    _ revocation: SessionRevocation, by caller: Caller?
  ) async throws(CallError) -> [String] {
    guard case .server(let server) = try await target(of: revocation.session) else {
      return try await sessionServer.revoke(revocation)
    }
    var body = revocation.peerMembers
    body["ask"] = "revoke"
    body["caller"] = caller.map { $0.peerValue(in: $0.session) }
    return try await request(server, body).array?.compactMap(\.string) ?? []
  }

  /// Removes a session from a group; nothing happens if it is not in it. Fails with 2404 if there
  /// is no such session.
  package func remove(session: String, fromGroup group: String) async throws(CallError) {
    guard case .server(let server) = try await target(of: session) else {
      return try await self.sessionServer.remove(session: session, fromGroup: group)
    }
    _ = try await request(
      server, ["ask": "group", "session": .string(session), "remove": .string(group)])
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

  /// Fetches pending deep links that a session may open from the servers that have some.
  func fetchDeepLinks(for session: String, of identity: Identity) {
    guard let cluster else { return }
    let servers = cluster.others.filter { ($0.presence["links"]?.integer ?? 0) > 0 }
    guard !servers.isEmpty else { return }
    var body: ValueObject = [
      "ask": "links", "session": .string(session),
      "groups": identity.groups.sortedValue,
    ]
    body["user"] = identity.user.map(Value.string)
    Task { [body] in
      var hasLinks = false
      for (server, _) in servers {
        // Each response has a part of the links.
        while let links = try? await request(server, body).array, !links.isEmpty {
          hasLinks = true
          let fetched = links.compactMap { unclaimedLink(peerValue: $0, from: server) }
          sessionServer.unclaimedLinks.withLock { $0.adopt(fetched) }
        }
      }
      if hasLinks {
        for loopSessions in sessionServer.sessionsByLoop { await loopSessions.offerDeepLinks() }
      }
    }
  }

  /// Decodes a deep link of another server, which has removed it. Logs an error if it cannot be read.
  private func unclaimedLink(
    peerValue: Value, from server: String
  ) -> UnclaimedLinks.UnclaimedLink? {
    do throws(CallError) {
      return try UnclaimedLinks.UnclaimedLink(peerValue: peerValue)
    } catch {
      sessionServer.configuration.logger?.error(
        "a deep link of another server cannot be read and is lost",
        metadata: ["server": "\(server)", "reason": "\(error.message)"])
      return nil
    }
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

  /// Forgets the retained events of a topic for exactly this audience.
  package func forget(_ topic: String, for audience: Audience) async {
    await sessionServer.forget(topic, for: audience)
    _ = await requestOthers(["ask": "forget", "topic": .string(topic), "to": audience.value])
  }

  /// Shares the table of this server, which has changed, with all servers. Returns the response of
  /// each, or the reason why the table is in force at this server only; nil if there is no cluster.
  /// Fails with 2409 if another server was faster, whose table has replaced this one.
  func shareTable(
    _ stamp: TableStamp
  ) async throws(CallError) -> Result<[ClusterNode.PeerResponse], CallError>? {
    guard let clusterTable = sessionServer.clusterTable else { return nil }
    let isShared: Bool
    do throws(CallError) { isShared = try await clusterTable.share(stamp) } catch {
      return .failure(error)
    }
    guard isShared else {
      throw CallError(
        .conflict,
        "Another server has changed the table at the same time; read it again before the next change",
        kind: "stale")
    }
    let revision = await clusterTable.revision
    let responses = await requestOthers(
      ["ask": "table", "revision": .integer(Int64(clamping: revision))], within: .seconds(30))
    return .success(responses)
  }
}

extension Rights {
  /// The rights of the caller of a request from another server, which it had at a time in
  /// milliseconds since 1970-01-01 UTC; nil for the app of that server. Fails with -32602.
  convenience init?(peerValue: Value?, validAt: Int64) throws(CallError) {
    guard let caller = try Caller.fromPeerValue(peerValue) else { return nil }
    self.init(following: CurrentCaller(caller, validAt: validAt), PolicySource())
  }

  /// The caller of these rights, for another server.
  var peerValue: Value { caller.peerValue(in: caller.session) }

  /// Whether the rights are the caller's own, without an invitation or other limits.
  var isUndelegated: Bool { invitation == nil && !isLimited }
}

extension CallerStatus {
  /// The form for another server.
  var peerValue: Value {
    switch self {
    case .present(let caller): ["caller": caller.peerValue(in: caller.session)]
    case .revoked: ["revoked": true]
    case .absent: .null
    }
  }

  /// Decodes a ``peerValue``. Returns `nil` for a client that is not at the other server. Fails with
  /// -32602.
  init?(peerValue: Value) throws(CallError) {
    if peerValue["revoked"] == true {
      self = .revoked
    } else if let caller = try Caller.fromPeerValue(peerValue["caller"]) {
      self = .present(caller)
    } else {
      return nil
    }
  }
}

extension UnclaimedLinks.UnclaimedLink {
  /// The link for another server.
  var peerValue: Value {
    var members = deepLink.recordFields
    members["to"] = audience.value
    members["caller"] = rights?.peerValue
    members["expiresAt"] = .integer(expiresAt)
    return .object(members)
  }

  /// Decodes a ``peerValue``. Fails with -32602.
  init(peerValue: Value) throws(CallError) {
    guard let link = DeepLink(peerValue: peerValue) else {
      throw .invalidParams("The deep link of the other server cannot be read")
    }
    self.init(
      link, for: try Audience(peerValue["to"]),
      by: try Rights(peerValue: peerValue["caller"], validAt: 0),
      expiresAt: peerValue["expiresAt"]?.integer ?? .max)
  }
}
