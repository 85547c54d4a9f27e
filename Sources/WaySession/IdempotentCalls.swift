import WayRouting
import WayValues

/// Makes calls under idempotency keys: one for all requests with a key, each of which waits for its
/// result.
enum IdempotentCalls {
  /// Starts the call for its origin.
  typealias CallStarter =
    @Sendable (Session.CallOrigin, isolated Session) throws(CallError) -> CallDisposition

  /// The maximum length of a key, in bytes.
  private static let maxKeyLength = 128

  /// Returns an idempotency key in the form that Swift code gets.
  static func idempotencyKey(_ text: String, of client: Client, in session: Session)
    -> RouterIdempotencyKey
  {
    RouterIdempotencyKey(session: session.id, owner: client.keyOwner, text: text)
  }

  /// Performs a request with these params under an idempotency key. The first request makes the
  /// call, which `begin` starts; later ones wait for its result.
  static func perform(
    _ key: String, _ request: IdempotentRequest, _ kind: CallKind, timeout: Duration?,
    _ params: Value, _ handle: ReplyHandle, in session: isolated Session,
    _ begin: @escaping CallStarter
  ) throws(CallError) -> CallDisposition {
    guard (1...maxKeyLength).contains(key.utf8.count) else {
      throw .invalidParams("params.key must be a string of 1 to \(maxKeyLength) bytes")
    }
    let name = ScopedKey(owner: handle.client.keyOwner, text: key)
    switch session.idempotencyKeys.find(name, at: session.loop.nanoseconds) {
    case .completed(request, let result)?:
      switch result {
      case .success(let response): return .now(response)
      case .failure(let error): return .failed(error)
      }
    case .running(let running)? where running.request == request:
      if let leader = session.call(running.leader), leader.restart == nil {
        leader.restart = restart(of: leader, handle.client.rights.caller, in: session, begin)
        leader.rights = handle.client.rights
      }
      let call = try addWaiter(
        for: name, key, request, kind, timeout, params, handle, in: session)
      if let page = running.page { session.reportOpened(page, to: call) }
      return .later
    case .completed?, .running?:
      throw CallError(
        .conflict, "The idempotency key \(key.quoted) was already used for a different call")
    case nil: break
    }
    let leader = session.makeCallNumber()
    try session.idempotencyKeys.begin(name, request, leader: leader)
    do throws(CallError) {
      try addWaiter(for: name, key, request, kind, timeout, params, handle, in: session)
    } catch {
      _ = session.idempotencyKeys.end(name, .failure(error), within: session.clients.budget, at: 0)
      throw error
    }
    startLeader(name, leader, request, kind, handle.client, in: session, begin)
    return .later
  }

  /// Adds a request that waits for the result of a key.
  @discardableResult
  private static func addWaiter(
    for name: ScopedKey, _ key: String, _ request: IdempotentRequest,
    _ kind: CallKind,
    _ timeout: Duration?, _ params: Value, _ handle: ReplyHandle,
    in session: isolated Session
  ) throws(CallError) -> ActiveCall {
    if kind == .open { try handle.client.calls.checkPageWaits() }
    // The leader's result is already adapted to the kind of the call.
    let call = try session.beginCall(
      .request(handle), kind, timeout: timeout, size: request.size)
    call.work = .key(name)
    call.idempotencyKey = key
    call.uri = request.target
    call.requestParams = params
    session.idempotencyKeys.addWaiter(call.number, for: name)
    return call
  }

  /// Starts the call for all waiting requests.
  private static func startLeader(
    _ name: ScopedKey, _ number: CallNumber, _ request: IdempotentRequest,
    _ kind: CallKind,
    _ client: Client, in session: isolated Session, _ begin: @escaping CallStarter
  ) {
    let caller = client.rights.caller
    guard
      let call = session.beginCall(
        number, kind, leaderCaller(for: name, in: session), timeout: nil)
    else { return }
    call.leadKey = name
    call.uri = request.target
    call.restart = restart(of: call, caller, in: session, begin)
    guard session.isPersisted else { return run(call, caller, in: session, begin) }
    // Work starts once the key is stored. After a crash, the call is made again or has not begun.
    // Later requests of the client wait for it.
    client.calls.holdRequests()
    session.journal?.recordChange(.clientState(client.id))
    session.journal?.whenStored { [weak session] in
      client.calls.releaseRequests()
      session?.assumeIsolated { session in
        guard let call = session.call(number) else { return }
        run(call, caller, in: session, begin)
      }
    }
  }

  /// How often the work of a key starts at most. A host may fail because of the call itself.
  private static let maxStarts = 3

