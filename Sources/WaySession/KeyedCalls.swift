import WayRouting
import WayValues

/// Makes calls under keys: one for all requests of a key, each of which waits for its result.
enum KeyedCalls {
  /// Makes the call for who asks.
  typealias Beginning =
    @Sendable (Session.Asker, isolated Session) throws(CallError) -> Reply

  /// Bytes of a key.
  private static let maxKey = 128

  /// A key as Swift code is told it.
  static func key(_ text: String, of client: Client, in session: Session) -> IdempotencyKey {
    IdempotencyKey(session: session.id, owner: client.ownerOfKeys, text: text)
  }

  /// Has a request with these params done under a key, where it is the first, or wait for the one
  /// that was. `begin` makes the call for who asks.
  static func take(
    _ key: String, _ request: KeyedRequest, _ entry: Entry, deadline: Duration?,
    _ params: Value, _ address: ReplyHandle, in session: isolated Session,
    _ begin: @escaping Beginning
  ) throws(CallError) -> Reply {
    guard (1...maxKey).contains(key.utf8.count) else {
      throw .invalidParams("params.key must be a string of 1 to \(maxKey) bytes")
    }
    let name = Keys.Name(owner: address.client.ownerOfKeys, text: key)
    switch session.keys.find(name, at: session.loop.nanoseconds) {
    case .ended(request, let result)?:
      switch result {
      case .success(let answer): return .now(answer)
      case .failure(let error): return .failed(error)
      }
    case .running(let running)? where running.request == request:
      let call = try wait(
        for: name, key, request, entry, deadline, params, address, in: session)
      if let page = running.page { session.tellOpened(page, to: call) }
      return .later
    case .ended?, .running?:
      throw CallError(.conflict, "Another call was made under the key \(key.quoted)")
    case nil: break
    }
    let leader = session.makeCallNumber()
    try session.keys.begin(name, request, leader: leader)
    do throws(CallError) {
      try wait(for: name, key, request, entry, deadline, params, address, in: session)
    } catch {
      _ = session.keys.end(name, .failure(error), within: session.members.budget, at: 0)
      throw error
    }
    lead(name, leader, request, entry, address.client, in: session, begin)
    return .later
  }

  /// A request waits for the result of a key.
  @discardableResult
  private static func wait(
    for name: Keys.Name, _ key: String, _ request: KeyedRequest, _ entry: Entry,
    _ deadline: Duration?, _ params: Value, _ address: ReplyHandle,
    in session: isolated Session
  ) throws(CallError) -> CallInFlight {
    // What the leader answers is as it is to be.
    let call = try session.begin(
      .request(address), entry, deadline: deadline, size: request.size)
    call.work = .key(name)
    call.key = key
    call.uri = request.target
    call.request = params
    session.keys.wait(call.number, for: name)
    return call
  }

  /// Makes the call for all that wait.
  private static func lead(
    _ name: Keys.Name, _ number: CallNumber, _ request: KeyedRequest, _ entry: Entry,
    _ client: Client, in session: isolated Session, _ begin: @escaping Beginning
  ) {
    let caller = client.rights.caller
    guard let call = session.begin(number, entry, asker(for: name, in: session), deadline: nil)
    else { return }
    call.isOfKey = true
    guard session.isKept else {
      return run(call, request, caller, in: session, begin)
    }
    // Work begins when the store knows of it: after a crash it is done again, or was not begun.
    session.journal?.note(RecordKey.state(ofClient: client.id))
    session.journal?.whenKept { [weak session] in
      session?.assumeIsolated { session in
        guard let call = session.call(number) else { return }
        run(call, request, caller, in: session, begin)
      }
    }
  }

  /// Who waits for the call that does the work of a key.
  private static func asker(for name: Keys.Name, in session: isolated Session) -> SwiftCaller {
    SwiftCaller(
      answer: { session.ended(name, $0) },
      shown: { session.opened($0, name) },
      progress: { session.report($0, to: name) })
  }

  /// The call of a key goes on that waits for a page which was shown in another life of the server;
  /// false where the page is not there.
  static func restore(
    _ name: Keys.Name, _ request: KeyedRequest, page: String, in session: isolated Session
  ) -> Bool {
    let leader = session.makeCallNumber()
    guard session.pages.restore(leader, openerOf: page) else { return false }
    session.keys.restore(name, request, leader: leader, page: page)
    let call = session.begin(leader, .open, asker(for: name, in: session), deadline: nil)
    call?.work = .page(page)
    call?.isOfKey = true
    return true
  }

  private static func run(
    _ call: CallInFlight, _ request: KeyedRequest, _ caller: Caller,
    in session: isolated Session, _ begin: Beginning
  ) {
    let number = call.number
    do throws(CallError) {
      switch try begin(.call(call), session) {
      case .now(let answer): session.settle(number, .success(answer))
      case .failed(let error): session.settle(number, .failure(error))
      case .later: break
      }
    } catch {
      session.happenings.tellNowhere(request.target, error, by: caller)
      session.settle(number, .failure(error))
    }
  }
}

extension Client {
  /// Whose keys this client's are: a guest's are those of its page, others share the session's.
  fileprivate var ownerOfKeys: String? {
    rights.caller.isGuest ? page ?? name : nil
  }
}

extension Session {
  /// The call of a key has its result.
  fileprivate func ended(_ name: Keys.Name, _ result: Result<Answer, CallError>) {
    let waiting = keys.end(name, result, within: members.budget, at: loop.nanoseconds)
    for number in waiting { settle(number, result) }
  }

  fileprivate func opened(_ page: String, _ name: Keys.Name) {
    for number in keys.opened(page, name) { call(number)?.deadline?.cancel() }
  }

  fileprivate func report(_ value: Value, to name: Keys.Name) {
    for number in keys.waiting(for: name) { report(value, of: number) }
  }

  /// A request waits for a page that is there already.
  fileprivate func tellOpened(_ page: String, to call: CallInFlight) {
    call.deadline?.cancel()
    report(["opened": ["page": .string(page)]], of: call.number)
  }
}
