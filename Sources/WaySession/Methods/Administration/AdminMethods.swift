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
    let operations = session.environment.operations
    return try request.respondLater(size: params.size, in: session) { () throws(CallError) in
      .array(await operations.sessionList(query))
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
    let operations = session.environment.operations
    let copy = rights.followingCopy
    return try request.respondLaterToChange(size: params.size, in: session) {
      () throws(CallError) in
      let result = try await operations.push(push, by: copy, maxBytes: maxBytes)
      return ChangeResult(result.value, failedServers: result.silentServers)
    }
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
