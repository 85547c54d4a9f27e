import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Handles the requests of other servers.
struct ClusterPeerHandlers {
  let sessionServer: SessionServer
  /// The pages that were opened for other servers, by their sessions and ids.
  let openedPages: Locked<[String: OpenedPage]>

  func handle(
    _ request: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    switch request["ask"]?.string {
    case "push": return try await handle(push: request)
    case "pushKey": return try handle(pushKey: request)
    case "open": return try await handle(open: request, progress)
    case "close":
      close(request)
      return .null
    case "run": return try await handle(run: request, progress)
    case "sessions":
      let audience = try Audience(request["of"])
      let infos = await sessionServer.sessions(audience)
      return .array(infos.map { RecordCoder.value(of: SessionInfoRecord($0)) })
    case "group": return try await handle(group: request)
    case "revoke": return try await handle(revoke: request)
    case "revoked":
      await sessionServer.removeWork(
        ofRevoked: (request["clients"]?.array ?? []).compactMap(\.string))
      return .null
    case "caller":
      return await sessionServer.callerStatus(
        of: request["client"]?.string ?? "", in: request["session"]?.string ?? ""
      ).peerValue
    case "list": return await handle(list: request)
    case "forget":
      await sessionServer.forget(
        request["topic"]?.string ?? "", for: try Audience(request["to"]))
      return .null
    case "hosts": return hosts
    case "links": return claimDeepLinks(for: request)
    case "retained":
      return .array(await sessionServer.sessionsByLoop.first?.retainedEvents.peerValues ?? [])
    case "table":
      guard let clusterTable = sessionServer.clusterTable,
        let table = sessionServer.configuration.sessions.table
      else {
        throw CallError(.noRoute, "This server has no table that can be changed", kind: "noTable")
      }
      try await clusterTable.update(to: UInt64(clamping: request["revision"]?.integer ?? 0))
      return await table.stamp.value
    case "policy":
      return try await handle(
        policy: request["to"]?.string ?? "", for: try Self.caller(of: request))
    case "briefs":
      return await sessionServer.sessions(
        after: request["after"]?.string,
        limit: min(max(Int(clamping: request["limit"]?.integer ?? 0), 0), 1000))
    case "session":
      return try await sessionServer.inspect(
        .session(
          request["session"]?.string ?? "", withRecords: request["records"]?.bool ?? true))
    case "explain":
      return try await sessionServer.inspect(
        .explain(
          uri: request["uri"]?.string ?? "", params: request["params"]?.object ?? [:],
          caller: try Self.caller(of: request)))
    case let other:
      throw .invalidParams(
        "This version does not support the request \(other?.quoted ?? "") of another server")
    }
  }

  /// The caller of a request that the app does not make by itself. Fails with -32602.
  private static func caller(of request: Value) throws(CallError) -> Caller {
    guard let caller = try Caller.fromPeerValue(request["caller"]) else {
      throw .invalidParams("The request of the other server does not name a caller")
    }
    return caller
  }

  private func handle(push request: Value) async throws(CallError) -> Value {
    let params = try Params(
      request["push"] ?? .null, of: "session.push", taking: AdminMethods.pushParams)
    let configuration = sessionServer.configuration
    let push = try SessionPushReader.push(
      params, configuration.router.snapshot(), configuration.limits)
    let collector = PushCollector(maxBytes: Self.maxBytes(of: request))
    try await sessionServer.push(
      push, by: Rights(peerValue: request["caller"], validAt: configuration.now()),
      into: collector)
    return collector.result.value
  }

  /// The bytes that the entries of a response may have.
  private static func maxBytes(of request: Value) -> Int {
    max(Int(clamping: request["bytes"]?.integer ?? 0), 0)
  }

  /// Returns the result of a push with a key, if it is known here.
  private func handle(pushKey request: Value) throws(CallError) -> Value {
    let record: IdempotentRequest
    do {
      record = try RecordCoder.decode(from: request["request"], "request")
    } catch {
      throw .invalidParams("The push of the other server: \(error)")
    }
    let name = SessionPushKeys.PushKey(
      owner: request["owner"]?.string ?? "", audience: try Audience(request["to"]),
      text: request["key"]?.string ?? "")
    do throws(CallError) {
      let result = try sessionServer.pushKeys.withLock { (keys) throws(CallError) in
        try keys.result(of: name, record, at: sessionServer.configuration.now())
      }
      guard let result else { return .null }
      return ["result": result.value]
    } catch {
      return ["conflict": true]
    }
  }

  private func handle(list request: Value) async -> Value {
    let page = await sessionServer.sessionList(
      SessionListQuery(
        after: request["after"]?.string,
        limit: min(max(Int(clamping: request["limit"]?.integer ?? 0), 0), 1000),
        maxBytes: Self.maxBytes(of: request)))
    return ["sessions": .array(page.entries), "more": .bool(page.hasMore)]
  }

