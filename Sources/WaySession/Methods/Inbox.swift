import WayRPC
import WayValues

/// Takes what the clients of a session send: finds the method, has it carried out, and answers.
struct Inbox: Sendable {
  let methods: MethodTable
  let meter: SessionCallMeter
  /// Says whether calls are noted, with their URIs.
  let watch: Watch

  /// Takes a frame of so many bytes that one member sent, with the numbers of its messages.
  func take(
    _ frame: borrowing Frame, _ numbers: SequenceNumbers = .none, bytes: Int = 0, from id: ClientID,
    in session: isolated Session
  ) {
    guard let client = session.members.sender(id) else { return }
    var isApart = false
    if client.isResumable {
      switch Reception.admit(frame, numbers, bytes, from: client, in: session) {
      case .pass: break
      case .passApart: isApart = true
      case .drop: return
      }
    }
    let start = meter.start
    switch frame {
    case .request(let request): take(request, client, nil, 0, isApart, in: session)
    case .other(.message(let message)): take(message, client, nil, 0, isApart, in: session)
    case .other(.malformed(let error)), .notText(let error):
      session.mail.refuse(error, to: client)
    case .other(.batch(let messages)):
      client.batch = SessionBatchInProgress(messages, numbers)
      goOn(client, from: start, in: session)
    }
    if client.isResumable { Reception.acknowledge(client, in: session) }
    let isSpent = spend(client, since: start)
    if isSpent || client.batch != nil { letOthersGoFirst(client, in: session) }
  }

  /// Counts the time that a client has kept the loop; true where the others are to go first.
  private func spend(_ client: Client, since start: UInt64) -> Bool {
    client.turn.isSpent(from: start, to: meter.now(after: start), ofTurn: meter.turn)
  }

  /// Takes of a batch what its turn allows, at least one message.
  private func goOn(_ client: Client, from start: UInt64, in session: isolated Session) {
    while let (message, position) = client.batch?.next(), let reply = client.batch?.reply {
      // A notification among them may have closed the client's session: what follows has nobody to
      // act for.
      guard session.members[client.id] != nil else { break }
      take(message, client, reply, position, false, in: session)
      // The time is counted when all is done that its turn allows.
      var turn = client.turn
      let isSpent = turn.isSpent(from: start, to: meter.now(after: start), ofTurn: meter.turn)
      if isSpent, client.batch?.isDone == false { return }
    }
    client.batch = nil
  }

  /// Takes nothing more of a client until the others have had their turn.
  private func letOthersGoFirst(_ client: Client, in session: isolated Session) {
    if client.batch == nil, client.turn.isWithinShare {
      // It has come late in a turn that others have used up: it need not stand in their line.
      client.channel?.letOthersGoFirst()
      return
    }
    let channel = client.channel
    channel?.pause()
    session.environment.turns.wait(cost: client.turn.used) { [weak session, id = client.id] in
      guard let session else {
        channel?.resume()
        return
      }
      session.assumeIsolated { session in
        meter.begin()
        if let client = session.members[id], client.batch != nil {
          let start = meter.start
          goOn(client, from: start, in: session)
          _ = spend(client, since: start)
          if client.batch != nil { return letOthersGoFirst(client, in: session) }
        }
        channel?.resume()
        // A batch goes on when its connection is lost, and others of the client come after it.
        if let now = session.members[id]?.channel, now !== channel { now.resume() }
      }
    }
  }

  private func take(
    _ message: Message, _ client: Client, _ batch: BatchReply?, _ position: Int, _ isApart: Bool,
    in session: isolated Session
  ) {
    switch message {
    case .request(let request):
      take(RequestView(request), client, batch, position, isApart, in: session)
    case .notification(let notification):
      take(RequestView(notification), client, batch, position, isApart, in: session)
    case .response(let response): session.complete(response, from: client)
    case .invalid(let id, let error):
      meter.begin()
      client.note = nil
      let address = ReplyHandle(
        client: client, id: id, batch: batch, position: position, method: meter.other,
        isSilent: false)
      session.reply(error, to: address)
    }
  }

  private func take(
    _ request: RequestView, _ client: Client, _ batch: BatchReply?, _ position: Int,
    _ isApart: Bool, in session: isolated Session
  ) {
    if let id = request.id {
      carryOut(
        request, id, client, batch, position, isSilent: false, isApart: isApart, in: session)
    } else if let notice = ProtocolNotifications.find(request) {
      // Nobody is told of a fault.
      guard let params = try? Params(request.params, of: notice.name, taking: notice.takes) else {
        return
      }
      notice.handler(session, client, params)
    } else {
      // A method without an id is carried out and not answered (JSON-RPC 2.0 §4.1).
      carryOut(request, .null, client, nil, 0, isSilent: true, isApart: false, in: session)
    }
  }

  /// Carries a request out that a client made, and that has to be made again.
  func repeated(
    _ request: Request, _ client: Client, _ batch: BatchReply?, _ position: Int,
    in session: isolated Session
  ) {
    take(RequestView(request), client, batch, position, false, in: session)
  }

  private func carryOut(
    _ request: RequestView, _ id: RequestID, _ client: Client, _ batch: BatchReply?,
    _ position: Int, isSilent: Bool, isApart: Bool, in session: isolated Session
  ) {
    meter.begin()
    if watch.notesCalls { client.note = CallTrace(request, keepsParams: watch.isOn) }
    let found = methods.find(request)
    let address = ReplyHandle(
      client: client, id: id, batch: batch, position: position, method: meter.place(found?.place),
      isSilent: isSilent, isApart: isApart)
    do throws(CallError) {
      try client.rate.take(at: meter.start)
      if !isSilent { try client.check(id) }
      if let batch, batch.isFull {
        throw CallError(
          .tooLarge, "The answers of the batch are too large: this request was not carried out",
          data: ["limit": .integer(Int64(session.limits.maxAnswer))])
      }
      guard let (place, method) = found else {
        throw CallError(
          .methodNotFound,
          "There is no method \(request.method.quoted); rpc.discover lists the methods")
      }
      try client.rights.enter(method.name, method.kind, at: place)
      if client.kept.isDoubtful { try SessionReplayCheck.check(method, request.params.value) }
      switch try carryOut(method, request.params, address, in: session) {
      case .later: break
      case .now(let answer): session.reply(answer, to: address)
      case .failed(let error): session.reply(error, to: address)
      }
    } catch {
      session.tell(error, of: request, by: address.caller)
      session.reply(error, to: address)
    }
  }

  private func carryOut(
    _ method: Method, _ params: ParamsView, _ address: ReplyHandle,
    in session: isolated Session
  ) throws(CallError) -> Reply {
    if let answer = method.raw { return .value(try answer(params.value)) }
    // What the connection takes is refused here, whatever its params.
    let takes = method.access == .connection ? .none : method.takes
    let view = try Params(params, of: method.name, taking: takes)
    return try method.handler(session, view, address)
  }
}
