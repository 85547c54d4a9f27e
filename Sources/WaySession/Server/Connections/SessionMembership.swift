import WayRPC
import WayTransport
import WayValues

/// A client of a session, as its connection sees it. Use it on the session's loop.
struct SessionMembership: Sendable {
  let session: Session
  let client: ClientID

  /// The client for events; nil if it has left.
  var eventClient: EventClient? {
    session.assumeIsolated { $0.clients[client]?.rights.caller }.flatMap(EventClient.init)
  }

  /// Handles a message of the client.
  func receive(_ incoming: FrameContent, _ dispatcher: SessionRequestDispatcher) {
    session.assumeIsolated { dispatcher.receive(.decoded(incoming), from: client, in: $0) }
  }

  /// Removes the client, and keeps its connection.
  func leave() {
    session.assumeIsolated { $0.remove(client, code: nil, keepsConnection: true) }
  }

  /// Keeps the client for a while if it may resume. Its connection has closed with a code.
  func handleDisconnect(_ channel: any MessageChannel, code: UInt16?) {
    session.assumeIsolated {
      $0.handleDisconnect(client, channel, code: code)
    }
  }

  /// Runs some work when the store has all changes of the session that a client is notified of, at
  /// once if it has them already. The channel receives no messages until then.
  func whenStored(pausing channel: any MessageChannel, _ work: @escaping @Sendable () -> Void) {
    session.assumeIsolated { session in
      guard let journal = session.journal, journal.barrier != nil else { return work() }
      channel.pause()
      journal.whenStored {
        // Messages follow in a later turn, unless the work pauses the channel again.
        channel.resume()
        work()
      }
    }
  }
}

/// A client that is in a session, with the response to its request.
struct AdmittedClient: Sendable {
  let membership: SessionMembership
  let response: Value
  /// What else the session does once the client has its response.
  let next: NextStep

  enum NextStep: Sendable {
    /// Sends what the client has missed.
    case completesResume
    /// Hands requests to the hosts that the client has brought.
    case usesHosts
    case nothing
  }

  /// Call on the session's loop, once the client has its response.
  func performNextStep() {
    membership.session.assumeIsolated { session in
      switch next {
      case .completesResume: session.completeResume(membership.client)
      case .usesHosts:
        session.moveRequestsOfAbsentHosts()
        session.offerDeepLinks()
      case .nothing: break
      }
    }
  }
}
