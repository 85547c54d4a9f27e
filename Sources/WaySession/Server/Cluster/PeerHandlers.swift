import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// What other servers ask of this one.
struct PeerHandlers {
  let group: SessionServer
  /// The pages that were opened for other servers, by their sessions and ids.
  let openedPages: Locked<[String: OpenedPage]>

  func answer(
    _ question: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    switch question["ask"]?.string {
    case "push": return try await answer(push: question)
    case "open": return try await answer(open: question, progress)
    case "close":
      close(question)
      return .null
    case "run": return try await answer(run: question, progress)
    case "sessions":
      let audience = try Push.audience(question["of"])
      return .list(await group.sessions(audience).map(\.record))
    case "group": return try await answer(group: question)
    case "deliver":
      let link = DeepLink(
        question["uri"]?.string ?? "", params: question["params"]?.object ?? [:])
      return .bool(
        try await group.deliver(
          link, to: try Push.audience(question["to"]), by: Rights(told: question["caller"])))
    case "forget":
      await group.forget(
        question["topic"]?.string ?? "", for: try Push.audience(question["to"]))
      return .null
    case "hosts": return hosts
    case "links": return takeLinks(for: question)
    case "retained": return .list(await group.hubs.first?.retainedEvents.told ?? [])
    case "table":
      guard let clusterTable = group.clusterTable, let table = group.configuration.table else {
        throw CallError(.noRoute, "This server has no table that can be changed", kind: "noTable")
      }
      try await clusterTable.heard(of: UInt64(clamping: question["revision"]?.integer ?? 0))
      return await table.stamp.value
    case "policy":
      guard let caller = Caller.told(question["caller"]) else {
        throw .invalidParams("The question does not say for whom")
      }
      return try await group.goBack(
        toPolicy: question["to"]?.string ?? "", expecting: nil, for: caller)
    case "briefs":
      return await group.sessions(
        after: question["after"]?.string,
        limit: min(max(Int(clamping: question["limit"]?.integer ?? 0), 0), 1000))
    case "session":
      return try await group.inspect(
        .session(
          question["session"]?.string ?? "", withRecords: question["records"]?.bool ?? true))
    case "explain":
      guard let caller = Caller.told(question["caller"]) else {
        throw .invalidParams("The question does not say for whom")
      }
      return try await group.inspect(
        .explain(
          uri: question["uri"]?.string ?? "", params: question["params"]?.object ?? [:],
          asker: caller))
    case let other:
      throw .invalidParams("This version does not know the question \(other?.quoted ?? "")")
    }
  }

  private func answer(push question: Value) async throws(CallError) -> Value {
    guard let loop = group.hubs.first?.loop else { throw .draining }
    let params = try Params(
      question["push"] ?? .null, of: "session.push", taking: AdminMethods.takesPush)
    return .list(
      try await group.push(
        try Push(params, group.configuration.limits), by: Rights(told: question["caller"]), on: loop
      ))
  }

  private func answer(
    open question: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    let opened = await group.open(
      question["uri"]?.string ?? "", question["params"]?.object ?? [:],
      exts: question["exts"]?.object ?? [:],
      style: question["style"]?.string.flatMap(Style.init(rawValue:)),
      in: try Push.audience(question["to"]),
      timeout: .milliseconds(question["timeoutMs"]?.integer ?? 10_000))
    let names = opened.map(\.name)
    openedPages.withLock { pages in
      for (name, delivery) in zip(names, opened) { pages[name] = try? delivery.result.get() }
    }
    defer { openedPages.withLock { pages in for name in names { pages[name] = nil } } }
    progress(["shown": .list(opened.map(\.shown))])
    await withTaskGroup(of: Void.self) { tasks in
      for (place, delivery) in opened.enumerated() {
        guard case .success(let page) = delivery.result else { continue }
        tasks.addTask {
          var told: ValueObject = ["place": .integer(Int64(place))]
          do {
            told["outcome"] = try await page.outcome().value
          } catch {
            let error = (error as? CallError) ?? CallError(.internal, "\(error)")
            told["error"] = error.value
          }
          progress(.object(told))
        }
      }
    }
    return .null
  }

  /// Closes a page that was opened for another server; nothing happens when it is gone.
  private func close(_ question: Value) {
    let name = (question["session"]?.string ?? "") + "/" + (question["page"]?.string ?? "")
    openedPages.withLock { $0[name] }?.close()
  }

  private func answer(
    run question: Value, _ progress: @escaping @Sendable (Value) -> Void
  ) async throws(CallError) -> Value {
    guard let session = question["session"]?.string, let client = question["client"]?.string,
      let method = question["method"]?.string, let hub = group.hub(ofSession: session)
    else { throw CallError(.hostAbsent, "The host is gone") }
    return await hub.run(
      method, question["params"] ?? .null, at: client, of: session,
      for: Caller.told(question["caller"]), progress)
  }

  private func answer(group question: Value) async throws(CallError) -> Value {
    let session = question["session"]?.string ?? ""
    if let name = question["add"]?.string {
      try await group.add(session: session, toGroup: name)
    }
    if let name = question["remove"]?.string {
      try await group.remove(session: session, fromGroup: name)
    }
    return .null
  }

  /// What clients of this server host for all sessions.
  private var hosts: Value {
    let (generation, hosts) = group.serverHosts.own
    return [
      "generation": .integer(Int64(generation)),
      "hosts": .list(
        hosts.compactMap { host -> Value? in
          guard let session = host.home.session as? Session else { return nil }
          return [
            "session": .string(session.id), "client": .string(host.client),
            "away": .bool(host.isAway), "hosts": .list(host.definitions.map(\.value)),
          ]
        }),
    ]
  }

  /// Hands out the links that wait here for a session of another server.
  private func takeLinks(for question: Value) -> Value {
    let user = question["user"]?.string
    let groups = Set((question["groups"]?.list ?? []).compactMap(\.string))
    let taken = group.links.withLock { links in
      links.take { link in
        switch link.audience {
        case .all: true
        case .user(let name): name == user
        case .group(let name): groups.contains(name)
        case .session(let id), .client(_, let id): id == question["session"]?.string
        }
      }
    }
    return .list(
      taken.map { taken in
        var members: ValueObject = [
          "uri": .string(taken.link.uri), "params": .object(taken.link.params),
          "to": taken.audience.told,
        ]
        members["caller"] = taken.rights?.toldElsewhere
        return .object(members)
      })
  }
}

extension Delivery<OpenedPage> {
  /// Unique among the pages that are open.
  fileprivate var name: String { session + "/" + ((try? result.get())?.page ?? "") }

  /// As another server is told it before the page has ended.
  fileprivate var shown: Value {
    var members: ValueObject = ["session": .string(session)]
    members["client"] = client.map(Value.string)
    switch result {
    case .success(let opened): members["page"] = opened.page.map(Value.string)
    case .failure(let error): members["error"] = error.value
    }
    return .object(members)
  }
}
