import WayRouting
import WayTransport
import WayValues

// Calls under idempotency keys: one for all requests with a key, each of which waits for its result.
// Performs what ``SessionIdempotencyKeys`` decides.
extension Session {
  /// The maximum length of a key, in bytes.
  private static let maxKeyLength = 128

  /// Returns an idempotency key in the form that Swift code gets.
  func idempotencyKey(_ text: String, of client: Client) -> RouterIdempotencyKey {
    RouterIdempotencyKey(session: id, owner: client.keyOwner, text: text)
  }

  /// Performs a request of a client with these params under an idempotency key. The first request
  /// makes the call; later ones wait for its result.
  func perform(
    _ operation: CallOperation, under key: String, _ request: IdempotentRequest,
    timeout: Duration?, _ params: Value, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    guard (1...Self.maxKeyLength).contains(key.utf8.count) else {
      throw .invalidParams("params.key must be a string of 1 to \(Self.maxKeyLength) bytes")
    }
    let name = ScopedKey(owner: handle.client.keyOwner, text: key)
    switch try idempotencyKeys.decide(about: request, name, at: loop.nanoseconds) {
    case .respond(let result):
      try checkAccess(of: operation)
      switch result {
      case .success(let response): return .now(response)
      case .failure(let error): return .failed(error)
      }
    case .wait(let page):
      try checkAccess(of: operation)
      setOperation(operation, of: name)
      let call = try addWaiter(for: name, operation, request, timeout: timeout, params, handle)
      if let page { reportOpened(page, to: call) }
    case .start:
      if case .pageMethod(var pageRequest) = operation { _ = try prepare(&pageRequest) }
      let leader = makeCallNumber()
      try idempotencyKeys.begin(name, request, operation, leader: leader)
      do throws(CallError) {
        try addWaiter(for: name, operation, request, timeout: timeout, params, handle)
      } catch {
        idempotencyKeys.cancel(name)
        throw error
      }
      startLeader(leader, name, operation, request, for: handle.client)
    }
    return .later
  }

  /// Checks that the caller may call a method of a page that is still open. Fails with 2403.
  private func checkAccess(of operation: CallOperation) throws(CallError) {
    guard case .pageMethod(let pageRequest) = operation,
      let page = pages[pageRequest.page]?.page
    else { return }
    try PageMethodTarget.checkAccess(to: page, for: pageRequest.rights, in: pages, resolver)
  }

  /// Performs work that ends at once under an idempotency key: once for all requests with the key,
  /// which get the same response. Fails with 2409, and with 2429 if too many keys are in use.
  func performOnce(
    _ name: ScopedKey, _ request: IdempotentRequest,
    _ work: () throws(CallError) -> SessionCallResponse
  ) throws(CallError) -> SessionCallResponse {
    switch try idempotencyKeys.decide(about: request, name, at: loop.nanoseconds) {
    case .respond(let result): return try result.get()
    case .wait: throw .keyConflict(name.text)
    case .start: break
    }
    try idempotencyKeys.begin(name, request, leader: makeCallNumber())
    // What the work sends waits until the key is stored.
    journal?.recordChange(.idempotencyKey(name))
    let result = Result { () throws(CallError) in try work() }
    _ = idempotencyKeys.end(name, result, within: clients.budget, at: loop.nanoseconds)
    return try result.get()
  }

  /// Adds a request of a client that waits for the result of a key.
  @discardableResult
  private func addWaiter(
    for name: ScopedKey, _ operation: CallOperation, _ request: IdempotentRequest,
    timeout: Duration?, _ params: Value, _ handle: ReplyHandle
  ) throws(CallError) -> ActiveCall {
    if operation.kind == .open { try handle.client.calls.checkPageWaits() }
    // The leader's result is already adapted to the kind of the call.
    let call = try beginCall(
      .request(handle), operation.kind, timeout: timeout, size: request.size)
    call.work = .key(name)
    call.idempotencyKey = name.text
    call.uri = request.target
    call.requestParams = params
    idempotencyKeys.addWaiter(call.number, for: name)
    return call
  }

  /// Starts the call for all waiting requests.
  private func startLeader(
    _ number: CallNumber, _ name: ScopedKey, _ operation: CallOperation,
    _ request: IdempotentRequest, for client: Client
  ) {
    guard let call = beginLeader(number, name, operation.kind) else { return }
    call.uri = request.target
    guard isPersisted else { return run(operation, call) }
    // Work starts once the key is stored. After a crash, the call is made again or has not begun.
    // Later requests of the client wait for it.
    client.calls.holdRequests()
    journal?.recordChange(.clientState(client.id))
    journal?.whenStored { [weak self] in
      client.calls.releaseRequests()
      self?.assumeIsolated { session in
        if let call = session.call(number) { session.run(operation, call) }
      }
    }
  }

