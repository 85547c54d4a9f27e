import WayRouting
import WayValues

/// Returns the sessions of an audience.
struct SessionsQuery: PeerOperation, Codable {
  static let method = "peer.sessions"
  let audience: Audience

  func run(in context: PeerContext) async -> [SessionInfoRecord] {
    await context.server.sessions(audience).map(SessionInfoRecord.init)
  }
}

/// Returns a page of the sessions for `session.list`.
struct SessionListOperation: PeerOperation, Codable {
  static let method = "peer.list"
  let query: SessionListQuery

  func run(in context: PeerContext) async -> SessionListPage {
    let limits = context.server.configuration.limits
    let query = SessionListQuery(
      after: query.after, limit: min(max(query.limit, 0), 1000),
      maxBytes: min(max(query.maxBytes, 0), limits.maxAnswer))
    return await context.server.sessionList(query)
  }
}

/// Adds a session to a group, or removes it.
struct GroupOperation: PeerOperation, Codable {
  static let method = "peer.group"
  let session: String
  let group: String
  let isMember: Bool

  func run(in context: PeerContext) async throws(CallError) -> Value {
    if isMember {
      try await context.server.add(session: session, toGroup: group)
    } else {
      try await context.server.remove(session: session, fromGroup: group)
    }
    return .null
  }
}

/// Forgets the retained events of a topic for exactly one audience.
struct ForgetEventsOperation: PeerOperation, Codable {
  static let method = "peer.forget"
  let topic: String
  let audience: Audience

  func run(in context: PeerContext) async -> Value {
    await context.server.forget(topic, for: audience)
    return .null
  }
}

/// Returns the retained events for more than one session.
struct RetainedEventsQuery: PeerOperation, Codable {
  static let method = "peer.retained"

  func run(in context: PeerContext) async -> [Value] {
    await context.server.sessionsByLoop.first?.retainedEvents.peerValues ?? []
  }
}

extension SessionDispatch {
  /// The sessions of an audience as they are now, without those of servers that have not responded.
  package func sessions(_ audience: Audience) async -> [SessionInfo] {
    let query = SessionsQuery(audience: audience)
    switch try? await location(of: audience) {
    case .local: return await sessionServer.sessions(audience)
    case .server(let server):
      return ((try? await send(query, to: server)) ?? []).map(\.info)
    case nil:
      // The sessions of all servers, or a session whose location is not known.
      async let others = sendToOthers(query)
      return await sessionServer.sessions(audience)
        + (await others).flatMap { (try? $0.result.get()) ?? [] }.map(\.info)
    }
  }

  /// Returns a page of the sessions of all servers, each as its entry in the result of
  /// `session.list`, without those of servers that have not responded.
  func sessionList(_ query: SessionListQuery) async -> [Value] {
    guard cluster != nil else { return await sessionServer.sessionList(query).entries }
    async let others = sendToOthers(SessionListOperation(query: query))
    var pages = [await sessionServer.sessionList(query)]
    for case .success(let page) in (await others).map(\.result) { pages.append(page) }
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
    let operation = GroupOperation(session: session, group: group, isMember: true)
    _ = try await send(operation, toServerOf: session)
  }

  /// Removes a session from a group; nothing happens if it is not in it. Fails with 2404 if there
  /// is no such session.
  package func remove(session: String, fromGroup group: String) async throws(CallError) {
    let operation = GroupOperation(session: session, group: group, isMember: false)
    _ = try await send(operation, toServerOf: session)
  }

  /// Forgets the retained events of a topic for exactly this audience.
  package func forget(_ topic: String, for audience: Audience) async {
    let operation = ForgetEventsOperation(topic: topic, audience: audience)
    _ = try? await run(operation)
    await sendToOthers(operation)
  }
}
