import WayRPC
import WayValues

// How the client greets the server on each connection, and what becomes of the session by the
// answer.
extension BridgeClient {
  func greet() {
    guard let options else {
      line.opened(isResumable: false)
      return opened()
    }
    let hello = options.value(hosts: hosts)
    if let session, let reached = line.reached() {
      line.ask("session.resume", session.resumption(after: reached, hello)) { [weak self] in
        self?.welcomed($0)
      }
    } else {
      line.ask("session.open", hello) { [weak self] in self?.welcomed($0) }
    }
  }

  private nonisolated func welcomed(_ result: Result<Value, CallError>) {
    assumeIsolated { client in
      switch result {
      case .failure(let error): client.line.refused(error)
      case .success(let answer):
        guard let session = Session(answer) else {
          return client.line.refused(.malformed("session.open", answer))
        }
        if answer["resumed"] == true {
          client.goOn(with: session, answer)
        } else if let lost = client.session {
          client.beginAnew(with: session, after: lost, answer["reason"]?.string ?? "gap")
        } else {
          client.begin(session)
          client.opened()
        }
      }
    }
  }

  private func opened() {
    states.tell(.open)
    opening?.resume(returning: .success(()))
    opening = nil
  }

  private func begin(_ session: Session) {
    keep(session)
    let isWanted = options?.reconnect != .never
    line.opened(
      isResumable: isWanted && session.capabilities.contains("resume"), silence: session.silence)
  }

  private func keep(_ session: Session) {
    self.session = session
    ownPage = session.page ?? ownPage
    maxMessage = session.limits["maxMessage"]?.integer.flatMap { Int(exactly: $0) } ?? .max
  }

  /// The session goes on: what the server has not taken is sent again, then what has waited.
  private func goOn(with session: Session, _ answer: Value) {
    guard
      let received = answer["received"]?.integer.flatMap(UInt64.init(exactly:)),
      line.resumed(
        after: received, silence: session.silence,
        numbered: { pending[$0]?.wasSent($1) })
    else {
      // The server has other numbers than this client: there is nothing to go on with.
      line.forget()
      return line.drop(.gap, "the server has other numbers")
    }
    keep(session)
    // So that the server knows that the new token has come.
    line.sendAck()
    states.tell(.resumed)
    settleLost(answer, received)
    askApart()
    if answer["restarted"] == true { comparePages() }
  }

  /// Settles calls that the server has taken and knows nothing of any more: neither their answers
  /// come again nor are they under way. What comes again has come when a question is answered that
  /// was asked after it.
  private func settleLost(_ answer: Value, _ received: UInt64) {
    let known = Set((answer["pending"]?.list ?? []).compactMap { $0["id"].flatMap(RequestID.init) })
    let lost = pending.all { id, call in
      !known.contains(id) && call.seq.map { $0 <= received } == true
    }
    guard !lost.isEmpty else { return }
    let ids = lost.map(\.id)
    line.ask("$/ping") { [weak self] _ in
      self?.assumeIsolated { client in
        for id in ids { client.pending.take(id)?.fail() }
      }
    }
  }

  /// A new session has begun in the place of one that was lost.
  private func beginAnew(with session: Session, after lost: Session, _ reason: String) {
    let waiting = line.takeWaiting()
    for call in serving.drain() { call.cancel() }
    let pages = closeHostedPages()
    dropComparison()
    begin(session)
    subscribeAgain()
    var calls: [LostCall] = []
    for (id, call) in pending.all() where call.isSent && !call.isApart {
      if let message = call.again {
        send(message, of: call, id)
      } else {
        _ = pending.take(id)
        calls.append(LostCall(method: call.method, uri: call.uri))
        call.fail()
      }
    }
    for (message, tag) in waiting {
      switch tag {
      case .progress, .bound: break
      case .none: line.send(message)
      case .request(let id):
        if let call = pending[id] { send(message, of: call, id) }
      }
    }
    askApart()
    states.tell(.begunAnew(LostSession(reason: reason, session: lost, calls: calls, pages: pages)))
  }

  private func subscribeAgain() {
    let topics = streams.topics
    guard !topics.isEmpty else { return }
    let params: Value = ["topics": .list(topics.map(Value.string))]
    let call = PendingCall("events.subscribe", params)
    call.answer = { [weak self] result in
      guard case .failure(let error) = result else { return }
      self?.assumeIsolated { $0.streams.end(error) }
    }
    do throws(CallError) {
      try submit(call, try pending.add(call), params)
    } catch {
      streams.end(error)
    }
  }

  /// Asks again what has no number and was not answered over the connection before.
  private func askApart() {
    for (id, call) in pending.all(where: { $1.isApart }) { ask(call, id) }
  }
}

extension PendingCall {
  /// Whether it was carried out is not known.
  fileprivate func fail() {
    settle(
      .failure(
        CallError(
          .outcomeUnknown, "The session was lost before \(method) was answered", kind: "sessionLost"
        )))
  }
}

extension BridgeClient.Session {
  /// The params of `session.resume`; `open` are those of `session.open`, for a session in the place
  /// of this one.
  fileprivate func resumption(after reached: Conversation.Reached, _ open: Value) -> Value {
    [
      "client": .string(client), "token": .string(token), "epoch": .string(epoch),
      "received": .integer(Int64(clamping: reached.received)),
      "sent": .integer(Int64(clamping: reached.sent)), "open": open,
    ]
  }

  /// How long the server may be silent: it pings over WebSocket, of which nobody hears here, in the
  /// same times.
  fileprivate var silence: Silence {
    guard let ping = limits["pingMs"]?.integer, let silence = limits["silenceMs"]?.integer else {
      return Silence()
    }
    return Silence(quiet: ping, patience: silence &- ping)
  }
}
