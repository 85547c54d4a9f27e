import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

// Operations of the app, or of clients of other sessions, in the sessions of one loop.
extension LoopSessions {
  /// The live sessions of an audience, each with the name of the client that the audience names, if
  /// it names one. The session of an HTTP request is in none.
  func targets(in audience: Audience) -> [(session: Session, client: String?)] {
    let client: String? = if case .client(let name, session: _) = audience { name } else { nil }
    return audiences.sessions(in: audience).compactMap { id in
      guard let session = sessions[id], !session.isOfRequest else { return nil }
      return (session, client)
    }
  }

  /// All clients of an audience, by session and name.
  private func clients(in audience: Audience) -> [(session: Session, client: String?)] {
    targets(in: audience).flatMap { session, only in
      let names = session.assumeIsolated { $0.clients.all.map(\.name) }
      return names.filter { $0 == only ?? $0 }.map { (session, $0) }
    }
  }

  /// Opens a page, or runs a task, in each session of an audience. Returns when each page is shown,
  /// and each task is done or rejected.
  func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, _ attachments: RouterAttachments?
  ) async -> [Delivery<OpenedPage>] {
    let targets = targets(in: audience)
    return await withTaskGroup(of: Delivery<OpenedPage>.self) { group in
      for (session, client) in targets {
        let options = SessionCallOptions(
          rights: session.appRights, params: params, exts: exts, style: style,
          timeout: timeout.clampedTimeout, attachments: attachments)
        group.addTask {
          Delivery(
            session: session.id, client: client,
            result: await SessionAppCalls.open(uri, options, as: client, in: session))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Carries out a push in each session, or for each client of these sessions.
  func push(_ push: SessionPush, by rights: Rights?, into collector: PushCollector) async {
    let receivers = receivers(of: push).map { session, client in
      (session: session, client: client, user: audiences.identity(of: session.id).user)
    }
    await withTaskGroup(of: Void.self) { group in
      for (session, client, user) in receivers {
        group.addTask {
          let outcome = await PushRunner.run(push, client: client, by: rights, in: session)
          collector.add(outcome, session: session.id, user: user, client: client)
        }
      }
    }
  }

  /// Whether a session of the push's audience has received another one under the same key.
  func conflicts(_ push: SessionPush, _ request: IdempotentRequest, by rights: Rights?) -> Bool {
    receivers(of: push).contains { session, client in
      guard let name = push.keyName(by: rights, client: client) else { return false }
      return session.assumeIsolated { PushRunner.conflicts(name, request, in: $0) }
    }
  }

  /// The sessions that carry out a push, or all clients that do.
  private func receivers(of push: SessionPush) -> [(session: Session, client: String?)] {
    if case .client = push.action { clients(in: push.audience) } else { targets(in: push.audience) }
  }

  /// Calls a method of one page, whichever client or handler responds for it.
  func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration
  ) async throws(CallError) -> Value {
    let session = try liveSession(session)
    return try await SessionAppCalls.call(
      page: page, method, params, session.appRights, timeout: timeout.clampedTimeout, in: session
    ).get()
  }

  /// Sends a request of a session on another server to a client of a session. Returns the result
  /// (`Result.peerValue`).
  func run(
    _ method: String, _ params: Value, at client: String, of session: String, for caller: Caller?,
    _ progress: @escaping @Sendable (Value) -> Void
  ) async -> Value {
    guard let session = sessions[session] else {
      let error = CallError(.hostAbsent, "The host is gone")
      return Result<Value, ClientRequestFailure>.failure(.noResponse(error)).peerValue
    }
    return await PeerRequester.request(client, in: session, method, params, caller, progress)
  }
}

// Queries and groups.
extension LoopSessions {
  /// The sessions of an audience as they are now.
  func sessions(_ audience: Audience) -> [SessionInfo] {
    targets(in: audience).map { session, _ in info(of: session) }
  }

  /// The state of those of the given sessions that are on this loop.
  func sessionInfos(of ids: [String]) -> [SessionInfo] {
    ids.compactMap { id in sessions[id].map { info(of: $0) } }
  }

  private func info(of session: Session) -> SessionInfo {
    let identity = audiences.identity(of: session.id)
    return session.assumeIsolated { $0.info(identity) }
  }

  /// Adds a session to a group. Fails with 2404 if there is no such session.
  func add(session: String, toGroup group: String) throws(CallError) {
    guard audiences.add(session, toGroup: group) else { throw Self.sessionNotFound(session) }
  }

  /// Removes a session from a group; nothing happens if it is not in it. Fails with 2404 if there
  /// is no such session.
  func remove(session: String, fromGroup group: String) throws(CallError) {
    guard audiences.remove(session, fromGroup: group) else { throw Self.sessionNotFound(session) }
  }

  private func liveSession(_ id: String) throws(CallError) -> Session {
    guard let target = targets(in: .session(id)).first else { throw Self.sessionNotFound(id) }
    return target.session
  }

  static func sessionNotFound(_ session: String) -> CallError {
    CallError(.noRoute, "There is no session \(session.quoted)", kind: "noSession")
  }
}

extension Session {
  fileprivate func info(_ identity: Identity) -> SessionInfo {
    SessionInfo(
      id: id, identity: identity, clients: clients.all.map(\.info), pages: pages.stack.allPages)
  }
}

extension Client {
  fileprivate var info: ClientInfo {
    ClientInfo(
      id: name, name: software.name, version: software.version, platform: software.platform,
      page: page)
  }
}
