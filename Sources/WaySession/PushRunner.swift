import WayNavigation
import WayRouting
import WayTransport
import WayValues

/// Carries out pushes in one session: once for each idempotency key.
///
/// A push waits for the result of its call, but not for a client that has lost its connection: the
/// call then continues without it.
enum PushRunner {
  /// Begins a push. `client` is the client that is called, or on whose behalf a page is opened.
  /// `rights` are those of the pusher; `nil` for the app. Calls `onOutcome` once on the loop,
  /// possibly before it returns. Returns the number for ``cancel(_:in:)`` if there is no outcome
  /// yet.
  static func begin(
    _ push: SessionPush, client: String?, by rights: Rights?, in session: isolated Session,
    _ onOutcome: @escaping (PushOutcome) -> Void
  ) -> CallNumber? {
    let name = push.keyName(by: rights, client: client)
    let key = name.map { RouterIdempotencyKey(session: session.id, owner: $0.owner, text: $0.text) }
    let work: PushWork
    do throws(CallError) {
      work = try PushWork(
        push, client: client, by: rights ?? session.appRights, key: key, in: session)
    } catch {
      onOutcome(.failed(error))
      return nil
    }
    let number = session.makeCallNumber()
    let wait = PushWait(number, by: rights, onOutcome)
    if let name {
      begin(work, push, name, for: wait, in: session)
    } else {
      begin(work, for: wait, in: session)
    }
    if work.isAbsent || waitsForAbsentClient(number, name, in: session) {
      wait.resolve(.waiting)
    } else if work.kind == .open {
      limit(wait, to: push.timeout, name, in: session)
    }
    return wait.isPending ? number : nil
  }

  /// Cancels the call of a push. A page that is already shown stays open: its user must not lose it
  /// because the pusher has lost its connection.
  static func cancel(_ number: CallNumber, in session: isolated Session) {
    switch session.call(number)?.work {
    case .page?: break
    case .key(let name)? where session.idempotencyKeys.page(of: name) != nil: break
    default: session.stop(number, .cancelled)
    }
  }

  /// Delivers a deep link. `unclaimed` and `copies` are those of a link for several sessions.
  static func deliver(
    _ link: DeepLink, by rights: Rights?, _ unclaimed: UnclaimedLinks.UnclaimedLink? = nil,
    _ copies: DeepLinkCopies? = nil, in session: isolated Session
  ) -> PushOutcome {
    let name = link.key.map {
      ScopedKey(owner: Rights.pushKeyOwner(rights), text: $0)
    }
    do throws(CallError) {
      if let name, let result = try find(name, link.request, in: session) {
        return result.value["waiting"] == 0 ? .delivered(nil) : .waiting
      }
      let state = try session.deliver(
        link, by: rights ?? session.appRights, under: name, unclaimed, copies: copies)
      return state == .followed ? .delivered(nil) : .waiting
    } catch {
      guard error.isRefusal, let rights else { return .failed(error) }
      session.events.recordRefusal(error, of: nil, about: link.uri, by: rights.caller)
      return .failed(error.markedFromNestedCall)
    }
  }

  /// Sends an event to the subscribers of its topic, once for its key.
  static func publish(
    _ event: PublishedEvent, only client: String?,
    under name: ScopedKey, _ request: IdempotentRequest,
    in session: isolated Session
  ) -> Result<EventReach, CallError> {
    Result { () throws(CallError) in
      if let result = try find(name, request, in: session) {
        return result.value.integer.flatMap(EventReach.init(rawValue:)) ?? .noSubscriber
      }
      try session.idempotencyKeys.begin(name, request, leader: session.makeCallNumber())
      // The event waits until the key is stored.
      session.journal?.recordChange(.idempotencyKey(name))
      let reach = session.events.deliver(event, only: client)
      _ = session.idempotencyKeys.end(
        name, .success(.value(.integer(reach.rawValue))), within: session.clients.budget,
        at: session.loop.nanoseconds)
      return reach
    }
  }

  /// Whether the session has received another push under the key.
  static func conflicts(
    _ name: ScopedKey, _ request: IdempotentRequest,
    in session: isolated Session
  ) -> Bool {
    switch session.idempotencyKeys.find(name, at: session.loop.nanoseconds) {
    case .completed(let known, _): known != request
    case .running(let running): running.request != request
    case nil: false
    }
  }

  /// Returns the result of a push that ends at once, if the session has received it before. Throws
  /// 2409 if it was another one.
  private static func find(
    _ name: ScopedKey, _ request: IdempotentRequest,
    in session: isolated Session
  ) throws(CallError) -> SessionCallResponse? {
    switch session.idempotencyKeys.find(name, at: session.loop.nanoseconds) {
    case .completed(request, .success(let response))?: return response
    case .completed?, .running?: throw .keyConflict(name.text)
    case nil: return nil
    }
  }
}

