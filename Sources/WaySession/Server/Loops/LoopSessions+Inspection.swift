import WayNavigation
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

// Inspection of what happens on one loop.
extension LoopSessions {
  /// Adds the subscription of a client, which may be on any loop.
  func addSubscription(_ subscription: InspectorSubscription) {
    inspector.subscribe(subscription)
    observedKinds.setInspector(inspector.kinds)
  }

  /// Removes the subscription of a client.
  func removeSubscription(_ feed: InspectorFeed) {
    inspector.unsubscribe(feed)
    observedKinds.setInspector(inspector.kinds)
  }

  nonisolated func startInspection(_ filter: InspectorFilter, _ feed: InspectorFeed)
    -> InspectionStart
  {
    assumeIsolated { $0.addSubscription(InspectorSubscription(filter, feed)) }
    let others = sessionServer.sessionsByLoop.filter { $0 !== self }
    let (subscriptions, subscribed) = AsyncStream<Void>.makeStream()
    for loopSessions in others {
      loopSessions.loop.execute {
        loopSessions.assumeIsolated { $0.addSubscription(InspectorSubscription(filter, feed)) }
        subscribed.yield()
      }
    }
    let result: Value = [
      "interval": .integer(Int64(InspectorFeed.interval / .milliseconds(1))),
      "maxRecords": .integer(Int64(InspectorFeed.maxRecords)),
      "since": inspector.since.map(Value.integer) ?? .null,
    ]
    guard !others.isEmpty else { return .immediate(result) }
    return .deferred {
      for await _ in subscriptions.prefix(others.count) {}
      return result
    }
  }

  nonisolated func endInspection(_ client: Client) {
    guard let feed = inspector.feed(of: client.name) else { return }
    for loopSessions in sessionServer.sessionsByLoop {
      loopSessions.loop.execute { loopSessions.assumeIsolated { $0.removeSubscription(feed) } }
    }
  }
}

// The state of one loop.
extension LoopSessions {
  /// Summaries of those of the given sessions that are on this loop.
  func summaries(of ids: [String]) -> [String: Value] {
    var summaries: [String: Value] = [:]
    for id in ids {
      guard let session = sessions[id] else { continue }
      let identity = audiences.identity(of: id)
      summaries[id] = session.assumeIsolated { $0.summary(identity) }
    }
    return summaries
  }

  /// All details of one session; nil if it is not on this loop.
  func detail(_ id: String, withRecords: Bool) -> Value? {
    guard let session = sessions[id] else { return nil }
    let identity = audiences.identity(of: id)
    return session.assumeIsolated { session in
      var members = session.detail(identity)
      if withRecords { members["records"] = .array(inspector.recentRecords.last(500, of: id)) }
      return .object(members)
    }
  }

  /// The ids of all sessions.
  func sessionIDs() async -> [String] {
    var ids: [String] = []
    await forEachSession(.read) { ids.append($0.id) }
    return ids
  }

  /// All registered hosts, with the names of the session and of the client.
  func hostedDefinitions() async
    -> [(definition: SessionHostDefinition, session: String, client: String)]
  {
    var hosts: [(definition: SessionHostDefinition, session: String, client: String)] = []
    await forEachSession(.read) { session in
      hosts += session.assumeIsolated { session in
        session.clients.all.flatMap { client in
          session.resolver.hosts.definitions(of: client.id).map { ($0, session.id, client.name) }
        }
      }
    }
    return hosts
  }

  var routeMeters: (since: Int64?, meters: [String: InspectedRouteMeter]) {
    (inspector.since, inspector.routeMeters)
  }

  /// How a URI resolves for a caller in a session; nil if the session is not on this loop.
  func explanation(
    of uri: String, _ params: ValueObject, for caller: Caller, in id: String
  ) -> Value? {
    guard let session = sessions[id] else { return nil }
    return session.assumeIsolated { session in
      RouterMethods.explanation(
        of: uri, params, for: Rights(caller, policy), in: session)
    }
  }
}

extension Session {
  fileprivate func summary(_ identity: Identity) -> Value {
    var members: ValueObject = ["session": .string(id)]
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = identity.groups.sortedValue
    }
    members["clients"] = .array(
      self.clients.all.map { client in
        var members: ValueObject = ["client": .string(client.name)]
        members["name"] = client.software.name.map(Value.string)
        if client.isDisconnected { members["away"] = true }
        return .object(members)
      })
    members["pages"] = .integer(Int64(pages.count))
    members["calls"] = .integer(Int64(calls.count))
    return .object(members)
  }

  fileprivate func detail(_ identity: Identity) -> ValueObject {
    var members: ValueObject = ["session": .string(id)]
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = identity.groups.sortedValue
    }
    members["at"] = .integer(environment.now())
    members["clients"] = .array(self.clients.all.map { detail($0) })
    members["stack"] = pages.stack.value(tabs: resolver.snapshot.tabs.map(\.text))
    members["calls"] = .array(calls.inOrder.map { detail($0) })
    members["links"] = .integer(Int64(pendingLinks.count))
    return members
  }

  private func detail(_ client: Client) -> Value {
    let caller = client.rights.caller
    var members: ValueObject = ["client": .string(client.name)]
    members["name"] = client.software.name.map(Value.string)
    members["version"] = client.software.version.map(Value.string)
    members["platform"] = client.software.platform.map(Value.string)
    members["page"] = client.page.map(Value.string)
    members["user"] = caller.identity.user.map(Value.string)
    members["origin"] = caller.origin.map(Value.string)
    members["address"] = caller.address.map(Value.string)
    if caller.isGuest { members["guest"] = true }
    if client.isDisconnected {
      members["away"] = .milliseconds(loop.nanoseconds &- client.link.disconnectedAt)
    }
    members["hosts"] = .array(resolver.hosts.definitions(of: client.id).map(\.value))
    members["topics"] = events.subscribers[client.id].value["topics"]
    members["unread"] = .integer(
      Int64(client.link.unacknowledgedBytes + (client.channel?.bufferedBytes ?? 0)))
    members["asked"] = .integer(Int64(client.pending.count))
    return .object(members)
  }

  private func detail(_ call: ActiveCall) -> Value {
    var members: ValueObject = ["call": .integer(Int64(call.number))]
    switch call.caller {
    case .client(let reply, let start):
      members["client"] = .string(reply.client.name)
      members["id"] = reply.isNotification ? .null : reply.id.value
      members["method"] = .string(environment.meter.names[Int(reply.method)])
      members["ms"] = .milliseconds(loop.nanoseconds &- min(start.start, loop.nanoseconds))
    case .app: members["method"] = .string(call.kind.method.name)
    }
    members["uri"] = call.uri.map(Value.string)
    members["key"] = call.idempotencyKey.map(Value.string)
    switch call.work {
    case .none: members["waitsFor"] = "nothing"
    case .task: members["waitsFor"] = "task"
    case .request(_, let client):
      members["waitsFor"] = "client"
      members["host"] = .string(client.name)
    case .remoteRequest: members["waitsFor"] = "client"
    case .operation: members["waitsFor"] = "turn"
    case .page(let page):
      members["waitsFor"] = "page"
      members["page"] = .string(page)
    case .key: members["waitsFor"] = "key"
    }
    return .object(members)
  }
}
