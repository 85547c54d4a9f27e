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
