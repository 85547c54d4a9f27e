import DequeModule
import WayNavigation
import WayPatterns
import WayRPC
import WayRouting
import WayTransport
import WayValues

/// One running app instance. It owns the parts, each of which keeps a state of its own and decides,
/// and carries out what they decide.
///
/// An actor on its loop; connections of the same loop enter without a hop. Answers that do not need
/// another party are given before a message has been dealt with.
package actor Session: Requester {
  package nonisolated let id: String
  nonisolated let joinToken: String
  nonisolated let epoch: String
  /// Nil where the session ends with the server.
  let journal: Journal?
  /// Whether it may be kept, and so another server may have it.
  nonisolated let isKeepable: Bool
  nonisolated let environment: SessionEnvironment
  /// Whether the app takes the spans of calls.
  nonisolated let isTraced: Bool
  private nonisolated let executor: UnownedSerialExecutor

  let members: SessionClients
  let mail: ClientWriter
  let guide: SessionDestinationResolver
  let happenings: Happenings
  // Asked at each step of a call, and what they are asked runs nothing of anybody else's: so are
  // the others that are unchecked.
  @exclusivity(unchecked) var pages: Pages
  var links: PendingLinks
  var invitations = Invitations()
  var keys: Keys
  /// Who its first client is; those who join with its token and have none of their own are that too.
  var identity: Identity
  /// Those of the app's own code.
  nonisolated let ownRights: Rights
  @exclusivity(unchecked) private var calls = Calls()
  /// What is to be done for the pages, while it is being done.
  @exclusivity(unchecked) private var actions: Deque<PageAction> = []
  @exclusivity(unchecked) private var isActing = false
  /// Set when no new call may begin to wait.
  private(set) var isEnding = false
  /// Set when another server is to carry out what comes.
  @exclusivity(unchecked) private(set) var isMoving = false
  /// Set when the session is handed over.
  private(set) var isReleased = false
  /// Set when it is another server's.
  private var hasMoved = false
  /// Whether the server may not take it for its own now, so that nobody comes in.
  var isCutOff = false
  /// Set when no new task or page may begin.
  private(set) var isDraining = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor }
  nonisolated var limits: Limits { environment.limits }
  nonisolated var loop: any EventLoop { environment.loop }

  /// `heardBySwift` is what Swift code wants to know of it; `record` is what is kept of one that
  /// goes on from another life of the server.
  init(
    id: String, _ identity: Identity, _ environment: SessionEnvironment,
    heardBySwift: Happening.Kinds, _ journal: Journal? = nil, from record: SessionRecord? = nil
  ) {
    self.id = id
    self.identity = identity
    self.journal = journal
    isKeepable = journal != nil
    joinToken = record?.joinToken ?? Token.random()
    epoch = record?.epoch ?? Token.random(12)
    ownRights = Rights.ofApp(in: id, environment.logger)
    self.environment = environment
    isTraced = environment.tracer != nil
    let (loop, limits) = (environment.loop, environment.limits)
    executor = loop.asUnownedSerialExecutor()
    let budget = ByteBudget(.session, limits.maxSessionBytes, within: environment.budget)
    members = SessionClients(of: id, limits: limits, budget: budget)
    mail = ClientWriter(limits: limits, members: members, environment.resumables, journal)
    guide = SessionDestinationResolver(environment.router, limits: limits, environment.serverHosts)
    happenings = Happenings(
      of: id, environment,
      Subscribers(
        limits: limits, heardBySwift: heardBySwift, watched: environment.watch.kinds),
      members: members, mail: mail, guide: guide)
    pages = Pages(ByteBudget(.stack, limits.maxStackBytes, within: budget), journal) {
      loop.nanoseconds
    }
    links = PendingLinks(limit: limits.maxLinks)
    keys = Keys(limit: limits.maxKeys, journal)
    journal?.source = self
  }

  /// How many calls are not answered yet, those of Swift code included.
  var callCount: Int { calls.count }
}

extension Session {
  /// Makes a client of a newcomer, which is none of the members before it is added. Fails when the
  /// session is full.
  func makeClient(
    _ newcomer: JoiningClient, channel: any MessageChannel
  ) throws(CallError) -> Client {
    let client = try members.makeClient(
      page: newcomer.page, software: newcomer.software, handshake: newcomer.handshake,
      channel: channel)
    client.rights = rights(of: newcomer, as: client.name)
    return client
  }

