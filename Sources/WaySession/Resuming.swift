import WayRPC
import WayRouting
import WayTransport
import WayValues

/// What becomes of a client whose connection is lost, and how it goes on.
enum ClientResume {
  /// Why a client cannot go on.
  enum Refusal: String, Sendable {
    case unknown, token, user, epoch, gap, outbox
    /// The connection is older than the one that carries the client: the client has given it up, and
    /// what it sent came late. Nobody is told.
    case stale
  }

  /// How long a client may be away that has sent nothing yet: it may not know that it is there.
  private static let unheard: Duration = .seconds(10)

  /// A connection has ended. Its client stays for a while where it may resume.
  static func lost(
    _ id: ClientID, _ channel: any MessageChannel, code: UInt16?, in session: isolated Session
  ) {
    // Another connection may carry it by now.
    guard let client = session.members[id], client.channel === channel else { return }
    guard
      client.isResumable, code != CloseCode.normal.rawValue,
      !session.isEnding || session.isKept, !isOrphan(client, in: session)
    else { return session.remove(id, code: code) }
    client.disconnect(at: session.loop.nanoseconds)
    session.environment.resumables.wentAway()
    session.environment.serverHosts.set(client, isAway: true)
    session.happenings.tell(.session, .away(client: client.name, code: code))
    wait(client, in: session)
  }

  /// Whether a client is a guest whose page is gone: nothing comes back to where it was.
  private static func isOrphan(_ client: Client, in session: isolated Session) -> Bool {
    guard client.rights.caller.isGuest, let page = client.page else { return false }
    return !session.pages.isExpected(page)
  }

  /// A page has closed: guests that were in it and have no connection leave.
  static func closed(_ page: String, in session: isolated Session) {
    for client in session.members.all where client.isAbsent && client.page == page {
      if isOrphan(client, in: session) { session.remove(client.id) }
    }
  }

  /// A client has no connection since the server was started.
  static func wait(_ client: Client, in session: isolated Session) {
    let time = session.limits.resume
    wait(client, for: client.isNumbering ? time : min(time, unheard), in: session)
  }

  private static func wait(
    _ client: Client, for time: Duration, in session: isolated Session
  ) {
    // The time begins when it can come back.
    guard !session.isCutOff else { return }
    client.absence = session.setAlarm(time, .absence(client.id))
  }

  /// No client can come back: the time in which that has to be does not pass.
  static func pause(in session: isolated Session) {
    session.isCutOff = true
    for client in session.members.all {
      client.absence?.cancel()
      client.absence = nil
    }
  }

  /// Clients can come back: who is away has all of its time for it.
  static func unpause(in session: isolated Session) {
    guard session.isCutOff else { return }
    session.isCutOff = false
    for client in session.members.all where client.isAbsent { wait(client, in: session) }
  }

  /// A client has not resumed in its time. While a call of it runs that has a later deadline, it
  /// may still do so.
  static func rang(_ id: ClientID, in session: isolated Session) {
    guard let client = session.members[id], client.isAbsent else { return }
    client.absence = nil
    if let left = session.longestDeadline(of: client) {
      return wait(client, for: left, in: session)
    }
    session.remove(id)
  }

  /// More waits for a client than may, while it has no connection: it is given up.
  static func giveUp(_ id: ClientID, in session: isolated Session) {
    guard let client = session.members[id], client.isAbsent else { return }
    session.happenings.tell(.session, .gaveUp(client: client.name))
    session.remove(id)
  }

