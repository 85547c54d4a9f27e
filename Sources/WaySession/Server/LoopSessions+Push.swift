import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

// What the app's side, or a client of another, does in the sessions of one loop.
extension LoopSessions {
  /// The live sessions of an audience, each with the name of the one client that is meant, where
  /// one is.
  func targets(in audience: Audience) -> [(session: Session, client: String?)] {
    let client: String? = if case .client(let name, session: _) = audience { name } else { nil }
    return audiences.sessions(in: audience).compactMap { id in sessions[id].map { ($0, client) } }
  }

  /// Every client of an audience, by its session and name.
  private func clients(in audience: Audience) -> [(session: Session, client: String?)] {
    targets(in: audience).flatMap { session, only in
      let names = session.assumeIsolated { $0.members.all.map(\.name) }
      return names.filter { $0 == only ?? $0 }.map { (session, $0) }
    }
  }

  /// Opens a page, or runs a task, in each session of an audience; returns when each is shown, done
  /// or refused.
  func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, _ carried: Carried?, by rights: Rights?
  ) async -> [Delivery<OpenedPage>] {
    await deliver(to: targets(in: audience)) { session, client in
      let options = SessionCallOptions(
        rights: rights ?? session.ownRights, params: params, exts: exts, style: style,
        deadline: timeout.asTimer, carried: carried)
      return await SessionAppCalls.open(uri, options, as: client, in: session)
    }
  }

  /// Runs a task or a service in each session of an audience.
  func invoke(
    _ uri: String, _ params: ValueObject, exts: ValueObject, in audience: Audience,
    timeout: Duration, by rights: Rights?
  ) async -> [Delivery<Value>] {
    await deliver(to: targets(in: audience)) { session, _ in
      let options = SessionCallOptions(
        rights: rights ?? session.ownRights, params: params, exts: exts, deadline: timeout.asTimer)
      do {
        return .success(try await SessionAppCalls.go(.invoke, uri, options, in: session).value)
      } catch {
        return .failure((error as? CallError) ?? .stopped("The call was given up"))
      }
    }
  }

  /// Calls a method of every client of an audience.
  func call(
    _ method: String, _ params: ValueObject, of audience: Audience, timeout: Duration,
    by rights: Rights?
  ) async -> [Delivery<Value>] {
    let time = timeout.asTimer
    return await deliver(to: clients(in: audience)) { session, client in
      await SessionAppCalls.call(
        client: client ?? "", method, params, rights ?? session.ownRights, timeout: time,
        in: session)
    }
  }

  /// Calls a method of one page, whoever answers for it.
  func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration,
    by rights: Rights?
  ) async throws(CallError) -> Value {
    let session = try live(session)
    return try await SessionAppCalls.call(
      page: page, method, params, rights ?? session.ownRights, timeout: timeout.asTimer,
      in: session
    ).get()
  }

  private func deliver<Success: Sendable>(
    to targets: [(session: Session, client: String?)],
    _ work: @escaping @Sendable (Session, String?) async -> Result<Success, CallError>
  ) async -> [Delivery<Success>] {
    await withTaskGroup(of: Delivery<Success>.self) { group in
      for (session, client) in targets {
        group.addTask {
          Delivery(session: session.id, client: client, result: await work(session, client))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Asks a client of a session for a call of a session of another server; gives what became of it
  /// (`Result.told`).
  func run(
    _ method: String, _ params: Value, at client: String, of session: String, for caller: Caller?,
    _ progress: @escaping @Sendable (Value) -> Void
  ) async -> Value {
    guard let session = sessions[session] else {
      let gone = CallError(.hostAbsent, "The host is gone")
      return Result<Value, RequestFailure>.failure(.unanswered(gone)).told
    }
    return await PeerRequester.ask(client, in: session, method, params, caller, progress)
  }
}

// Who is there.
extension LoopSessions {
  /// The sessions of an audience as they are now.
  func sessions(_ audience: Audience) -> [SessionInfo] {
    targets(in: audience).map { session, _ in
      let identity = audiences.identity(of: session.id)
      return session.assumeIsolated { $0.info(identity) }
    }
  }

  /// Puts a session into a group. Fails with 2404 where there is no such session.
  func add(session: String, toGroup group: String) throws(CallError) {
    guard audiences.add(session, toGroup: group) else { throw Self.absent(session) }
  }

  /// Takes a session out of a group; nothing happens when it is not in it. Fails with 2404 where
  /// there is no such session.
  func remove(session: String, fromGroup group: String) throws(CallError) {
    guard audiences.remove(session, fromGroup: group) else { throw Self.absent(session) }
  }

  private func live(_ id: String) throws(CallError) -> Session {
    guard let target = targets(in: .session(id)).first else { throw Self.absent(id) }
    return target.session
  }

  static func absent(_ session: String) -> CallError {
    CallError(.noRoute, "There is no session \(session.quoted)", kind: "noSession")
  }
}

extension Session {
  fileprivate func info(_ identity: Identity) -> SessionInfo {
    SessionInfo(
      id: id, identity: identity, clients: members.all.map(\.info), pages: pages.stack.allPages)
  }
}

extension Client {
  fileprivate var info: ClientInfo {
    ClientInfo(
      id: name, name: software.name, version: software.version, platform: software.platform,
      page: page)
  }
}
