import WayValues

/// `policy.…`: going back to the rules that were in force before.
enum PolicyMethods {
  static let all = [
    Method(
      "policy.rollback", [Param(.to, .string), Param(.expect, .string)], access: .admin
    ) { session, params, address throws(CallError) in
      let (to, expected) = (try params.required(.to), params.string(.expect))
      let caller = address.client.rights.caller
      let owner = session.environment.owner
      return try AdminMethods.answer(address, size: 0, in: session) { () throws(CallError) in
        try await owner.goBack(toPolicy: to, expecting: expected, for: caller)
      }
    }
  ]
}