  /// Has a connection, which came at `began`, go on with a client, whose last message taken is given.
  /// `identity` is that of
  /// its handshake's token; nil where it has none. Gives why it cannot, and then nothing has
  /// changed; fails with 2401 or 2403 where it must not.
  static func resume(
    _ client: Client, _ asked: ResumeClaim, _ identity: Identity?, _ handshake: Handshake,
    _ channel: any MessageChannel, since began: ClosedRange<UInt64>, in session: isolated Session
  ) throws(CallError) -> Result<UInt64, ResumeRefusal> {
    guard let numbering = client.numbering else { return .failure(ResumeRefusal(.unknown)) }
    guard asked.epoch == session.epoch else { return .failure(ResumeRefusal(.epoch)) }
    let isRestarted = client.kept.isRestarted
    guard
      case .after(let number) = numbering.resumption(
        after: asked.received, isReloaded: asked.isReloaded, isRestarted: isRestarted),
      !isRestarted || asked.isReloaded || asked.sent.map({ $0 >= numbering.received }) == true
    else { return .failure(ResumeRefusal(.gap)) }
    guard client.proof.knows(asked.token) else { return .failure(ResumeRefusal(.token)) }
    guard (began.lowerBound, channel.id) > client.lastConnection else {
      return .failure(ResumeRefusal(.stale))
    }
    guard handshake.origin == client.handshake.origin else {
      throw .forbidden("origin", "The client is one of a page of another origin")
    }
    // What a guest may do is its invitation's, whatever token it shows.
    let identity = client.rights.invitation == nil ? identity : nil
    // Somebody else begins anew.
    if let identity, identity.user != client.rights.caller.identity.user {
      return .failure(ResumeRefusal(.user))
    }
    if let identity {
      try Renewal.renew(client, as: identity, in: session)
    } else if Renewal.isOver(client, in: session) {
      throw CallError(.notAuthenticated, "The token of the client has expired: send a new one")
    }
    client.proof.use(asked.token)
    if let old = client.channel {
      client.disconnect(at: session.loop.nanoseconds)
      old.close(.takenOver, "Another connection has resumed the client")
    }
    if isRestarted { settle(client, asked, upTo: number, in: session) }
    client.connect(channel, since: began.upperBound, handshake)
    session.environment.serverHosts.set(client, isAway: false)
    session.note(client)
    session.mail.resume(client, after: number)
    session.happenings.tell(.session, .back(client: client.name))
    if asked.isReloaded { forget(client, upTo: number, in: session) }
    return .success(number)
  }

  /// A client tells how far it had come with a former life of the server.
  private static func settle(
    _ client: Client, _ asked: ResumeClaim, upTo number: UInt64, in session: isolated Session
  ) {
    for (id, last) in client.kept.answered where last > number {
      let address = ReplyHandle(
        client: client, id: id, batch: nil, position: 0, method: session.environment.meter.other,
        isSilent: false)
      session.reply(unknown, to: address)
    }
    client.kept.answered = []
    client.kept.isRestarted = false
    // What it sent may have been carried out there. A client that was loaded again sends nothing of
    // it a second time.
    client.kept.doubtful = asked.isReloaded ? 0 : min(client.kept.doubtful, asked.sent ?? 0)
    client.numbering?.outbox.skip(to: number)
  }

  /// What a call is answered whose outcome the server does not know any more.
  static let unknown = CallError(
    .outcomeUnknown,
    "The server was restarted: whether it had carried the call out is not known")

  /// The guest with an invitation whose connection was lost longest ago leaves.
  static func leave(toNextGuestWith token: String, in session: isolated Session) {
    let absent = session.members.all.filter { client in
      guard client.isAbsent, let invitation = client.rights.invitation else { return false }
      return Token.areEqual(invitation.token, token)
    }
    if let first = absent.min(by: { $0.absentSince < $1.absentSince }) {
      session.remove(first.id)
    }
  }

  /// The connection of a client is told that it carries the client: that one is sent what it has not
  /// taken, and what has waited, and what it sends is taken.
  static func goOn(_ id: ClientID, in session: isolated Session) {
    guard let client = session.members[id] else { return }
    session.mail.greeted(client)
    // What it had sent in one batch is done before what it sends now.
    if client.batch != nil { client.channel?.pause() }
    DeepLinkRunner.hostsChanged(in: session)
  }

  /// A client was loaded again: what it was asked, and took, it cannot answer any more.
  private static func forget(
    _ client: Client, upTo number: UInt64, in session: isolated Session
  ) {
    let lost = client.pending.remove { $0.seq > 0 && $0.seq <= number }
    for request in lost {
      request.settle()
      let error = CallError.lost(during: request)
      session.tell(request, .failure(error), of: client)
      session.answered(request, .failure(.unanswered(error)))
    }
  }
}

/// Which client a connection goes on with, and how far that one has come.
struct ResumeClaim: Sendable {
  let client: String
  let token: String
  let epoch: String
  /// The number of the last message that it took.
  let received: UInt64
  /// The number of the last message that it has sent, or keeps to be sent; nil where it did not say.
  let sent: UInt64?
  /// Whether it has lost what it was asked and had not answered.
  let isReloaded: Bool
}

/// Why a client gets a new session in place of its own.
struct ResumeRefusal: Error {
  let reason: ClientResume.Refusal

  init(_ reason: ClientResume.Refusal) {
    self.reason = reason
  }
}

extension CallError {
  /// A client was loaded again while it worked on a request.
  fileprivate static func lost(during request: PendingRequest) -> CallError {
    if case .open = request.purpose {
      return CallError(.hostFailed, "The host was loaded again while it was asked")
    }
    return CallError(
      .outcomeUnknown, "Who was asked was loaded again during \(request.method)")
  }
}

extension Session: ResumableClients.Home {
  nonisolated func giveUp(_ id: ClientID) {
    assumeIsolated { ClientResume.giveUp(id, in: $0) }
  }
}
