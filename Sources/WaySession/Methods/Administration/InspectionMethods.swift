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
      change: "admin.watch",
      [Param(.session, .string), Param(.messages, .bool), Param(.limit, .count)], watch),
    SessionMethod(change: "admin.unwatch") { session, _, request throws(CallError) in
      session.environment.owner.endInspection(request.client)
      return .value(.null)
    },
    SessionMethod(
      read: "admin.sessions", [Param(.after, .string), Param(.limit, .count)]
    ) { session, params, request throws(CallError) in
      let limit = min(max(params.count(.limit) ?? maxSessions, 1), maxSessions)
      return try inspect(
        .sessions(after: params.string(.after), limit: limit), request, in: session)
    },
    SessionMethod(
      read: "admin.session", [Param(.session, .string), Param(.records, .bool)]
    ) { session, params, request throws(CallError) in
      let id = try params.required(.session)
      return try inspect(
        .session(id, withRecords: params.bool(.records) ?? true), request, in: session)
    },
    SessionMethod(read: "admin.routes") { session, _, request throws(CallError) in
      try inspect(.routes, request, in: session)
    },
    SessionMethod(read: "admin.refusals") { session, _, request throws(CallError) in
      try inspect(.rejections, request, in: session)
    },
    SessionMethod(read: "admin.cluster") { session, _, request throws(CallError) in
      try inspect(.cluster, request, in: session)
    },
    SessionMethod(read: "admin.versions") { session, _, request throws(CallError) in
      try inspect(.versions, request, in: session)
    },
    SessionMethod(
      read: "admin.explain",
      [Param(.uri, .string), Param(.params, .object), Param(.as, .object)], explain),
  ]

  private static func inspect(
    _ query: InspectionQuery, _ request: AuditedRequest, in session: isolated Session
  ) throws(CallError) -> CallDisposition {
    let operations = session.environment.operations
    return try request.respondLater(size: 0, in: session) { () throws(CallError) in
      try await operations.inspect(query)
    }
  }

  private static func explain(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
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
      request, in: session)
  }

  private static func watch(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
  ) throws(CallError) -> CallDisposition {
    let wantsMessages = params.bool(.messages) ?? false
    if params[.limit] != nil, !wantsMessages {
      throw .invalidParams("params.limit applies to messages; set params.messages to true as well")
    }
    let client = request.client
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
        return try request.respondLater(size: 0, in: session) {
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
    let unread = client.link.unacknowledgedBytes
    guard let channel = client.channel, unread <= session.limits.maxOutbox / 2,
      channel.bufferedBytes <= session.limits.maxBacklog / 2
    else { return .deferred }
    session.clientWriter.notify(
      client, "admin.records",
      ["records": .array(records), "dropped": .integer(Int64(dropped))])
    return .sent
  }
}
