import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// What the app's side, and administrators, do in the sessions of all servers: here, and by asking
/// the others. Usable from any thread.
package struct AllServers: Sendable {
  let group: SessionServer
  private var cluster: ClusterNode? { group.cluster }

  /// How long another server may take for what is done at once.
  static let patience: Duration = .seconds(10)

  /// Where sessions are.
  enum Place {
    case here
    case server(String)
  }

  /// Where the one session is that is meant; nil for those of all servers. Fails with 2503 where that
  /// cannot be found out.
  func place(of audience: Audience) async throws(CallError) -> Place? {
    if let session = audience.session { return try await place(of: session) }
    guard let state = group.clusterState else { return .here }
    guard state.isInTenure else {
      throw CallError(
        .unavailable,
        "What other servers have cannot be found out: the cluster's engine cannot "
          + "be used")
    }
    return nil
  }

  /// Where a session is; here for one that is nowhere.
  func place(of session: String) async throws(CallError) -> Place {
    guard let cluster, let loop = group.hubs.first?.loop, group.hub(ofSession: session) == nil
    else { return .here }
    switch await cluster.finder.find(session, for: loop) {
    case .here, .nowhere: return .here
    case .server(let server): return .server(server)
    case .unknown(let reason):
      throw CallError(.unavailable, "The session \(session.quoted) cannot be reached: \(reason)")
    }
  }

  /// Asks one other server. Fails as ``ClusterMember/ask(_:_:within:progress:)``.
  func ask(
    _ server: String, _ question: ValueObject, within time: Duration = patience
  ) async throws(CallError) -> Value {
    guard let cluster else { throw CallError(.unavailable, "There are no other servers") }
    return try await cluster.ask(server, .object(question), within: time)
  }

  /// Asks all others at once; what each has answered.
  func askOthers(
    _ question: ValueObject, within time: Duration = patience
  ) async -> [ClusterNode.Answered] {
    await cluster?.askOthers(.object(question), within: time) ?? []
  }

  /// Does it in each session, or for each client, and tells what came of each, and which server has
  /// not answered. Fails where it cannot be begun at all.
  func push(
    _ push: Push, by rights: Rights?, on loop: any EventLoop
  ) async throws(CallError) -> [Value] {
    if case .deliver(let link) = push.action {
      try await deliver(link, to: push.audience, by: rights)
      return []
    }
    let place = try await place(of: push.audience)
    if case .here? = place { return try await group.push(push, by: rights, on: loop) }
    let question = try question(push, by: rights)
    let time = push.deadline + Self.patience
    switch place {
    case .here: return []
    case .server(let server):
      return try await ask(server, question, within: time).list ?? []
    case nil:
      async let others = askOthers(question, within: time)
      let here = try await group.push(push, by: rights, on: loop)
      return here
        + (await others).flatMap { other -> [Value] in
          switch other.answer {
          case .success(let value): return value.list ?? []
          case .failure: return [Self.told(other)]
          }
        }
    }
  }

  private func question(_ push: Push, by rights: Rights?) throws(CallError) -> ValueObject {
    // What limits a guest, and who acts for a caller, is known here alone.
    guard rights?.isPlain != false else {
      throw .forbidden("cluster", "Only who acts for itself can push to sessions of other servers")
    }
    var question: ValueObject = ["ask": "push", "push": push.told]
    question["caller"] = rights?.toldElsewhere
    return question
  }

  /// Opens a page, or runs a task, in each session of an audience; returns when each is shown, done
  /// or refused. Values are carried to the sessions of this server alone.
  package func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, carrying: [String: any Sendable] = [:]
  ) async throws(CallError) -> [Delivery<OpenedPage>] {
    func openHere() async -> [Delivery<OpenedPage>] {
      await group.open(
        uri, params, exts: exts, style: style, in: audience, timeout: timeout, carrying: carrying)
    }
    guard let cluster else { return await openHere() }
    var question: ValueObject = [
      "ask": "open", "uri": .string(uri), "params": .object(params), "exts": .object(exts),
      "to": audience.told, "timeoutMs": .integer(timeout.milliseconds),
    ]
    question["style"] = style.map { .string($0.rawValue) }
    let servers: [String]
    switch try await place(of: audience) {
    case .here: return await openHere()
    case .server(let server): servers = [server]
    case nil: servers = cluster.others.map(\.server)
    }
    return await withTaskGroup(of: [Delivery<OpenedPage>].self) { [question] tasks in
      if audience.session == nil { tasks.addTask { await openHere() } }
      for server in servers {
        tasks.addTask { await RemotePages.open(question, at: server, cluster) }
      }
      return await tasks.reduce(into: []) { $0 += $1 }
    }
  }

  /// Calls a method of every client of an audience.
  package func call(
    _ method: String, _ params: ValueObject, of audience: Audience, timeout: Duration
  ) async throws(CallError) -> [Delivery<Value>] {
    guard cluster != nil else {
      return try await group.call(method, params, of: audience, timeout: timeout)
    }
    guard let loop = group.hubs.first?.loop else { return [] }
    let push = Push(
      audience: audience, action: .client(method), params: params, deadline: timeout,
      method: method)
    return try await self.push(push, by: nil, on: loop).compactMap(Delivery.init(told:))
  }

  /// Calls a method of one page, whoever answers for it.
  package func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration
  ) async throws(CallError) -> Value {
    guard case .server = try await place(of: session), let loop = group.hubs.first?.loop else {
      return try await group.call(page: page, in: session, method, params, timeout: timeout)
    }
    let push = Push(
      audience: .session(session), action: .pageCall(page: page, method: method), params: params,
      deadline: timeout, method: "page.call")
    let told = try await self.push(push, by: nil, on: loop).first
    guard let delivery = told.flatMap(Delivery.init(told:)) else {
      throw LoopSessions.absent(session)
    }
    return try delivery.result.get()
  }

  /// The sessions of an audience as they are now. Those of a server that has not answered are not
  /// among them.
  package func sessions(_ audience: Audience) async -> [SessionInfo] {
    let place = try? await place(of: audience)
    if case .here? = place { return await group.sessions(audience) }
    let question: ValueObject = ["ask": "sessions", "of": audience.told]
    if case .server(let server)? = place {
      return Self.infos((try? await ask(server, question)) ?? .null)
    }
    async let others = askOthers(question)
    return await group.sessions(audience)
      + (await others).flatMap { Self.infos((try? $0.answer.get()) ?? .null) }
  }

  private static func infos(_ told: Value) -> [SessionInfo] {
    (told.list ?? []).compactMap { value in
      (try? Record(value, "session")).flatMap { try? SessionInfo($0) }
    }
  }

  /// Puts a session into a group. Fails with 2404 where there is no such session.
  package func add(session: String, toGroup group: String) async throws(CallError) {
    guard case .server(let server) = try await place(of: session) else {
      return try await self.group.add(session: session, toGroup: group)
    }
    _ = try await ask(
      server, ["ask": "group", "session": .string(session), "add": .string(group)])
  }

  /// Takes a session out of a group; nothing happens when it is not in it. Fails with 2404 where
  /// there is no such session.
  package func remove(session: String, fromGroup group: String) async throws(CallError) {
    guard case .server(let server) = try await place(of: session) else {
      return try await self.group.remove(session: session, fromGroup: group)
    }
    _ = try await ask(
      server, ["ask": "group", "session": .string(session), "remove": .string(group)])
  }

  /// Hands a link to every session of an audience that has hosts or can serve it. Where there is
  /// none yet, the next one that belongs to it and registers a host for it gets the link; it comes
  /// back when that one ends before the link was followed. Fails with -32602 for a text that is no
  /// URI, and with 2429 when too many wait.
  package func deliver(
    _ link: DeepLink, to audience: Audience, by rights: Rights? = nil
  ) async throws(CallError) {
    try link.check()
    var question: ValueObject = [
      "ask": "deliver", "uri": .string(link.uri), "params": .object(link.params),
      "to": audience.told,
    ]
    question["caller"] = rights?.toldElsewhere
    switch try await place(of: audience) {
    case .here:
      if try await group.deliver(link, to: audience, by: rights) { return }
    case .server(let server):
      if try await ask(server, question).bool == true { return }
    case nil:
      async let others = askOthers(question)
      let isDone = try await group.deliver(link, to: audience, by: rights)
      let answers = await others
      if isDone || answers.contains(where: { (try? $0.answer.get())?.bool == true }) { return }
    }
    try await group.keep(link, for: audience, by: rights)
    cluster?.tell()
  }

  /// Asks the servers that have links which wait for those that this session may follow.
  func fetchLinks(for session: String, of identity: Identity) {
    guard let cluster else { return }
    let servers = cluster.others.filter { ($0.presence["links"]?.integer ?? 0) > 0 }
    guard !servers.isEmpty else { return }
    var question: ValueObject = [
      "ask": "links", "session": .string(session),
      "groups": .list(identity.groups.sorted().map(Value.string)),
    ]
    question["user"] = identity.user.map(Value.string)
    Task { [question] in
      var isAny = false
      for (server, _) in servers {
        let told = try? await ask(server, question)
        for link in told?.list ?? [] {
          guard let uri = link["uri"]?.string, let audience = try? Push.audience(link["to"]) else {
            continue
          }
          isAny = true
          try? group.links.withLock { (links) throws(CallError) in
            try links.add(
              DeepLink(uri, params: link["params"]?.object ?? [:]), for: audience,
              by: Rights(told: link["caller"]))
          }
        }
      }
      if isAny { for hub in group.hubs { await hub.offerLinks() } }
    }
  }

  /// Publishes an event of the app's own to the clients of an audience that subscribe to its topic,
  /// and keeps the last `retain` of the topic for those that subscribe later. Fails with -32602 for
  /// a wrong topic or count, and with 2413 for data that cannot be sent.
  package func publish(
    _ topic: String, _ data: Value, to audience: Audience, retain: Int
  ) async throws(CallError) {
    guard cluster != nil, let loop = group.hubs.first?.loop else {
      return try await group.publish(topic, data, to: audience, retain: retain)
    }
    let push = Push(
      audience: audience, action: .event(topic: topic, data: data, retain: retain), params: [:],
      deadline: Self.patience, method: "event")
    _ = try await self.push(push, by: nil, on: loop)
  }

  /// Forgets what is retained of a topic for exactly this audience.
  package func forget(_ topic: String, for audience: Audience) async {
    await group.forget(topic, for: audience)
    _ = await askOthers(["ask": "forget", "topic": .string(topic), "to": audience.told])
  }

  /// The table here has changed: so does that of all servers. What each has answered, nil for a
  /// server alone. Fails where it cannot be shared, or another was faster.
  func shareTable() async -> Result<[Value], CallError>? {
    guard let clusterTable = group.clusterTable else { return nil }
    do throws(CallError) {
      guard try await clusterTable.share() else {
        throw CallError(
          .conflict, "Another server has changed the table at the same time: look at it again",
          kind: "stale")
      }
    } catch {
      return .failure(error)
    }
    let revision = await clusterTable.revision
    let answers = await askOthers(
      ["ask": "table", "revision": .integer(Int64(clamping: revision))], within: .seconds(30))
    return .success(answers.map(Self.told))
  }

  /// As whoever asks all servers is told what one has answered.
  static func told(_ other: ClusterNode.Answered) -> Value {
    switch other.answer {
    case .success(let value):
      var members = value.object ?? [:]
      members["server"] = .string(other.server)
      return .object(members)
    case .failure(let error): return ["server": .string(other.server), "error": error.value]
    }
  }
}

extension Rights {
  /// Those of who has asked another server; nil for the app of that server.
  convenience init?(told: Value?) {
    guard let caller = Caller.told(told) else { return nil }
    self.init(caller, PolicySource())
  }

  /// As another server is told whose they are.
  var toldElsewhere: Value { caller.told(in: caller.session) }

  /// Whether they are a caller's own, as far as the policy lets it.
  fileprivate var isPlain: Bool { invitation == nil && !isWithin }
}

extension Delivery<Value> {
  /// Reads what `session.push` tells.
  fileprivate init?(told: Value) {
    guard let session = told["session"]?.string else { return nil }
    let result: Result<Value, CallError> =
      if let error = told["error"] {
        .failure(CallError(told: error))
      } else {
        .success(told["result"] ?? .null)
      }
    self.init(session: session, client: told["client"]?.string, result: result)
  }
}
