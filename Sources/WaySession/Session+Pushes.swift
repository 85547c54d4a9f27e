import WayNavigation
import WayRouting
import WayTransport
import WayValues

// Pushes, each of which is carried out once for its idempotency key.
extension Session {
  /// Begins a push that makes a call. `client` is the client that is called, or on whose behalf a
  /// page is opened. `rights` are those of the pusher; `nil` for the app. Calls `onOutcome` once on
  /// the loop, possibly before it returns. Returns the number for ``cancelPush(_:)`` if there is no
  /// outcome yet.
  func begin(
    _ push: SessionPush, client: String?, by rights: Rights?,
    _ onOutcome: @escaping (PushOutcome) -> Void
  ) -> CallNumber? {
    let name = push.keyName(by: rights, client: client)
    let operation: CallOperation
    do throws(CallError) {
      operation = try self.operation(of: push, client: client, by: rights, name)
    } catch {
      onOutcome(.failed(error))
      return nil
    }
    let number = makeCallNumber()
    let wait = PushWait(number, onOutcome)
    let isHostAbsent = isHostAbsent(for: operation)
    if let name {
      begin(operation, push, name, by: rights, for: wait)
    } else if let call = begin(
      number, operation.kind, by: rights, for: wait, timeout: operation.timeout)
    {
      call.uri = operation.uri
      run(operation, call)
    }
    if isHostAbsent || waitsForAbsentClient(number, name) {
      wait.resolve(.waiting)
      reportIfAway(AwayPush(push, at: environment.now()), isWaiting: true)
    } else if operation.kind == .open {
      limit(wait, to: push.timeout, name)
    }
    return wait.isPending ? number : nil
  }

  /// Cancels the call of a push. A page that is already shown stays open: its user must not lose it
  /// because the pusher has lost its connection.
  func cancelPush(_ number: CallNumber) {
    switch call(number)?.work {
    case .page?: break
    case .key(let name)? where idempotencyKeys.execution(of: name)?.page != nil: break
    default: stop(number, .cancelled)
    }
  }

  /// Delivers a deep link. `unclaimed` and `copies` are those of a link for several sessions.
  func deliver(
    _ link: DeepLink, by rights: Rights?, _ unclaimed: UnclaimedLinks.UnclaimedLink? = nil,
    _ copies: DeepLinkCopies? = nil
  ) -> PushOutcome {
    let name = link.key.map { ScopedKey(owner: Rights.pushKeyOwner(rights), text: $0) }
    do throws(CallError) {
      let state = try deliver(link, by: rights ?? appRights, under: name, unclaimed, copies: copies)
      if state == .followed { return .delivered(nil) }
      reportIfAway(AwayPush(link, at: environment.now()), isWaiting: true)
      return .waiting
    } catch {
      guard error.isRefusal, let rights else { return .failed(error) }
      events.recordRefusal(error, of: nil, about: link.uri, by: rights.caller)
      return .failed(error.markedFromNestedCall)
    }
  }

  /// Sends an event to the subscribers of its topic, once for its key.
  func publish(
    _ event: PublishedEvent, only client: String?, under name: ScopedKey,
    _ request: IdempotentRequest
  ) -> Result<EventReach, CallError> {
    Result { () throws(CallError) in
      try performOnce(name, request) {
        .value(.integer(events.deliver(event, only: client).rawValue))
      }
    }.map { $0.value.integer.flatMap(EventReach.init(rawValue:)) ?? .noSubscriber }
  }

  /// Whether the session has received another push under the key.
  func conflicts(_ name: ScopedKey, _ request: IdempotentRequest) -> Bool {
    idempotencyKeys.conflicts(request, name, at: loop.nanoseconds)
  }
}

extension Session {
  /// Returns the call that a push makes. Fails with 2504 if `client` is not in the session.
  private func operation(
    of push: SessionPush, client name: String?, by pusher: Rights?, _ keyName: ScopedKey?
  ) throws(CallError) -> CallOperation {
    let (rights, timeout) = (pusher ?? appRights, push.timeout.clampedTimeout)
    let key = keyName.map { RouterIdempotencyKey(session: id, owner: $0.owner, text: $0.text) }
    switch push.action {
    case .open(let uri, let style, let exts):
      var options = SessionCallOptions(
        rights: rights, params: push.params, exts: exts, style: style, timeout: timeout,
        idempotencyKey: key)
      if let name {
        guard let client = clients.named(name) else { throw .clientAbsent(name) }
        options.callingPage = client.page
      }
      return .route(.open, uri: uri, options)
    case .invoke(let uri, let exts):
      let options = SessionCallOptions(
        rights: rights, params: push.params, exts: exts, timeout: timeout, idempotencyKey: key)
      return .route(.invoke, uri: uri, options)
    case .pageCall(let page, let method):
      return .pageMethod(
        PageMethodRequest(
          page: page, method: method, params: push.params, rights: rights, timeout: timeout,
          key: key))
    case .edit(let edit):
      var callingPage: String?
      if let name {
        guard let client = clients.named(name) else { throw .clientAbsent(name) }
        callingPage = client.page
      }
      return .stackEdit(
        StackEditRequest(
          params: edit, rights: rights, callingPage: callingPage, timeout: timeout))
    case .client(let method):
      guard let name, clients.named(name) != nil else { throw .clientAbsent(name ?? "") }
      return .clientMethod(
        ClientMethodRequest(
          client: name, method: method, params: push.params, rights: rights, timeout: timeout))
    case .deliver, .event:
      throw CallError(.internal, "Deep links and events are no calls")
    }
  }