  /// Begins the call that does the work of a key. Returns `nil` if the session has ended.
  func beginLeader(
    _ number: CallNumber, _ name: ScopedKey, _ kind: CallKind, timeout: Duration? = nil
  ) -> ActiveCall? {
    beginCall(number, kind, AppCaller(receiver: .key(name)), timeout: timeout)
  }

  /// Provides the work of a call from before a restart, which can start again from now on.
  func setOperation(_ operation: CallOperation, of name: ScopedKey) {
    guard let leader = idempotencyKeys.setOperation(operation, of: name) else { return }
    call(leader)?.rights = operation.rights
  }

  /// Starts the work of a key again, because the host that worked on it is gone or has lost its
  /// state. If no other host can be asked, the call ends with `error`. Returns false if the call
  /// does no such work.
  func restart(_ number: CallNumber, after error: CallError) -> Bool {
    guard !state.isClosing, let call = call(number), let name = call.leadKey,
      call.rights?.hasExpired(at: environment.now()) != true,
      let operation = idempotencyKeys.restart(name)
    else { return false }
    call.work = .none
    call.resolution = nil
    if let task = call.taskStart { events.emitTaskEnd(of: task, error) }
    call.taskStart = nil
    run(operation, call, after: error)
    return true
  }

  /// Restores the call of a key that waits for a page from before the server's restart, unless the page
  /// is not there.
  func restoreLeader(_ name: ScopedKey, _ request: IdempotentRequest, page: String) {
    let leader = makeCallNumber()
    guard pages.restore(leader, openerOf: page) else { return }
    idempotencyKeys.restore(name, request, leader: leader, page: page)
    beginLeader(leader, name, .open)?.work = .page(page)
  }

  /// Restores the call of a key that a host has worked on since before the server's restart, by the
  /// request with this number, unless the host does not exist any more.
  func restoreLeader(
    _ name: ScopedKey, _ request: IdempotentRequest,
    _ hostRequest: SessionIdempotencyKeys.HostRequest, sequenceNumber: UInt64
  ) {
    guard let host = clients[hostRequest.client] else { return }
    let leader = makeCallNumber()
    idempotencyKeys.restore(name, request, leader: leader, hostRequest)
    let pending = PendingRequest(hostRequest.method, for: .run(leader), by: self)
    pending.sequenceNumber = sequenceNumber
    host.pending.restore(hostRequest.id, pending)
    let kind: CallKind = request.method == CallKind.open.method.name ? .open : .invoke
    let call = beginLeader(leader, name, kind)
    call?.work = .request(hostRequest.id, host)
    call?.uri = request.target
    call?.declaredResult = declaredResult(of: request, hostRequest, host: host.name)
  }

  /// Returns the declared result of a call that a host has worked on since before a restart.
  private func declaredResult(
    of request: IdempotentRequest, _ hostRequest: SessionIdempotencyKeys.HostRequest, host: String
  ) -> DeclaredResult? {
    guard hostRequest.method == "page.call" else {
      let resolution = try? resolver.resolve(request.target, [:], checking: false, for: nil)
      return resolution.flatMap { DeclaredResult(of: $0.route, at: $0.uri, host: host) }
    }
    guard let page = pages[request.target]?.page else { return nil }
    let method = String(request.method.dropFirst("page.call ".count))
    return DeclaredResult(of: page, method: method, in: resolver.snapshot, host: host)
  }

  /// Settles all requests of a key with the result of its call.
  func settleRequests(of name: ScopedKey, _ result: Result<SessionCallResponse, CallError>) {
    let waiting = idempotencyKeys.end(name, result, within: clients.budget, at: loop.nanoseconds)
    for number in waiting { settle(number, result) }
  }

  /// Records the page that the call of a key has opened, for all its requests.
  func recordPage(_ page: String, of name: ScopedKey) {
    for number in idempotencyKeys.recordPage(page, name) {
      guard let call = call(number) else { continue }
      liftLimits(of: call)
      notifyPageShown(page, by: call)
    }
  }

  /// Reports to a request that its page is already open.
  private func reportOpened(_ page: String, to call: ActiveCall) {
    liftLimits(of: call)
    reportProgress(["opened": ["page": .string(page)]], of: call.number)
  }
}

extension Client {
  /// The owner of this client's keys. A guest's keys belong to its page, and those of agents to the
  /// program that their tokens name; other clients share the session's keys.
  fileprivate var keyOwner: String? {
    guard rights.caller.isGuest else { return nil }
    if let id = rights.caller.agent?.id { return "agent \(id)" }
    return page ?? name
  }
}
