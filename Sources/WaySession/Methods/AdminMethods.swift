import WayValues

/// What only those may call whom a policy makes administrators.
enum AdminMethods {
  static let all =
    TableMethods.all + [
      Method("session.list", access: .admin) { session, _, _ throws(CallError) in
        .value(.list(session.environment.owner.sessionInfos.map(\.value)))
      },
      Method(
        "session.push",
        [
          Param(.to, .any), Param(.method, .string), Param(.params, .object),
          Param(.deadlineMs, .count),
        ], access: .admin, push),
    ]

  private static func push(
    _ session: isolated Session, _ params: Params, _ address: ReplyAddress
  ) throws(CallError) -> Reply {
    let push = try Push(params, session.limits)
    let rights = address.client.rights
    try push.check(rights)
    let call = try session.begin(.request(address), size: params.size)
    let owner = session.environment.owner
    call.work = .task(
      Task {
        do throws(CallError) {
          let delivered = try await owner.push(push, by: rights)
          session.settle(call.number, .success(.value(["delivered": .list(delivered)])))
        } catch {
          session.settle(call.number, .failure(error))
        }
      })
    return .later
  }
}

extension SessionInfo {
  /// As `session.list` tells it.
  fileprivate var value: Value {
    var members: ValueObject = ["session": .string(id)]
    members["user"] = identity.user.map(Value.string)
    if !identity.groups.isEmpty {
      members["groups"] = .list(identity.groups.sorted().map(Value.string))
    }
    members["clients"] = .list(clients.map(\.value))
    members["pages"] = .list(
      pages.map { page in
        ["id": .string(page.id), "uri": .string(page.uri), "host": .string(page.host)]
      })
    return .object(members)
  }
}

extension ClientInfo {
  fileprivate var value: Value {
    var members: ValueObject = ["id": .string(id)]
    members["name"] = name.map(Value.string)
    members["version"] = version.map(Value.string)
    members["platform"] = platform.map(Value.string)
    members["page"] = page.map(Value.string)
    return .object(members)
  }
}
