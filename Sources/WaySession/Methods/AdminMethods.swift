import WayValues

/// What only those may call whom a policy makes administrators.
enum AdminMethods {
  static let all = [
    "table.get", "table.update", "table.rollback", "session.list", "session.push",
  ].map { name in
    Method(name, access: .admin) { _, _, _ throws(CallError) in
      throw CallError(
        .forbidden, "\(name) needs the policy's admin, and this server has no policy",
        data: ["rule": "no policy"])
    }
  }
}
