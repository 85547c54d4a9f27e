import WayValues

/// Methods with which an administrator removes clients of any session.
enum RevocationMethods {
  static let all = [
    SessionMethod(change: "session.end", [Param(.session, .string)]) {
      session, params, request throws(CallError) in
      try revoke(
        SessionRevocation(session: try params.required(.session)), request, in: session)
    },
    SessionMethod(
      change: "client.disconnect", [Param(.session, .string), Param(.client, .string)]
    ) { session, params, request throws(CallError) in
      try revoke(
        SessionRevocation(
          session: try params.required(.session), client: try params.required(.client)),
        request, in: session)
    },
  ]

  private static func revoke(
    _ revocation: SessionRevocation, _ request: AuditedRequest, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let caller = request.client.rights.caller
    // The response could not be sent.
    guard !revocation.names(request.client.name, of: session.id) else {
      throw .invalidParams(
        "The caller cannot remove itself; it leaves its session with session.close")
    }
    let operations = session.environment.operations
    return try request.respondLater(size: 0, in: session) { () throws(CallError) in
      let clients = try await operations.revoke(revocation, by: caller)
      return ["clients": .array(clients.map(Value.string))]
    }
  }
}