/// The call that a push makes in one session.
private struct PushWork: Sendable {
  let kind: CallKind
  /// How long the call may take; `nil` if its request to a client has a timeout of its own.
  let timeout: Duration?
  /// The URI that is called.
  let uri: String?
  let rights: Rights
  /// Whether the host of the URI has lost its connection.
  let isAbsent: Bool
  let begin: IdempotentCalls.CallStarter

  /// Fails with 2504 if `client` is not in the session.
  init(
    _ push: SessionPush, client name: String?, by rights: Rights, key: RouterIdempotencyKey?,
    in session: isolated Session
  ) throws(CallError) {
    let timeout = push.timeout.clampedTimeout
    self.rights = rights
    switch push.action {
    case .open(let uri, let style, let exts):
      var options = SessionCallOptions(
        rights: rights, params: push.params, exts: exts, style: style, timeout: timeout,
        idempotencyKey: key)
      if let name {
        guard let client = session.clients.named(name) else { throw .clientAbsent(name) }
        options.callingPage = client.page
      }
      kind = .open
      self.timeout = timeout
      self.uri = uri
      isAbsent = Self.isHostAbsent(uri, push.params, in: session)
      begin = Self.starter(of: .open, uri, options)
    case .invoke(let uri, let exts):
      let options = SessionCallOptions(
        rights: rights, params: push.params, exts: exts, timeout: timeout, idempotencyKey: key)
      kind = .invoke
      self.timeout = timeout
      self.uri = uri
      isAbsent = Self.isHostAbsent(uri, push.params, in: session)
      begin = Self.starter(of: .invoke, uri, options)
    case .pageCall(let page, let method):
      kind = .invoke
      self.timeout = timeout
      uri = nil
      isAbsent = false
      begin = { [params = push.params] origin, session throws(CallError) in
        let call = try session.beginCall(origin, size: 0)
        call.attemptedOperation = SessionFailedOperation(
          "page.call", about: page, by: rights.caller, in: session)
        let target = try PageMethodTarget(of: page, for: rights, in: session)
        return try target.run(method, params, rights, timeout, key: key, call, in: session)
      }
    case .client(let method):
      guard let name, session.clients.named(name) != nil else { throw .clientAbsent(name ?? "") }
      kind = .invoke
      self.timeout = nil
      uri = nil
      isAbsent = false
      begin = { [params = push.params] origin, session throws(CallError) in
        guard let client = session.clients.named(name) else { throw .clientAbsent(name) }
        let call = try session.beginCall(origin, size: 0)
        call.rights = rights
        let id = session.request(
          client, method, .object(params), for: .push(call.number), timeout: timeout)
        if let id { call.work = .request(id, client) }
        return .later
      }
    case .deliver, .event:
      throw CallError(.internal, "Deep links and events are no calls")
    }
  }

  /// Returns the start of the call of a URI.
  private static func starter(
    of kind: CallKind, _ uri: String, _ options: SessionCallOptions
  ) -> IdempotentCalls.CallStarter {
    { origin, session throws(CallError) in
      try CallRunner.advance(SessionCallResolution(kind, uri, options), for: origin, in: session)
    }
  }

  private static func isHostAbsent(
    _ uri: String, _ params: ValueObject, in session: isolated Session
  ) -> Bool {
    guard
      let destination = try? session.resolver.destination(of: uri, params, checking: false)
    else { return false }
    return session.resolver.isAbsent(destination)
  }
}

/// A push that waits for the result of its call. Confined to the loop of its session.
private final class PushWait: @unchecked Sendable {
  /// The call that waits for the result.
  let number: CallNumber
  /// The rights of the pusher; `nil` for the app.
  private let rights: Rights?
  private var onOutcome: ((PushOutcome) -> Void)?
  /// The page that the call has opened.
  var page: String?
  /// Fires when the page has not ended in time.
  var timer: (any ScheduledWork)?

  init(_ number: CallNumber, by rights: Rights?, _ onOutcome: @escaping (PushOutcome) -> Void) {
    self.number = number
    self.rights = rights
    self.onOutcome = onOutcome
  }

  /// Whether there is no outcome yet.
  var isPending: Bool { onOutcome != nil }

  /// Ends the wait. Only the first outcome counts.
  func resolve(_ outcome: PushOutcome) {
    timer?.cancel()
    timer = nil
    let handler = onOutcome
    onOutcome = nil
    handler?(outcome)
  }

