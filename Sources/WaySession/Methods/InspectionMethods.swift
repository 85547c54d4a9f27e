import WayPatterns
import WayTable
import WayTransport
import WayValues

/// `admin.…`: methods with which an administrator inspects a server.
enum InspectionMethods {
  /// The maximum number of sessions in one result.
  private static let maxSessions = 200
  /// Bytes of each recorded message: the default, and the maximum.
  private static let defaultMessageLimit = 4 << 10
  private static let maxMessageLimit = 64 << 10

  static let all = [
    SessionMethod(
      "admin.watch", [Param(.session, .string), Param(.messages, .bool), Param(.limit, .count)],
      access: .admin, watch),
    SessionMethod("admin.unwatch", access: .admin) { session, _, handle throws(CallError) in
      session.environment.owner.endInspection(handle.client)
      return .value(.null)
    },
    SessionMethod(
      "admin.sessions", [Param(.after, .string), Param(.limit, .count)], access: .admin
    ) { session, params, handle throws(CallError) in
      let limit = min(max(params.count(.limit) ?? maxSessions, 1), maxSessions)
      return try inspect(
        .sessions(after: params.string(.after), limit: limit), handle, in: session)
    },
    SessionMethod(
      "admin.session", [Param(.session, .string), Param(.records, .bool)], access: .admin
    ) { session, params, handle throws(CallError) in
      let id = try params.required(.session)
      return try inspect(
        .session(id, withRecords: params.bool(.records) ?? true), handle, in: session)
    },
    SessionMethod("admin.routes", access: .admin) { session, _, handle throws(CallError) in
      try inspect(.routes, handle, in: session)
    },
    SessionMethod("admin.refusals", access: .admin) { session, _, handle throws(CallError) in
      try inspect(.rejections, handle, in: session)
    },
    SessionMethod("admin.cluster", access: .admin) { session, _, handle throws(CallError) in
      try inspect(.cluster, handle, in: session)
    },
    SessionMethod("admin.versions", access: .admin) { session, _, handle throws(CallError) in
      try inspect(.versions, handle, in: session)
    },
    SessionMethod(
      "admin.explain", [Param(.uri, .string), Param(.params, .object), Param(.as, .object)],
      access: .admin, explain),
  ]

  private static func inspect(
    _ query: InspectionQuery, _ handle: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let owner = session.environment.owner
    return try AdminMethods.respondLater(handle, size: 0, in: session) { () throws(CallError) in
      try await owner.inspect(query)
    }
  }

  private static func explain(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let subject: PolicySubject
    do throws(DocumentFaults) {
      subject =
        try params[.as].map { value throws(DocumentFaults) in
          try PolicySubject(parsing: value)
        } ?? PolicySubject()
    } catch {
      throw .invalidParams("params.as: \(error)")
    }
    return try inspect(
      .explain(
        uri: try params.required(.uri), params: params.object(.params) ?? [:],
        caller: subject.caller),
      handle, in: session)
  }

  private static func watch(
    _ session: isolated Session, _ params: Params, _ handle: ReplyHandle
  ) throws(CallError) -> CallDisposition {
    let wantsMessages = params.bool(.messages) ?? false
    if params[.limit] != nil, !wantsMessages {
      throw .invalidParams("params.limit applies to messages; set params.messages to true as well")
    }
    let client = handle.client
    let limit = min(params.count(.limit) ?? defaultMessageLimit, maxMessageLimit)
    let filter = InspectorFilter(
      session: params.string(.session), maxMessageBytes: wantsMessages ? limit : nil,
      client: client.name)
    let collector = InspectorFeed(on: session.loop) { [weak session, id = client.id] in
      session?.assumeIsolated { [records = $0, dropped = $1] session in
        deliver(records, dropped, to: id, in: session)
      } ?? .closed
    }
    let owner = session.environment.owner
    switch owner.startInspection(filter, collector) {
    case .immediate(let result): return .value(result)
    case .deferred(let start):
      do throws(CallError) {
        return try AdminMethods.respondLater(handle, size: 0, in: session) {
          () throws(CallError) in
          await start()
        }
      } catch {
        owner.endInspection(client)
        throw error
      }
    }
  }

  /// Sends a batch of records to an inspector, unless it lags behind.
  private static func deliver(
    _ records: [Value], _ dropped: Int, to id: ClientID, in session: isolated Session
  ) -> InspectorFeed.BatchResult {
    guard let client = session.clients[id] else { return .closed }
    // The policy or the client's identity may have changed since the inspection was started.
    guard (try? client.rights.authorize("admin.watch", .admin)) != nil else {
      session.environment.owner.endInspection(client)
      return .closed
    }
    let unread = client.sequence?.outbox.bytes ?? 0
    guard let channel = client.channel, unread <= session.limits.maxOutbox / 2,
      channel.bufferedBytes <= session.limits.maxBacklog / 2
    else { return .deferred }
    session.clientWriter.notify(
      client, "admin.records",
      ["records": .array(records), "dropped": .integer(Int64(dropped))])
    return .sent
  }
}