  /// Begins the call that waits for the result of a push. Returns `nil` if the session has ended.
  private func begin(
    _ number: CallNumber, _ kind: CallKind, by rights: Rights?, for wait: PushWait,
    timeout: Duration?
  ) -> ActiveCall? {
    let receiver = AppCaller.ResultReceiver.code(
      onResult: { wait.resolve($0) }, onPageShown: { wait.page = $0 })
    return beginCall(
      number, kind, AppCaller(rights: rights, receiver: receiver), timeout: timeout)
  }

  /// Waits for the call of a key, and makes it unless it was made before.
  private func begin(
    _ operation: CallOperation, _ push: SessionPush, _ name: ScopedKey, by rights: Rights?,
    for wait: PushWait
  ) {
    let request = push.request
    do throws(CallError) {
      switch try idempotencyKeys.decide(about: request, name, at: loop.nanoseconds) {
      case .respond(let result): wait.resolve(result)
      case .wait(let page):
        setOperation(operation, of: name)
        wait.page = page
        addWaiter(wait, name, operation.kind, by: rights)
      case .start:
        let leader = makeCallNumber()
        try idempotencyKeys.begin(name, request, operation, leader: leader)
        addWaiter(wait, name, operation.kind, by: rights)
        guard let call = beginLeader(leader, name, operation.kind, timeout: operation.timeout)
        else { return }
        call.uri = operation.uri
        run(operation, call)
      }
    } catch {
      wait.resolve(.failed(error))
    }
  }

  private func addWaiter(
    _ wait: PushWait, _ name: ScopedKey, _ kind: CallKind, by rights: Rights?
  ) {
    guard let call = begin(wait.number, kind, by: rights, for: wait, timeout: nil) else { return }
    call.work = .key(name)
    idempotencyKeys.addWaiter(wait.number, for: name)
  }

  /// Whether the host of the call's URI, or of a page that it opens, has lost its connection.
  private func isHostAbsent(for operation: CallOperation) -> Bool {
    switch operation {
    case .route(_, let uri, let options): isHostAbsent(of: uri, options.params)
    case .stackEdit(let edit):
      edit.params.pages.contains { isHostAbsent(of: $0.uri, $0.params) }
    case .pageMethod, .clientMethod, .deepLink: false
    }
  }

  private func isHostAbsent(of uri: String, _ params: ValueObject) -> Bool {
    guard let destination = try? resolver.destination(of: uri, params, checking: false) else {
      return false
    }
    return resolver.isAbsent(destination)
  }

  /// Whether the call of a push waits for a client that has lost its connection.
  private func waitsForAbsentClient(_ number: CallNumber, _ name: ScopedKey?) -> Bool {
    let leader = name.flatMap { idempotencyKeys.execution(of: $0)?.leader }
    guard case .request(_, let client)? = call(leader ?? number)?.work else { return false }
    return client.isDisconnected
  }

  /// Ends the wait for the outcome of a page that has not ended in time. The page stays open.
  private func limit(_ wait: PushWait, to timeout: Duration, _ name: ScopedKey?) {
    guard wait.isPending else { return }
    wait.timer = loop.schedule(after: timeout.clampedTimeout) { [weak self] in
      self?.assumeIsolated { session in
        guard let page = wait.page else { return }
        let error = CallError(
          .deadline, "The page did not end within the deadline; it stays open",
          data: ["page": .string(page)])
        wait.resolve(.failed(error))
        guard let name else { return }
        // The call of the key continues without this one.
        session.idempotencyKeys.removeWaiter(wait.number, name)
        session.settle(wait.number, .failure(error))
      }
    }
  }
}

extension Session {
  /// Passes a push on to the push service if no client of the session has a connection. `push` is
  /// evaluated only then.
  func reportIfAway(_ push: @autoclosure () -> AwayPush?, isWaiting: Bool) {
    guard let report = environment.eventSink.awayPush, clients.areAllDisconnected,
      var push = push()
    else { return }
    push.session = id
    push.user = identity.user
    push.isWaiting = isWaiting
    report(push)
  }
}
