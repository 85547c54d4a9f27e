import WayRPC
import WayTransport
import WayValues

/// Checks a frame of a resumable client before its content is handled. It drops duplicate frames,
/// handles acknowledgements, and closes the connection if a frame is missing.
enum SessionInboundSequence {
  enum InboundDecision {
    case accept
    /// A ping, which has no number and whose response has none.
    case acceptUnnumbered
    case drop
  }

  /// How long an acknowledgement may wait to cover further messages.
  private static let acknowledgementDelay: Duration = .seconds(1)

  static func admit(
    _ frame: borrowing FrameView, _ numbers: SequenceNumbers, _ bytes: Int, from client: Client,
    in session: isolated Session
  ) -> InboundDecision {
    if numbers.areAbsent { return admitUnnumbered(frame, from: client, in: session) }
    session.clientWriter.markChanged(client)
    switch client.link.receive(numbers, bytes: bytes) {
    case nil, .accept: return .accept
    case .duplicate: return .drop
    case .gap: return reject(client, "the message after seq \(client.link.received) is missing")
    }
  }

  /// Decides about a frame without a number.
  private static func admitUnnumbered(
    _ frame: borrowing FrameView, from client: Client, in session: isolated Session
  ) -> InboundDecision {
    switch frame {
    case .decoded(.malformed), .decoded(.message(.invalid)), .invalidUTF8: return .accept
    case .decoded(.message(.response(let response))) where response.isUnreadable: return .accept
    case .request(let request) where request.id == nil && request.hasMethod("$/ack"):
      return receiveAcknowledgement(request.params.value, from: client, in: session)
    case .request(let request) where request.id != nil && request.hasMethod("$/ping"):
      return .acceptUnnumbered
    case .request, .decoded:
      if client.link.numbersMessages { return reject(client, "a message has no seq") }
      // The client does not number its messages, so nothing is stored for it any more.
      session.environment.resumableClients.remove(client, of: session)
      client.link.stopNumbering()
      session.recordChange(client)
      return .accept
    }
  }

  private static func receiveAcknowledgement(
    _ params: Value?, from client: Client, in session: isolated Session
  ) -> InboundDecision {
    guard let seq = params?["seq"]?.exactInteger, seq >= 0,
      session.clientWriter.recordAcknowledgement(UInt64(seq), by: client)
    else {
      return reject(client, "an ack of a message that was never sent")
    }
    client.link.confirmNumbering()
    return .drop
  }

  private static func reject(_ client: Client, _ reason: String) -> InboundDecision {
    client.channel?.close(.gap, reason)
    return .drop
  }

  /// Acknowledges what a client has sent: at once if it is much, otherwise soon.
  static func acknowledge(_ client: Client, in session: isolated Session) {
    // A client does not send acknowledged messages again, so the store must have them first.
    if session.isPersisted {
      if client.link.isAcknowledgementOverdue { session.journal?.flushDeferredChanges() }
      return
    }
    switch client.link.acknowledgementTiming() {
    case .now: session.clientWriter.acknowledge(client)
    case .soon:
      client.link.setAcknowledgementTimer(
        session.setTimer(acknowledgementDelay, .acknowledgement(client.id)))
    case .never: break
    }
  }

  /// Acknowledges the messages of a client that are stored with the change numbered `change`.
  static func acknowledgeStored(_ client: Client, through change: Int, in session: isolated Session)
  {
    guard let received = client.link.receivedMessages(storedThrough: change) else { return }
    session.clientWriter.acknowledge(client, through: received)
  }

  /// Sends an acknowledgement whose delay has passed.
  static func sendDelayedAcknowledgement(_ id: ClientID, in session: isolated Session) {
    guard let client = session.clients[id] else { return }
    if client.link.acknowledgementTimerFired() { session.clientWriter.acknowledge(client) }
  }
}
