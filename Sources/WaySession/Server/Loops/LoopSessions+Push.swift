import WayNavigation
import WayRPC
import WayRouting
import WayTransport
import WayValues

// Operations of the app, or of clients of other sessions, in the sessions of one loop.
extension LoopSessions {
  /// Opens a page, or runs a task, in each session of an audience. Returns when each page is shown,
  /// and each task is done or rejected.
  func open(
    _ uri: String, _ params: ValueObject, exts: ValueObject, style: Style?, in audience: Audience,
    timeout: Duration, _ attachments: RouterAttachments?
  ) async -> [Delivery<OpenedPage>] {
    var openings: [Task<Delivery<OpenedPage>, Never>] = []
    await forEachSession(in: audience, .startTask) { session, client in
      let options = SessionCallOptions(
        rights: session.appRights, params: params, exts: exts, style: style,
        timeout: timeout.clampedTimeout, attachments: attachments)
      openings.append(
        Task {
          Delivery(
            session: session.id, client: client,
            result: await session.open(uri, options, as: client))
        })
    }
    return await withTaskCancellationHandler { [openings] in
      var deliveries: [Delivery<OpenedPage>] = []
      for opening in openings { deliveries.append(await opening.value) }
      return deliveries
    } onCancel: { [openings] in
      for opening in openings { opening.cancel() }
    }
  }

  /// Carries out a push in each session, or for each client of these sessions. Returns when all
  /// have an outcome. If the task is cancelled, no more sessions get the push, and the calls that
  /// have begun are cancelled.
  func push(_ push: SessionPush, by rights: Rights?, into collector: PushCollector) async {
    let pending = PendingPushes()
    await withTaskCancellationHandler {
      await scheduler.beginPush()
      await forEachReceiver(of: push, .send) { session, client in
        begin(push, at: client, in: session, by: rights, pending, into: collector)
        return true
      }
      scheduler.endPush()
      await pending.waitUntilEmpty()
    } onCancel: {
      Task { await self.cancel(pending) }
    }
  }

  private func begin(
    _ push: SessionPush, at client: String?, in session: Session, by rights: Rights?,
    _ pending: PendingPushes, into collector: PushCollector
  ) {
    let number = pending.makeNumber()
    let user = audiences.identity(of: session.id).user
    let call = session.assumeIsolated { session in
      session.begin(push, client: client, by: rights) { outcome in
        collector.add(outcome, session: session.id, user: user, client: client)
        pending.remove(number)
      }
    }
    if let call { pending.add(number, call, in: session) }
  }

  /// Cancels the calls of a push whose caller has left.
  private func cancel(_ pushes: PendingPushes) async {
    var remaining = pushes.all[...]
    await forEach(.send) {
      guard let (session, call) = remaining.popFirst() else { return false }
      session.assumeIsolated { $0.cancelPush(call) }
      return true
    }
  }

  /// Whether a session of the push's audience has received another one under the same key.
  func conflicts(
    _ push: SessionPush, _ request: IdempotentRequest, by rights: Rights?
  ) async -> Bool {
    var isConflict = false
    await forEachReceiver(of: push, .read) { session, client in
      guard let name = push.keyName(by: rights, client: client) else { return true }
      isConflict = session.assumeIsolated { $0.conflicts(name, request) }
      return !isConflict
    }
    return isConflict
  }

  /// Visits the sessions that carry out a push, or all clients that do, until `visit` returns false.
  private func forEachReceiver(
    of push: SessionPush, _ kind: SessionWalkKind, while visit: (Session, String?) -> Bool
  ) async {
    guard case .client = push.action else {
      return await visitSessions(in: push.audience, kind, while: visit)
    }
    await visitSessions(in: push.audience, kind) { session, only in
      let names = session.assumeIsolated { $0.clients.all.map(\.name) }
      return names.allSatisfy { $0 != only ?? $0 || visit(session, $0) }
    }
  }

  /// Calls a method of one page, whichever client or handler responds for it.
  func call(
    page: String, in session: String, _ method: String, _ params: ValueObject, timeout: Duration
  ) async throws(CallError) -> Value {
    let session = try liveSession(session)
    let pageRequest = PageMethodRequest(
      page: page, method: method, params: params, rights: session.appRights,
      timeout: timeout.clampedTimeout)
    return try await session.call(pageRequest).get()
  }

  /// Sends a request of a session on another server to a client of a session. Returns the result
  /// (`Result.peerValue`).
  func run(
    _ method: String, _ params: Value, at client: String, of session: String,
    for caller: PeerCaller,
    _ progress: @escaping @Sendable (Value) -> Void
  ) async -> Value {
    guard let session = sessions[session] else {
      let error = CallError(.hostAbsent, "The host is gone")
      return Result<Value, SessionClientRequestFailure>.failure(.noResponse(error)).peerValue
    }
    return await PeerRequester.request(client, in: session, method, params, caller, progress)
  }
}

// Queries and groups.
extension LoopSessions {
  /// The sessions of an audience as they are now.
  func sessions(_ audience: Audience) async -> [SessionInfo] {
    var infos: [SessionInfo] = []
    await forEachSession(in: audience, .read) { session, _ in infos.append(info(of: session)) }
    return infos
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
    guard let target = target(of: .session(id)) else { throw Self.sessionNotFound(id) }
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
