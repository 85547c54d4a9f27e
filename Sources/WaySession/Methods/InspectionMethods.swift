import WayPatterns
import WayTable
import WayTransport
import WayValues

/// `admin.…`: what who inspects a server is told of it.
enum InspectionMethods {
  /// How many sessions are told at once.
  private static let maxSessions = 200
  /// Bytes of each message that is told where no other limit is given, and at most.
  private static let usualMessage = 4 << 10
  private static let maxMessage = 64 << 10

  static let all = [
    Method(
      "admin.watch", [Param(.session, .string), Param(.messages, .bool), Param(.limit, .count)],
      access: .admin, watch),
    Method("admin.unwatch", access: .admin) { session, _, address throws(CallError) in
      session.environment.owner.watcherLeft(address.client)
      return .value(.null)
    },
    Method(
      "admin.sessions", [Param(.after, .string), Param(.limit, .count)], access: .admin
    ) { session, params, address throws(CallError) in
      let limit = min(max(params.count(.limit) ?? maxSessions, 1), maxSessions)
      return try inspect(
        .sessions(after: params.string(.after), limit: limit), address, in: session)
    },
    Method(
      "admin.session", [Param(.session, .string), Param(.records, .bool)], access: .admin
    ) { session, params, address throws(CallError) in
      let id = try params.required(.session)
      return try inspect(
        .session(id, withRecords: params.bool(.records) ?? true), address, in: session)
    },
    Method("admin.routes", access: .admin) { session, _, address throws(CallError) in
      try inspect(.routes, address, in: session)
    },
    Method("admin.refusals", access: .admin) { session, _, address throws(CallError) in
      try inspect(.refusals, address, in: session)
    },
    Method("admin.cluster", access: .admin) { session, _, address throws(CallError) in
      try inspect(.cluster, address, in: session)
    },
    Method("admin.versions", access: .admin) { session, _, address throws(CallError) in
      try inspect(.versions, address, in: session)
    },
    Method(
      "admin.explain", [Param(.uri, .string), Param(.params, .object), Param(.as, .object)],
      access: .admin, explain),
  ]

  private static func inspect(
    _ question: InspectionQuery, _ address: ReplyHandle, in session: isolated Session
  ) throws(CallError) -> Reply {
    let owner = session.environment.owner
    return try AdminMethods.answer(address, size: 0, in: session) { () throws(CallError) in
      try await owner.inspect(question)
    }
  }

  private static func explain(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let asker: PolicyAsker
    do throws(DocumentFaults) {
      asker =
        try params[.as].map { value throws(DocumentFaults) in
          try PolicyAsker(parsing: value)
        } ?? PolicyAsker()
    } catch {
      throw .invalidParams("params.as: \(error)")
    }
    return try inspect(
      .explain(
        uri: try params.required(.uri), params: params.object(.params) ?? [:],
        asker: asker.caller),
      address, in: session)
  }

  private static func watch(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let wantsMessages = params.bool(.messages) ?? false
    if params[.limit] != nil, !wantsMessages {
      throw .invalidParams("params.limit is of messages: give messages true as well")
    }
    let client = address.client
    let limit = min(params.count(.limit) ?? usualMessage, maxMessage)
    let wish = InspectorFilter(
      session: params.string(.session), messages: wantsMessages ? limit : nil, client: client.name)
    let collector = InspectorFeed(on: session.loop) { [weak session, id = client.id] in
      session?.assumeIsolated { [records = $0, dropped = $1] session in
        deliver(records, dropped, to: id, in: session)
      } ?? .gone
    }
    let owner = session.environment.owner
    switch owner.watch(wish, collector) {
    case .done(let answer): return .value(answer)
    case .later(let begun):
      do throws(CallError) {
        return try AdminMethods.answer(address, size: 0, in: session) { () throws(CallError) in
          await begun()
        }
      } catch {
        owner.watcherLeft(client)
        throw error
      }
    }
  }

  /// Sends a batch to who watches, unless it lags behind.
  private static func deliver(
    _ records: [Value], _ dropped: Int, to id: ClientID, in session: isolated Session
  ) -> InspectorFeed.Handover {
    guard let client = session.members[id] else { return .gone }
    // The policy, or who the client is, may have changed since it has asked.
    guard (try? client.rights.enter("admin.watch", .admin)) != nil else {
      session.environment.owner.watcherLeft(client)
      return .gone
    }
    let unread = client.numbering?.outbox.bytes ?? 0
    guard let channel = client.channel, unread <= session.limits.maxOutbox / 2,
      channel.bufferedBytes <= session.limits.maxBacklog / 2
    else { return .later }
    session.mail.notify(
      client, "admin.records",
      ["records": .list(records), "dropped": .integer(Int64(dropped))])
    return .sent
  }
}
