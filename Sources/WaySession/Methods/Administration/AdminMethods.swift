import WayValues

/// Methods that only administrators may call; a policy defines the administrators.
enum AdminMethods {
  static let all =
    TableMethods.all + PolicyMethods.all + InspectionMethods.all + RevocationMethods.all + [
      SessionMethod(
        read: "session.list", [Param(.after, .string), Param(.limit, .count)], list),
      SessionMethod(change: "session.push", pushParams, push),
    ]

  static let pushParams: ParamList = [
    Param(.to, .any), Param(.method, .string), Param(.params, .object), Param(.deadlineMs, .count),
    Param(.key, .string),
  ]

  /// Sessions in one result of `session.list`.
  private static let maxListed = 1000

  private static func list(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
  ) throws(CallError) -> CallDisposition {
    let limit = params.count(.limit) ?? maxListed
    guard (1...maxListed).contains(limit) else {
      throw .invalidParams("params.limit must be an integer from 1 to \(maxListed)")
    }
    let query = SessionListQuery(
      after: params.string(.after), limit: limit,
      maxBytes: maxPageBytes(for: request.handle, in: session))
    let owner = session.environment.owner
    return try request.respondLater(size: params.size, in: session) { () throws(CallError) in
      .array(await owner.sessionList(query))
    }
  }

  /// The bytes that a page of entries may have, so that the response can be sent. The responses of a
  /// batch share its limit.
  private static func maxPageBytes(for handle: ReplyHandle, in session: isolated Session) -> Int {
    let bytes = session.limits.maxAnswer / 2
    return handle.batch == nil ? bytes : bytes / max(session.limits.maxBatch, 1)
  }

  private static func push(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
  ) throws(CallError) -> CallDisposition {
    let push = try SessionPushReader.push(params, session.resolver.snapshot, session.limits)
    let rights = request.client.rights
    try push.authorize(rights)
    let maxBytes = maxPageBytes(for: request.handle, in: session)
    let owner = session.environment.owner
    let copy = rights.followingCopy
    return try request.respondLaterToChange(size: params.size, in: session) {
      () throws(CallError) in
      let result = try await owner.push(push, by: copy, maxBytes: maxBytes)
      return ChangeResult(result.value, failedServers: result.silentServers)
    }
  }

  /// Starts work that does not end at once, and responds with its result. `size` is the approximate
  /// number of bytes that the call holds.
  static func respondLater(
    _ handle: ReplyHandle, size: Int, in session: isolated Session,
    _ work: @escaping @Sendable () async throws(CallError) -> Value
  ) throws(CallError) -> CallDisposition {
    let call = try session.beginCall(.request(handle), size: size)
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

extension ClientInfo {
  /// The client's description in `session.list`.
  var value: Value {
    var fields: ValueObject = ["id": .string(id)]
    fields["name"] = name.map(Value.string)
    fields["version"] = version.map(Value.string)
    fields["platform"] = platform.map(Value.string)
    fields["page"] = page.map(Value.string)
    return .object(fields)
  }
}
