import WayValues

/// What only those may call whom a policy makes administrators.
enum AdminMethods {
  static let all =
    TableMethods.all + PolicyMethods.all + InspectionMethods.all + [
      Method("session.list", access: .admin) { session, _, address throws(CallError) in
        let owner = session.environment.owner
        return try answer(address, size: 0, in: session) { () throws(CallError) in
          .list(await owner.sessionInfos().map(\.value))
        }
      },
      Method("session.push", takesPush, access: .admin, push),
    ]

  static let takesPush: ParamList = [
    Param(.to, .any), Param(.method, .string), Param(.params, .object), Param(.deadlineMs, .count),
  ]

  private static func push(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let push = try Push(params, session.limits)
    let rights = address.client.rights
    try push.check(rights)
    let owner = session.environment.owner
    return try answer(address, size: params.size, in: session) { () throws(CallError) in
      ["delivered": .list(try await owner.push(push, by: rights))]
    }
  }

  /// Answers with what becomes of something that does not end at once; `size` is about what the call
  /// keeps, in bytes.
  static func answer(
    _ address: ReplyHandle, size: Int, in session: isolated Session,
    _ work: @escaping @Sendable () async throws(CallError) -> Value
  ) throws(CallError) -> Reply {
    let call = try session.begin(.request(address), size: size)
    call.work = .task(
      Task {
        do throws(CallError) {
          session.settle(call.number, .success(.value(try await work())))
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
  /// As `session.list` and other servers are told it.
  var value: Value {
    var members: ValueObject = ["id": .string(id)]
    members["name"] = name.map(Value.string)
    members["version"] = version.map(Value.string)
    members["platform"] = platform.map(Value.string)
    members["page"] = page.map(Value.string)
    return .object(members)
  }
}
