import WayRPC
import WayTransport
import WayValues

/// What becomes of a frame of a client that resumes, before anybody looks at what it says: frames
/// that came before are dropped, acknowledgements are taken, gaps close the connection.
enum Reception {
  enum Verdict {
    case pass
    /// A ping, which has no number and whose answer has none.
    case passApart
    case drop
  }

  /// How long an acknowledgement may wait for more that it tells.
  private static let patience: Duration = .seconds(1)

  static func admit(
    _ frame: borrowing Frame, _ numbers: SequenceNumbers, _ bytes: Int, from client: Client,
    in session: isolated Session
  ) -> Verdict {
    if numbers.areAbsent { return admitApart(frame, from: client, in: session) }
    client.isNumbering = true
    if client.proof.isUnconfirmed { client.proof.confirm() }
    client.kept.isDoubtful = numbers.last <= client.kept.doubtful
    client.kept.isToldOfRestart = false
    session.mail.note(client)
    switch client.numbering?.receive(numbers, bytes: bytes) {
    case nil, .take: return .pass
    case .drop: return .drop
    case .gap:
      let last = client.numbering?.received ?? 0
      return refuse(client, "the message after seq \(last) is missing")
    }
  }

  /// Decides on what has no number.
  private static func admitApart(
    _ frame: borrowing Frame, from client: Client, in session: isolated Session
  ) -> Verdict {
    switch frame {
    case .other(.malformed), .other(.message(.invalid)), .notText: return .pass
    case .request(let request) where request.id == nil && request.isFor("$/ack"):
      return take(request.params.value, from: client, in: session)
    case .request(let request) where request.id != nil && request.isFor("$/ping"):
      return .passApart
    case .request, .other:
      if client.isNumbering { return refuse(client, "a message has no seq") }
      // It does not number at all: nothing is kept for it any more.
      session.environment.resumables.remove(client)
      session.mail.stopNumbering(client)
      session.note(client)
      return .pass
    }
  }

  private static func take(
    _ params: Value?, from client: Client, in session: isolated Session
  ) -> Verdict {
    guard let seq = params?["seq"]?.integer, seq >= 0,
      session.mail.acknowledged(UInt64(seq), by: client)
    else {
      return refuse(client, "an ack of what was never sent")
    }
    client.isNumbering = true
    if client.proof.isUnconfirmed { client.proof.confirm() }
    return .drop
  }

  private static func refuse(_ client: Client, _ reason: String) -> Verdict {
    client.channel?.close(.gap, reason)
    return .drop
  }

  /// Acknowledges what a client has sent, at once where it is much, else soon.
  static func acknowledge(_ client: Client, in session: isolated Session) {
    // What is acknowledged is not sent again: the store has to have it first.
    if session.isKept {
      if client.numbering?.owesMuch == true { session.journal?.hurry() }
      return
    }
    switch client.numbering?.dueAck() {
    case .now: session.mail.acknowledge(client)
    case .soon where client.ack == nil && !client.isAbsent:
      client.ack = session.setAlarm(patience, .ack(client.id))
    case .soon, .never, nil: break
    }
  }

  /// The store has what a client has sent up to the change of a number: that is acknowledged.
  static func kept(_ client: Client, through change: Int, in session: isolated Session) {
    let (number, received) = client.kept.received
    guard number <= change, client.numbering?.owesAck == true else { return }
    session.mail.acknowledge(client, through: received)
  }

  /// An acknowledgement has waited long enough.
  static func rang(_ id: ClientID, in session: isolated Session) {
    guard let client = session.members[id] else { return }
    client.ack = nil
    if client.numbering?.owesAck == true { session.mail.acknowledge(client) }
  }
}