  private func handle(
    open request: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    let opened = await sessionServer.open(
      request["uri"]?.string ?? "", request["params"]?.object ?? [:],
      exts: request["exts"]?.object ?? [:],
      style: request["style"]?.string.flatMap(Style.init(rawValue:)),
      in: try Audience(request["to"]),
      timeout: .milliseconds(request["timeoutMs"]?.integer ?? 10_000))
    let names = opened.map(\.pageKey)
    openedPages.withLock { pages in
      for (name, delivery) in zip(names, opened) { pages[name] = try? delivery.result.get() }
    }
    defer { openedPages.withLock { pages in for name in names { pages[name] = nil } } }
    progress(["shown": .array(opened.map(\.shownValue))])
    await withTaskGroup(of: Void.self) { tasks in
      for (index, delivery) in opened.enumerated() {
        guard case .success(let page) = delivery.result else { continue }
        tasks.addTask {
          var members: ValueObject = ["place": .integer(Int64(index))]
          do {
            members["outcome"] = try await page.outcome().value
          } catch {
            let error = (error as? CallError) ?? CallError(.internal, "\(error)")
            members["error"] = error.value
          }
          progress(.object(members))
        }
      }
    }
    return .null
  }

  /// Closes a page that was opened for another server; nothing happens if it has ended.
  private func close(_ request: Value) {
    let name = (request["session"]?.string ?? "") + "/" + (request["page"]?.string ?? "")
    openedPages.withLock { $0[name] }?.close()
  }

  private func handle(
    run request: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    guard let session = request["session"]?.string, let client = request["client"]?.string,
      let method = request["method"]?.string,
      let loopSessions = sessionServer.loopSessions(ofSession: session)
    else { throw CallError(.hostAbsent, "The host is gone") }
    return await loopSessions.run(
      method, request["params"] ?? .null, at: client, of: session,
      for: try ServedCaller(peerRequest: request), progress)
  }

  private func handle(
    policy hash: String, for caller: Caller
  ) async throws(CallError) -> Value {
    var record = AuditRecord(
      client: EventClient(caller), action: "policy.rollback", target: hash, cause: "cluster")
    do throws(CallError) {
      let result = try await sessionServer.rollBack(
        toPolicy: hash, expecting: nil, for: caller)
      record.version = hash
      sessionServer.auditTrail?.record(record)
      return .object(result)
    } catch {
      record.result = .failed(code: error.code)
      sessionServer.auditTrail?.record(record)
      throw error
    }
  }

  private func handle(revoke request: Value) async throws(CallError) -> Value {
    let revocation = SessionRevocation(peerValue: request)
    let caller = try Caller.fromPeerValue(request["caller"])
    let clients = try await sessionServer.revoke(revocation)
    sessionServer.auditTrail?.record(
      AuditRecord(
        of: revocation, removing: clients, by: caller.flatMap(EventClient.init), cause: "cluster"))
    return .array(clients.map(Value.string))
  }

  private func handle(group request: Value) async throws(CallError) -> Value {
    let session = request["session"]?.string ?? ""
    if let name = request["add"]?.string {
      try await sessionServer.add(session: session, toGroup: name)
    }
    if let name = request["remove"]?.string {
      try await sessionServer.remove(session: session, fromGroup: name)
    }
    return .null
  }

  /// The hosts that clients of this server have registered for all sessions.
  private var hosts: Value {
    let (generation, hosts) = sessionServer.serverHosts.localHosts
    return [
      "generation": .integer(Int64(generation)),
      "hosts": .array(
        hosts.compactMap { host -> Value? in
          guard let session = host.home.requester as? Session else { return nil }
          return [
            "session": .string(session.id), "client": .string(host.client),
            "away": .bool(host.isAway), "hosts": .array(host.definitions.map(\.value)),
          ]
        }),
    ]
  }

  /// Claims the pending deep links for a session of another server.
  private func claimDeepLinks(for request: Value) -> Value {
    let user = request["user"]?.string.map(UTF8Key.init)
    let groups = Set((request["groups"]?.array ?? []).compactMap(\.string).map(UTF8Key.init))
    let links = sessionServer.unclaimedLinks.withLock { links in
      links.claim(at: sessionServer.configuration.now(), maxBytes: Self.maxLinkBytes) { link in
        // The limits of a guest are only known here.
        guard link.rights?.isUndelegated != false else { return false }
        return switch link.audience {
        case .all: true
        case .user(let name): UTF8Key(name) == user
        case .group(let name): groups.contains(UTF8Key(name))
        case .session(let id), .client(_, let id): id == request["session"]?.string
        }
      }
    }
    return .array(links.map(\.peerValue))
  }

  /// Bytes of deep links in one response, after which no further one is added.
  private static let maxLinkBytes = 1 << 20
}

extension Delivery<OpenedPage> {
  /// A key that is unique among the open pages.
  fileprivate var pageKey: String { session + "/" + ((try? result.get())?.page ?? "") }

  /// The entry for another server, before the page has ended.
  fileprivate var shownValue: Value {
    var members: ValueObject = ["session": .string(session)]
    members["client"] = client.map(Value.string)
    switch result {
    case .success(let opened): members["page"] = opened.page.map(Value.string)
    case .failure(let error): members["error"] = error.value
    }
    return .object(members)
  }
}