  /// The caller of the call.
  var caller: AppCaller {
    AppCaller(
      rights: rights,
      onResult: { result in
        switch result {
        case .success(let response): self.resolve(.delivered(response.value))
        case .failure(let error): self.resolve(.failed(error))
        }
      }, onPageShown: { self.page = $0 })
  }
}

extension PushRunner {
  /// Makes a call that no key stands for.
  private static func begin(
    _ work: PushWork, for wait: PushWait, in session: isolated Session
  ) {
    guard
      let call = session.beginCall(wait.number, work.kind, wait.caller, timeout: work.timeout)
    else { return }
    call.uri = work.uri
    start(work, call, in: session)
  }

  /// Waits for the call of a key, and makes it unless it was made before.
  private static func begin(
    _ work: PushWork, _ push: SessionPush, _ name: ScopedKey,
    for wait: PushWait,
    in session: isolated Session
  ) {
    let request = push.request
    switch session.idempotencyKeys.find(name, at: session.loop.nanoseconds) {
    case .completed(request, let result)?: return wait.caller.onResult(result)
    case .running(let running)? where running.request == request:
      // A call from before a restart can be made again only from now on.
      if let leader = session.call(running.leader), leader.restart == nil {
        leader.restart = IdempotentCalls.restart(
          of: leader, work.rights.caller, in: session, work.begin)
        leader.rights = work.rights
      }
      wait.page = running.page
      addWaiter(wait, name, work.kind, in: session)
    case .completed?, .running?: wait.resolve(.failed(.keyConflict(name.text)))
    case nil:
      let leader = session.makeCallNumber()
      do throws(CallError) {
        try session.idempotencyKeys.begin(name, request, leader: leader)
      } catch {
        return wait.resolve(.failed(error))
      }
      addWaiter(wait, name, work.kind, in: session)
      let caller = AppCaller(
        onResult: { session.finishPush(name, $0) },
        onPageShown: { session.recordPushedPage($0, name) })
      guard let call = session.beginCall(leader, work.kind, caller, timeout: work.timeout) else {
        return
      }
      call.leadKey = name
      call.uri = work.uri
      call.restart = IdempotentCalls.restart(
        of: call, work.rights.caller, in: session, work.begin)
      start(work, call, in: session)
    }
  }

  private static func addWaiter(
    _ wait: PushWait, _ name: ScopedKey, _ kind: CallKind,
    in session: isolated Session
  ) {
    guard let call = session.beginCall(wait.number, kind, wait.caller, timeout: nil) else { return }
    call.work = .key(name)
    session.idempotencyKeys.addWaiter(wait.number, for: name)
  }

  private static func start(_ work: PushWork, _ call: ActiveCall, in session: isolated Session) {
    let number = call.number
    do throws(CallError) {
      switch try work.begin(.call(call), session) {
      case .now(let response): session.settle(number, .success(response))
      case .failed(let error): session.settle(number, .failure(error))
      case .later: break
      }
    } catch {
      if let uri = work.uri {
        session.events.emitRouteFailure(uri, error, by: work.rights.caller)
      }
      session.settle(number, .failure(error))
    }
  }

  /// Whether the call of a push waits for a client that has lost its connection.
  private static func waitsForAbsentClient(
    _ number: CallNumber, _ name: ScopedKey?, in session: isolated Session
  ) -> Bool {
    var working = number
    if let name,
      case .running(let running)? = session.idempotencyKeys.find(
        name, at: session.loop.nanoseconds)
    {
      working = running.leader
    }
    guard case .request(_, let client)? = session.call(working)?.work else { return false }
    return client.isDisconnected
  }

  /// Ends the wait for the outcome of a page that has not ended in time. The page stays open.
  private static func limit(
    _ wait: PushWait, to timeout: Duration, _ name: ScopedKey?,
    in session: isolated Session
  ) {
    guard wait.isPending else { return }
    wait.timer = session.loop.schedule(after: timeout.clampedTimeout) { [weak session] in
      session?.assumeIsolated { session in
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
  /// Settles all pushes of a key with the result of its call.
  fileprivate func finishPush(
    _ name: ScopedKey, _ result: Result<SessionCallResponse, CallError>
  ) {
    let waiting = idempotencyKeys.end(name, result, within: clients.budget, at: loop.nanoseconds)
    for number in waiting { settle(number, result) }
  }

  fileprivate func recordPushedPage(_ page: String, _ name: ScopedKey) {
    for number in idempotencyKeys.recordPage(page, name) {
      if case .app(let caller)? = call(number)?.caller { caller.onPageShown?(page) }
    }
  }
}
