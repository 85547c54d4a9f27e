import WayNavigation
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

// Who watches what happens on one loop.
extension LoopSessions {
  /// A client, of whichever loop, watches from now on.
  func beginWatching(_ watcher: InspectorSubscription) {
    watch.begin(watcher)
    tellWatched()
  }

  /// A client does not watch any more.
  func endWatching(_ collector: InspectorFeed) {
    watch.end(collector)
    tellWatched()
  }

  private func tellWatched() {
    for session in sessions.values {
      session.assumeIsolated { session in
        session.happenings.subscribers.watchSees(watch.kinds)
        if !watch.isOn { for client in session.members.all { client.note = nil } }
      }
    }
  }

  nonisolated func watch(_ wish: InspectorFilter, _ collector: InspectorFeed) -> WatchBeginning {
    assumeIsolated { $0.beginWatching(InspectorSubscription(wish, collector)) }
    let others = group.hubs.filter { $0 !== self }
    let (begun, told) = AsyncStream<Void>.makeStream()
    for hub in others {
      hub.loop.execute {
        hub.assumeIsolated { $0.beginWatching(InspectorSubscription(wish, collector)) }
        told.yield()
      }
    }
    let answer: Value = [
      "interval": .integer(Int64(InspectorFeed.interval / .milliseconds(1))),
      "maxRecords": .integer(Int64(InspectorFeed.maxRecords)),
      "since": watch.since.map(Value.integer) ?? .null,
    ]
    guard !others.isEmpty else { return .done(answer) }
    return .later {
      for await _ in begun.prefix(others.count) {}
      return answer
    }
  }

  nonisolated func watcherLeft(_ client: Client) {
    guard let collector = watch.collector(of: client.name) else { return }
    for hub in group.hubs {
      hub.loop.execute { hub.assumeIsolated { $0.endWatching(collector) } }
    }
  }

  nonisolated func goBack(
    toPolicy hash: String, expecting expected: String?, for caller: Caller
  ) async throws(CallError) -> Value {
    try await ofAllServers.goBack(toPolicy: hash, expecting: expected, for: caller)
  }

  nonisolated func inspect(_ question: InspectionQuery) async throws(CallError) -> Value {
    try await ofAllServers.inspect(question)
  }

  private nonisolated var ofAllServers: InspectionDispatch {
    InspectionDispatch(servers: group.allServers)
  }
}

// What there is on one loop.
extension LoopSessions {
  /// What is told in a list of each of these sessions that is here.
  func briefs(of ids: [String]) -> [String: Value] {
    var told: [String: Value] = [:]
    for id in ids {
      guard let session = sessions[id] else { continue }
      let identity = audiences.identity(of: id)
      told[id] = session.assumeIsolated { $0.brief(identity) }
    }
    return told
  }

  /// All that is told of one; nil where it is not here.
  func detail(_ id: String, withRecords: Bool) -> Value? {
    guard let session = sessions[id] else { return nil }
    let identity = audiences.identity(of: id)
    return session.assumeIsolated { session in
      var members = session.detail(identity)
      if withRecords { members["records"] = .list(watch.recent.last(500, of: id)) }
      return .object(members)
    }
  }

  /// Who hosts what, with the names of the session and of the client.
  func hosted() -> [(definition: HostDefinition, session: String, client: String)] {
    sessions.values.flatMap { session in
      session.assumeIsolated { session in
        session.members.all.flatMap { client in
          session.guide.hosts.definitions(of: client.id).map { ($0, session.id, client.name) }
        }
      }
    }
  }

  var watchedRoutes: (since: Int64?, meters: [String: InspectedRouteMeter]) {
    (watch.since, watch.routes)
  }

  /// Where a URI leads somebody in a session; nil where that is not here.
  func explanation(
    of uri: String, _ params: ValueObject, for asker: Caller, in id: String
  ) -> Value? {
    guard let session = sessions[id] else { return nil }
    return session.assumeIsolated { session in
      RouterMethods.explanation(
        of: uri, params, for: Rights(asker, policy), in: session)
    }
  }
}

extension Session {
  fileprivate func brief(_ identity: Identity) -> Value {
    var members: ValueObject = ["session": .string(id)]
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = .list(identity.groups.sorted().map(Value.string))
    }
    members["clients"] = .list(
      self.members.all.map { client in
        var told: ValueObject = ["client": .string(client.name)]
        told["name"] = client.software.name.map(Value.string)
        if client.isAbsent { told["away"] = true }
        return .object(told)
      })
    members["pages"] = .integer(Int64(pages.count))
    members["calls"] = .integer(Int64(callCount))
    return .object(members)
  }

  fileprivate func detail(_ identity: Identity) -> ValueObject {
    var members: ValueObject = ["session": .string(id)]
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = .list(identity.groups.sorted().map(Value.string))
    }
    members["at"] = .integer(wall)
    members["clients"] = .list(self.members.all.map { detail($0) })
    members["stack"] = pages.stack.value(tabs: guide.snapshot.tabs.map(\.text))
    members["calls"] = .list(allCalls.map { detail($0) })
    members["links"] = .integer(Int64(links.count))
    return members
  }

  private func detail(_ client: Client) -> Value {
    let caller = client.rights.caller
    var told: ValueObject = ["client": .string(client.name)]
    told["name"] = client.software.name.map(Value.string)
    told["version"] = client.software.version.map(Value.string)
    told["platform"] = client.software.platform.map(Value.string)
    told["page"] = client.page.map(Value.string)
    told["user"] = caller.identity.user.map(Value.string)
    told["origin"] = caller.origin.map(Value.string)
    told["address"] = caller.address.map(Value.string)
    if caller.isGuest { told["guest"] = true }
    if client.isAbsent { told["away"] = .milliseconds(loop.nanoseconds &- client.absentSince) }
    told["hosts"] = .list(guide.hosts.definitions(of: client.id).map(\.value))
    told["topics"] = happenings.subscribers[client.id].value["topics"]
    told["unread"] = .integer(
      Int64((client.numbering?.outbox.bytes ?? 0) + (client.channel?.bufferedBytes ?? 0)))
    told["asked"] = .integer(Int64(client.pending.count))
    return .object(told)
  }

  private func detail(_ call: CallInFlight) -> Value {
    var told: ValueObject = ["call": .integer(Int64(call.number))]
    switch call.caller {
    case .client(let address, let mark):
      told["client"] = .string(address.client.name)
      told["id"] = address.isSilent ? .null : address.id.value
      told["method"] = .string(environment.meter.names[Int(address.method)])
      told["ms"] = .milliseconds(loop.nanoseconds &- min(mark.start, loop.nanoseconds))
    case .swift: told["method"] = .string(call.entry.method.name)
    }
    told["uri"] = call.uri.map(Value.string)
    told["key"] = call.key.map(Value.string)
    switch call.work {
    case .none: told["waitsFor"] = "nothing"
    case .task: told["waitsFor"] = "task"
    case .request(_, let client):
      told["waitsFor"] = "client"
      told["host"] = .string(client.name)
    case .errand: told["waitsFor"] = "client"
    case .operation: told["waitsFor"] = "turn"
    case .page(let page):
      told["waitsFor"] = "page"
      told["page"] = .string(page)
    case .key: told["waitsFor"] = "key"
    }
    return .object(told)
  }
}
