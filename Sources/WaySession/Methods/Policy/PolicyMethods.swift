import WayValues

/// `policy.…`: restores an earlier version of the rules.
enum PolicyMethods {
  static let all = [
    SessionMethod(
      change: "policy.rollback", [Param(.to, .string), Param(.expect, .string)]
    ) { session, params, request throws(CallError) in
      let (to, expected) = (try params.required(.to), params.string(.expect))
      let caller = request.client.rights.caller
      let operations = session.environment.operations
      return try request.respondLaterToChange(size: 0, in: session) { () throws(CallError) in
        try await operations.rollBack(toPolicy: to, expecting: expected, for: caller)
      }
    }
  ]
}