  /// What a newcomer may do, once it has a name.
  func rights(of newcomer: JoiningClient, as name: String) -> Rights {
    let software = newcomer.software
    let caller = Caller(
      session: id, identity: newcomer.identity,
      client: .init(
        id: name, name: software.name, version: software.version, page: newcomer.page),
      isGuest: newcomer.invitation != nil, origin: newcomer.handshake.origin,
      address: newcomer.handshake.address, logger: environment.logger)
    return Rights(
      caller, environment.policy, invitation: newcomer.invitation,
      within: newcomer.invitation?.inviter)
  }

  /// The calls of a client that are not answered yet, in their order.
  func unanswered(of client: Client) -> [CallInFlight] {
    calls.all.filter { $0.caller.client === client }.sorted { $0.number < $1.number }
  }

  /// The calls of all, in their order.
  var allCalls: [CallInFlight] { calls.all.sorted { $0.number < $1.number } }

  /// The calls of all clients.
  var clientCalls: [CallInFlight] { calls.all.filter { $0.caller.client != nil } }

  /// The wall clock: milliseconds since 1970-01-01 UTC.
  var wall: Int64 { environment.now() }

  /// The time until the last deadline of a client's calls; nil where none has one.
  func longestDeadline(of client: Client) -> Duration? {
    let now = loop.nanoseconds
    let ends = calls.all.compactMap { call in
      call.caller.client === client ? call.ends : nil
    }
    guard let last = ends.max(), last > now else { return nil }
    return .nanoseconds(Int64(clamping: last - now))
  }

  /// Adds a member, which has been made by ``makeClient(_:channel:)``.
  func add(_ client: Client) {
    members.add(client)
    if client.isResumable {
      environment.resumables.add(client, of: self)
      note(client)
    }
    Renewal.watch(client, in: self)
    happenings.tell(
      .session,
      .joined(
        client: client.name, name: client.software.name, version: client.software.version,
        isFirst: client.id == 1))
  }

  /// Who a member is has changed, or that it is one.
  func note(_ client: Client) {
    journal?.note(RecordKey.client(client.id))
    journal?.note(RecordKey.state(ofClient: client.id))
  }

  /// What a client has not acknowledged in a while is to be kept.
  func look(again client: Client) {
    if client.look == nil { client.look = setAlarm(.seconds(2), .look(client.id)) }
  }

  /// Whether the store takes what changes.
  var isKept: Bool { journal?.isTracking == true }

  /// Takes a member out: what it waits for ends, what waits for it fails, its pages fail. The
  /// session ends with its last member.
  ///
  /// `code` is that of its connection's end; nil where the connection goes on, which takes the
  /// answers to its calls, or was lost.
  func remove(_ id: ClientID, code: UInt16? = nil, connectionGoesOn: Bool = false) {
    guard let client = members.remove(id) else { return }
    client.expiry?.cancel()
    client.absence?.cancel()
    client.ack?.cancel()
    client.look?.cancel()
    environment.resumables.remove(client)
    environment.owner.watcherLeft(client)
    note(client)
    if let invitation = client.rights.invitation {
      journal?.note(RecordKey.invitations)
      invitations.giveBack(
        invitation, isOver: code == CloseCode.normal.rawValue, at: loop.nanoseconds)
    }
    if !connectionGoesOn { client.channel = nil }
    pages.isHeld = true
    guide.hosts.removeAll(of: id)
    environment.serverHosts.removeAll(of: client)
    for number in client.drainCalls() { stop(number, .callerGone) }
    client.channel = nil
    act(pages.hostLeft(client.name))
    for request in client.pending.drain() {
      request.settle()
      let error = CallError.gone(during: request.method)
      tell(request, .failure(error), of: client)
      answered(request, .failure(.unanswered(error)))
    }
    happenings.subscribers.removeAll(of: id)
    if !hasMoved { happenings.tell(.session, .left(client: client.name, code: code)) }
    if members.isEmpty { end() }
    pages.isHeld = false
    act([])
  }

  /// No new task and page may begin from now on.
  func beginDraining() { isDraining = true }

