import WayValues

/// `policy.…`: restores an earlier version of the rules.
enum PolicyMethods {
  static let all = [
    SessionMethod(
      "policy.rollback", [Param(.to, .string), Param(.expect, .string)], access: .admin
    ) { session, params, handle throws(CallError) in
      let (to, expected) = (try params.required(.to), params.string(.expect))
      let caller = handle.client.rights.caller
      let owner = session.environment.owner
      return try AdminMethods.respondLater(handle, size: 0, in: session) { () throws(CallError) in
        try await owner.rollBack(toPolicy: to, expecting: expected, for: caller)
      }
    }
  ]
}
