import WayRPC
import WayTransport
import WayValues

/// A client's request to be admitted to a session.
struct ClientAdmissionRequest: Sendable {
  /// The request as it was sent, for its response.
  let request: Request
  /// The claim of a client that resumes; nil for one that opens or joins a session.
  let claim: ResumeClaim?
  /// How the client opens or joins a session, also if it cannot resume.
  var open: SessionOpenRequest

  /// Throws -32602, with `kind` "version" if the client offers no supported protocol version.
  /// Another server has replaced the tokens in a request that it relays.
  init(_ request: Request, on accepted: AcceptedConnection) throws(CallError) {
    self.request = request
    let limits = accepted.loopSessions.limits
    var digest: PresentedToken.TokenDigest?
    if accepted.isRelayed, let engine = accepted.loopSessions.sessionServer.cluster?.engine {
      digest = { engine.digest(of: $0, in: $1) }
    }
    if request.method == "session.resume" {
      let resume = try ResumeRequest(request, limits: limits, digest: digest)
      (claim, open) = (resume.claim, resume.open)
    } else {
      claim = nil
      open = try SessionOpenRequest(request, limits: limits, digest: digest)
    }
  }

  /// The session that the client wants to be in; nil for a new one, and for an unreadable name of a
  /// client.
  var session: String? {
    if let claim { ClientName.session(of: claim.client) } else { open.join?.session }
  }

  /// Whether the client wants to be in a session that exists already.
  var needsSession: Bool { claim != nil || open.join != nil }
}
