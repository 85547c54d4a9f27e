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
      summaries[id] = RecordCoder.value(
        of: session.assumeIsolated { $0.summary(identity) })
    }
    return summaries
  }

  /// All details of one session; nil if it is not on this loop.
  func detail(_ id: String, withRecords: Bool) -> Value? {
    guard let session = sessions[id] else { return nil }
    let identity = audiences.identity(of: id)
    return session.assumeIsolated { session in
      var detail = session.detail(identity)
      if withRecords { detail.records = inspector.recentRecords.last(500, of: id) }
      return RecordCoder.value(of: detail)
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
  fileprivate func summary(_ identity: Identity) -> InspectedSessionSummary {
    InspectedSessionSummary(
      session: id, user: identity.user, groups: identity.inspectedGroups,
      clients: clients.all.map { client in
        .init(
          client: client.name, name: client.software.name,
          away: client.isDisconnected ? true : nil)
      },
      pages: pages.count, calls: calls.count)
  }

  fileprivate func detail(_ identity: Identity) -> InspectedSession {
    InspectedSession(
      session: id, user: identity.user, groups: identity.inspectedGroups, at: environment.now(),
      clients: clients.all.map { detail($0) },
      stack: pages.stack.value(tabs: resolver.snapshot.tabs.map(\.text)),
      calls: calls.inOrder.map { detail($0) }, links: pendingLinks.count)
  }

  private func detail(_ client: Client) -> InspectedClient {
    let (caller, software) = (client.rights.caller, client.software)
    return InspectedClient(
      client: client.name, name: software.name, version: software.version,
      platform: software.platform, page: client.page, user: caller.identity.user,
      origin: caller.origin, address: caller.address, guest: caller.isGuest ? true : nil,
      agent: caller.agent?.value(for: caller.identity.user),
      away: client.isDisconnected
        ? .milliseconds(loop.nanoseconds &- client.link.disconnectedAt) : nil,
      hosts: resolver.hosts.definitions(of: client.id).map(\.value),
      topics: events.subscribers[client.id].value["topics"],
      unread: client.link.unacknowledgedBytes + (client.channel?.bufferedBytes ?? 0),
      asked: client.pending.count)
  }

  private func detail(_ call: ActiveCall) -> InspectedCall {
    let method: String =
      switch call.caller {
      case .client(let reply, _): environment.meter.names[Int(reply.method)]
      case .app: call.kind.method.name
      }
    var detail = InspectedCall(
      call: call.number, method: method, uri: call.uri, key: call.idempotencyKey)
    if case .client(let reply, let start) = call.caller {
      detail.client = reply.client.name
      detail.id = reply.isNotification ? .null : reply.id.value
      detail.ms = .milliseconds(loop.nanoseconds &- min(start.start, loop.nanoseconds))
    }
    switch call.work {
    case .none: break
    case .task: detail.waitsFor = .task
    case .request(_, let client):
      detail.waitsFor = .client
      detail.host = client.name
    case .remoteRequest: detail.waitsFor = .client
    case .operation: detail.waitsFor = .turn
    case .page(let page):
      detail.waitsFor = .page
      detail.page = page
    case .key: detail.waitsFor = .key
    case .gate: detail.waitsFor = .gate
    }
    return detail
  }
}

extension Identity {
  /// The groups; `nil` if there are none.
  fileprivate var inspectedGroups: [String]? { groups.isEmpty ? nil : groups.sortedTexts }
}
