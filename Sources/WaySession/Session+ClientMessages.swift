import WayRPC
import WayTransport

// The messages of resumable clients: which are handled, and when they are acknowledged. Performs what
// ``ClientLink`` decides.
extension Session {
  /// How long an acknowledgement may wait to cover further messages.
  private static let acknowledgementDelay: Duration = .seconds(1)

  /// Decides about a frame of a resumable client, whose messages have these numbers. `bytes` is its
  /// size.
  func admit(
    _ frame: borrowing FrameView, _ numbers: SequenceNumbers, bytes: Int, from client: Client
  ) -> InboundFrameDecision {
    if !numbers.areAbsent { clientWriter.markChanged(client) }
    let decision = client.link.admit(frame, numbers, bytes: bytes)
    switch decision {
    case .accept, .acceptUnnumbered, .drop: break
    case .acknowledged: clientWriter.releaseAcknowledged(by: client)
    case .stopNumbering:
      // Nothing is stored for the client any more.
      environment.resumableClients.remove(client, of: self)
      client.link.stopNumbering()
      recordChange(client)
    case .close(let reason): client.channel?.close(.gap, reason)
    }
    return decision
  }

  /// Acknowledges what a client has sent: at once if it is much, otherwise soon.
  func acknowledge(_ client: Client) {
    // A client does not send acknowledged messages again, so the store must have them first.
    if isPersisted {
      if client.link.isAcknowledgementOverdue { journal?.flushDeferredChanges() }
      return
    }
    switch client.link.acknowledgementTiming() {
    case .now: clientWriter.acknowledge(client)
    case .soon:
      client.link.setAcknowledgementTimer(
        setTimer(Self.acknowledgementDelay, .acknowledgement(client.id)))
    case .never: break
    }
  }

  /// Acknowledges the messages of a client that are stored with the change numbered `change`.
  func acknowledgeStored(_ client: Client, through change: Int) {
    guard let received = client.link.receivedMessages(storedThrough: change) else { return }
    clientWriter.acknowledge(client, through: received)
  }

  /// Sends an acknowledgement whose delay has passed.
  func sendDelayedAcknowledgement(to id: ClientID) {
    guard let client = clients[id] else { return }
    if client.link.acknowledgementTimerFired() { clientWriter.acknowledge(client) }
  }
}
