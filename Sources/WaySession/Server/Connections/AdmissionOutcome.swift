import WayTransport
import WayValues

/// What a connection does with a client that has asked to be admitted to a session.
enum AdmissionOutcome {
  /// The client is in a session of this loop.
  case admitted(AdmittedClient)
  /// The session is on another loop, where the client is admitted.
  case onLoop(LoopSessions)
  /// Another server owns the session; "" if it is to open a new one.
  case onServer(String, session: String)
  /// The request fails. The client may try again.
  case rejected(CallError)
  /// The connection is closed without a response.
  case closed(CloseCode, String)
  /// The connection was closed before there was a decision.
  case abandoned
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