  /// What comes from now on is another server's to carry out.
  func beginMoving() { isMoving = true }

  /// The session is another server's: what ends here goes on there.
  func wasMoved() { hasMoved = true }

  /// The session is handed over: nobody comes in here any more.
  func wasReleased() { isReleased = true }

  /// No new call may begin to wait from now on, and what has waited for its turn does not get it any
  /// more.
  func stopCalls() {
    isEnding = true
    pages.isHeld = true
  }

  /// Ends what is left of the session.
  func end() {
    isEnding = true
    let unfollowed = links.removeAll()
    act(pages.end())
    for number in calls.numbers { stop(number, .callerGone) }
    if !hasMoved { happenings.tell(.session, .ended) }
    journal?.end()
    environment.owner.ended(id, unfollowed: unfollowed)
  }
}

extension Session {
  private static let deliverIsolated:
    @Sendable (isolated Session, [UInt8], String, String?) -> Void = {
      $0.happenings.deliver($1, $2, only: $3)
    }
  /// Sends an event that is written to those of a session who want its topic, to one alone where it
  /// is named. For who is on the session's loop for certain: without what `assumeIsolated` does
  /// before, which would be a tenth of a delivery.
  static let deliver = unsafeBitCast(
    deliverIsolated, to: (@Sendable (Session, [UInt8], String, String?) -> Void).self)

  /// Answers one request. `mark` is that of a call that did not end at once.
  func reply(_ answer: Answer, to address: ReplyHandle, _ mark: CallStart? = nil) {
    happenings.record(nil, of: address, mark) { .success(answer) }
    mail.answer(answer, to: address)
  }

  /// Refuses one request.
  func reply(_ error: CallError, to address: ReplyHandle, _ mark: CallStart? = nil) {
    happenings.record(error.code, of: address, mark) { .failure(error) }
    mail.answer(error, to: address)
  }

  /// Asks a client; what it answers, or why it does not, comes to ``answered(_:_:)``. Nil where it
  /// cannot be asked.
  @discardableResult
  func ask(
    _ client: Client, _ method: String, _ params: Value, for purpose: RequestPurpose,
    timeout: Duration? = nil
  ) -> RequestID? {
    do {
      let id = try mail.request(client, method, params, for: purpose, by: self)
      if let timeout {
        mail.limit(id, client, setAlarm(timeout, .request(id, client.id)))
      }
      if environment.watch.isOn {
        let opened: CallNumber? =
          if case .open(let page) = purpose { pages.call(openingOf: page) } else { nil }
        client.pending[id]?.note = environment.watch.note(
          id, params, for: purpose.call ?? opened)
      }
      return id
    } catch {
      answered(purpose, .failure(error))
      return nil
    }
  }

  /// A client has answered.
  func complete(_ response: Response, from client: Client) {
    guard let request = mail.take(response, from: client) else { return }
    tell(request, response.result, of: client)
    pages.heard(client.name)
    answered(request, response.result.mapError(RequestFailure.answered))
  }

  /// Tells those who watch how a request to a client has ended.
  @inline(__always)
  func tell(
    _ request: PendingRequest, _ result: Result<Value, CallError>, of client: Client
  ) {
    guard let note = request.note else { return }
    happenings.witness.ended(request.method, note, result, of: client)
  }

  /// Hands an answer on to the session that has asked.
  func answered(_ request: PendingRequest, _ result: Result<Value, RequestFailure>) {
    guard let asker = request.asker as? Session, asker !== self else {
      if let asker = request.asker as? PeerRequester { return asker.answered(result) }
      return answered(request.purpose, result)
    }
    let purpose = request.purpose
    reach(asker) { $0.answered(purpose, result) }
  }

  /// Who is to serve a call; nil where it is gone.
  func host(_ chosen: ChosenHost) -> ServerHosts.Member? {
    if let member = members[chosen.client] {
      return .init(name: member.name, place: .here(member, home: .init(session: self)))
    }
    return environment.serverHosts[chosen.client]
  }