  /// Starts the work of a key again, because the host that worked on it is gone or has lost its
  /// state. If no other host can be asked, the call ends with `error`. Returns false if the call
  /// does no such work.
  static func restart(
    _ number: CallNumber, after error: CallError, in session: isolated Session
  ) -> Bool {
    guard !session.state.isClosing, let call = session.call(number), call.leadKey != nil,
      let restart = call.restart, call.startCount < maxStarts,
      call.rights?.hasExpired(at: session.environment.now()) != true
    else { return false }
    call.startCount += 1
    call.work = .none
    call.resolution = nil
    if let task = call.taskStart { session.events.emitTaskEnd(of: task, error) }
    call.taskStart = nil
    restart(error)
    return true
  }

  /// Returns how the work of a call starts again.
  static func restart(
    of call: ActiveCall, _ caller: Caller, in session: isolated Session,
    _ begin: @escaping CallStarter
  ) -> (CallError) -> Void {
    { [weak session, number = call.number] error in
      session?.assumeIsolated { session in
        guard let call = session.call(number) else { return }
        run(call, caller, after: error, in: session, begin)
      }
    }
  }

  /// Returns the caller of the call that does the work of a key.
  private static func leaderCaller(
    for name: ScopedKey, in session: isolated Session
  ) -> AppCaller {
    AppCaller(
      onResult: { session.finishKey(name, $0) },
      onPageShown: { session.recordOpened($0, name) },
      onProgress: { session.reportProgress($0, to: name) })
  }

  /// Restores the call of a key that waits for a page from before the server's restart. Returns
  /// false if the page is not there.
  static func restore(
    _ name: ScopedKey, _ request: IdempotentRequest, page: String,
    in session: isolated Session
  ) -> Bool {
    let leader = session.makeCallNumber()
    guard session.pages.restore(leader, openerOf: page) else { return false }
    session.idempotencyKeys.restore(name, request, leader: leader, page: page)
    let call = session.beginCall(leader, .open, leaderCaller(for: name, in: session), timeout: nil)
    call?.work = .page(page)
    call?.leadKey = name
    return true
  }

  /// Restores the call of a key that a host has worked on since before the server's restart, by the
  /// request with this number. Returns false if the host does not exist any more.
  static func restore(
    _ name: ScopedKey, _ request: IdempotentRequest,
    _ hostRequest: SessionIdempotencyKeys.HostRequest, sequenceNumber: UInt64,
    in session: isolated Session
  ) -> Bool {
    guard let host = session.clients[hostRequest.client] else { return false }
    let leader = session.makeCallNumber()
    session.idempotencyKeys.restore(name, request, leader: leader, hostRequest)
    let pending = PendingRequest(hostRequest.method, for: .run(leader), by: session)
    pending.sequenceNumber = sequenceNumber
    host.pending.restore(hostRequest.id, pending)
    let kind: CallKind = request.method == CallKind.open.method.name ? .open : .invoke
    let call = session.beginCall(leader, kind, leaderCaller(for: name, in: session), timeout: nil)
    call?.work = .request(hostRequest.id, host)
    call?.leadKey = name
    call?.uri = request.target
    return true
  }

  /// Starts the work of a key. `earlier` is the error with which an earlier start has failed.
  private static func run(
    _ call: ActiveCall, _ caller: Caller, after earlier: CallError? = nil,
    in session: isolated Session, _ begin: CallStarter
  ) {
    let number = call.number
    do throws(CallError) {
      switch try begin(.call(call), session) {
      case .now(let response): session.settle(number, .success(response))
      case .failed(let error): session.settle(number, .failure(earlier ?? error))
      case .later: break
      }
    } catch {
      session.events.emitRouteFailure(call.uri ?? "", error, by: caller)
      session.settle(number, .failure(earlier ?? error))
    }
  }
}

extension Client {
  /// The owner of this client's keys. A guest's keys belong to its page; other clients share the
  /// session's keys.
  fileprivate var keyOwner: String? {
    rights.caller.isGuest ? page ?? name : nil
  }
}

extension Session {
  /// Settles all requests of a key with the result of its call.
  fileprivate func finishKey(
    _ name: ScopedKey, _ result: Result<SessionCallResponse, CallError>
  ) {
    let waiting = idempotencyKeys.end(name, result, within: clients.budget, at: loop.nanoseconds)
    for number in waiting { settle(number, result) }
  }

  fileprivate func recordOpened(_ page: String, _ name: ScopedKey) {
    for number in idempotencyKeys.recordPage(page, name) {
      guard let call = call(number) else { continue }
      call.deadlineTimer?.cancel()
      stopCounting(call)
    }
  }

  fileprivate func reportProgress(_ value: Value, to name: ScopedKey) {
    for number in idempotencyKeys.waiters(for: name) { reportProgress(value, of: number) }
  }

  /// Reports to a request that its page is already open.
  fileprivate func reportOpened(_ page: String, to call: ActiveCall) {
    call.deadlineTimer?.cancel()
    stopCounting(call)
    reportProgress(["opened": ["page": .string(page)]], of: call.number)
  }
}