  func answered(_ purpose: RequestPurpose, _ result: Result<Value, RequestFailure>) {
    switch purpose {
    case .close: break
    case .open(let page):
      let failure: RequestFailure? = if case .failure(let failure) = result { failure } else { nil }
      act(pages.answered(page, failure?.ofPage, declined: failure?.isDecline == true))
    case .run(let number) where calls[number]?.journey != nil && result.isDecline:
      CallRunner.goOn(number, in: self)
    case .run(let number): settle(number, result.map(Answer.value).mapError(\.ofTask))
    case .push(let number): settle(number, result.map(Answer.value).mapError(\.ofCall))
    }
  }

  /// Something has not come in its time.
  private func rang(_ alarm: Alarm) {
    switch alarm {
    case .call(let number): stop(number, .deadline)
    case .opening(let page): act(pages.overdue(page))
    case .expiry(let id): Renewal.rang(id, in: self)
    case .ack(let id): Reception.rang(id, in: self)
    case .absence(let id): ClientResume.rang(id, in: self)
    case .look(let id):
      guard let client = members[id] else { return }
      client.look = nil
      mail.note(client)
    case .request(let id, let clientID):
      guard let client = members[clientID], let request = mail.giveUp(id, client) else { return }
      happenings.tell(.host, .hostSilent(client: client.name, method: request.method))
      let error = CallError(.hostAbsent, "The host did not answer \(request.method) in time")
      tell(request, .failure(error), of: client)
      answered(request.purpose, .failure(.unanswered(error)))
    }
  }

  /// Sets what rings unless it is cancelled before.
  func setAlarm(_ time: Duration, _ alarm: Alarm) -> any ScheduledWork {
    loop.schedule(after: time) { [weak self] in
      self?.assumeIsolated { $0.rang(alarm) }
    }
  }
}

extension Session {
  /// Who makes a call: a request, or one that goes on.
  enum Asker {
    case request(ReplyHandle)
    case call(CallInFlight)
  }

  /// Makes the call of a request that is not answered at once; `size` is about what it keeps, in
  /// bytes. Fails where the client has too many, or they keep too much.
  func begin(
    _ asker: Asker, _ entry: Entry = .invoke, deadline: Duration? = nil,
    size: @autoclosure () -> Int
  ) throws(CallError) -> CallInFlight {
    switch asker {
    case .call(let call): return call
    case .request(let address):
      if isEnding { throw .serverEnds }
      let charge = try address.client.charge(CallInFlight.overhead + address.id.size + size())
      let number = calls.makeNumber()
      try address.client.begin(number, at: address)
      mail.note(address.client)
      let mark = CallStart(start: environment.meter.start, note: address.client.note)
      if let note = mark.note { happenings.witness.began(note, number, mark.start, address) }
      return keep(calls.begin(number, entry, .client(address, mark), charge), deadline)
    }
  }

  /// Makes a call of Swift code; it fails at once where the session has ended.
  func begin(
    _ number: CallNumber, _ entry: Entry, _ caller: SwiftCaller, deadline: Duration?
  ) -> CallInFlight? {
    var caller = caller
    if environment.watch.isOn { caller.note = happenings.witness.note(of: entry, number) }
    let call = keep(calls.begin(number, entry, .swift(caller)), deadline)
    guard isEnding else { return call }
    settle(
      number, .failure(CallError(.cancelledByServer, "The session of the call has ended")))
    return nil
  }

  private func keep(_ call: CallInFlight, _ deadline: Duration?) -> CallInFlight {
    if let deadline {
      call.deadline = setAlarm(deadline, .call(call.number))
      call.ends = loop.nanoseconds &+ UInt64(max(deadline / .nanoseconds(1), 0))
    }
    return call
  }

  /// A number for a new call.
  func makeCallNumber() -> CallNumber { calls.makeNumber() }

  /// A call that has not come to its end.
  func call(_ number: CallNumber) -> CallInFlight? { calls[number] }

  /// Gives a call its answer; one that has it already stays as it is, and one that fails may be
  /// helped by the failure handler.
  func settle(_ number: CallNumber, _ result: Result<Answer, CallError>) {
    if case .failure(let error) = result, let call = calls[number],
      Rescue.saves(call, from: error, in: self)
    {
      return
    }
    if let call = calls.end(number) { end(call, result) }
  }

  private func end(_ call: CallInFlight, _ result: Result<Answer, CallError>) {
    let error: CallError? = if case .failure(let error) = result { error } else { nil }
    if let task = call.started { happenings.tellEnd(of: task, error) }
    if let error { happenings.tell(failed: call.attempt, error) }
    call.span?.end(error)
    switch call.caller {
    case .swift(let caller):
      let result = result.map(call.entry.answer)
      if caller.note != nil { happenings.witness.ended(call, result) }
      caller.answer(result)
    case .client(let address, let mark):
      address.client.end(call.number, at: address)
      if address.client.leavesWhenIdle, address.client.isIdle {
        let id = address.client.id
        loop.execute { [weak self] in self?.assumeIsolated { $0.remove(id) } }
      }
      switch result {
      case .success(let answer): reply(call.entry.answer(answer), to: address, mark)
      case .failure(let error): reply(error, to: address, mark)
      }
    }
  }

  /// Hands a call on to a client, whose answer, progress and failure are the call's.
  func forward(
    _ method: String, _ params: Value, to member: ServerHosts.Member, _ call: CallInFlight
  ) {
    switch member.place {
    case .elsewhere(let host):
      let errand = PeerHostRequest(to: host, environment.cluster)
      call.work = .errand(errand)
      errand.ask(method, params, for: call.number, by: self, call.rights)
    case .here(let client, let home):
      guard let home = home.session as? Session, home.loop !== loop else {
        return forward(method, params, to: client, call)
      }
      let errand = LoopHostRequest(to: client, of: home)
      call.work = .errand(errand)
      errand.ask(method, params, for: .run(call.number), by: self, call.rights)
    }
  }

  /// As to a member of any session, to one of this loop.
  func forward(_ method: String, _ params: Value, to host: Client, _ call: CallInFlight) {
    if let id = ask(host, method, params, for: .run(call.number)) {
      call.work = .request(id, host)
    }
  }

  /// Changes the stack, in its turn, and answers the call with the change.
  func change(
    _ operation: StackOperation, _ exts: ValueObject = [:], by caller: Caller,
    for call: CallInFlight
  ) {
    call.work = .operation
    pages.change(operation, for: call.number, by: caller, exts: exts)
    act([])
  }

  /// Hands on what is told before a call is answered; what is told later, nobody hears.
  func report(_ value: Value, of number: CallNumber) {
    if case .swift(let caller)? = calls[number]?.caller { caller.progress?(value) }
    guard case .client(let address, _)? = calls[number]?.caller, !address.isSilent else { return }
    mail.progress(address.client, address.id, value)
  }

  /// Ends a call before its work is done. A call whose page is shown goes on until the page is
  /// closed.
  func stop(_ number: CallNumber, _ reason: StopReason) {
    // The last that waits for the call of a key ends that, and with it itself. Who is gone leaves
    // it to those who come again.
    if case .key(let name)? = calls[number]?.work, reason == .cancelled || reason == .deadline,
      let leader = keys.leader(ofLast: number, name)
    {
      return stop(leader, reason)
    }
    switch calls.stop(number, reason) {
    case nil: break
    case .close(let page): act(pages.cancel(page, for: number))
    case .end(let call):
      if case .page(let page) = call.work { pages.forget(number, openerOf: page) }
      end(call, .failure(reason.error))
      switch call.work {
      case .none, .page: break
      case .key(let name): keys.leave(call.number, name)
      case .task(let task): task.cancel()
      case .request(let id, let client):
        if let caller = call.caller.client { mail.owe(id, client, caller) }
        mail.cancelRequest(id, client)
      case .errand(let errand): errand.cancel(owing: call.caller.client, on: loop)
      case .operation:
        let actions = pages.abandon(number)
        for case .recall(.client(let id, let host)) in actions {
          if let caller = call.caller.client { mail.owe(id, host, caller) }
        }
        act(actions)
      }
    }
  }
}

extension Session {
  /// Does what is to be done for the pages, and begins what waits, until a host has to be asked.
  /// What comes up on the way is done in its turn.
  func act(_ first: [PageAction]) {
    actions.append(contentsOf: first)
    guard !isActing else { return }
    isActing = true
    defer { isActing = false }
    repeat {
      while let action = actions.popFirst() {
        PageEffects.perform(action, in: self)
        if case .close(let page, _, _, _) = action { ClientResume.closed(page.id, in: self) }
      }
      actions.append(contentsOf: pages.advance())
    } while !actions.isEmpty
  }
}
