import WayNavigation
import WayTable
import WayValues

/// `table.…`: methods that inspect and change the route table while the server runs.
enum TableMethods {
  private static let expect = Param(.expect, .string)

  static let all = [
    SessionMethod(read: "table.get") { session, _, request throws(CallError) in
      try respondLater(request, in: session) { table throws(TableError) in await table.value }
    },
    SessionMethod(
      change: "table.update",
      [expect, Param(.operations, .list), Param(.table, .object), Param(.version, .string)],
      update),
    SessionMethod(change: "table.rollback", [expect, Param(.to, .string)], rollback),
    SessionMethod(read: "table.check") { session, _, request throws(CallError) in
      let owner = session.environment.owner
      return try respondLater(request, in: session) { await owner.auditRoutes().value }
    },
  ]

  private static func update(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
  ) throws(CallError) -> CallDisposition {
    let (expected, version) = (params.string(.expect), params.string(.version))
    let now = session.environment.now()
    switch (params[.operations], params.object(.table)) {
    case (let list?, nil):
      let operations: [TableOperation]
      do throws(DocumentFaults) {
        operations = try TableOperation.operations(
          parsing: list, at: JSONPath.root.member("operations"))
      } catch {
        throw CallError(TableError("The change", error))
      }
      return try respondLater(everywhere: request, in: session) { table throws(TableError) in
        try await table.update(
          operations, version: version, expecting: expected, cause: .update, at: now)
      }
    case (nil, let document?):
      guard version == nil else {
        throw .invalidParams(
          "params.version applies to operations only; a whole table contains its version")
      }
      return try respondLater(everywhere: request, in: session) { table throws(TableError) in
        try await table.replace(
          with: .object(document), expecting: expected, cause: .update, at: now)
      }
    default:
      throw .invalidParams("params must have either operations or table")
    }
  }

  private static func rollback(
    _ session: isolated Session, _ params: Params, _ request: AuditedRequest
  ) throws(CallError) -> CallDisposition {
    let (expected, version) = (params.string(.expect), params.string(.to))
    let now = session.environment.now()
    return try respondLater(everywhere: request, in: session) { table throws(TableError) in
      try await table.rollback(
        to: version, expecting: expected, cause: .rollback, at: now)
    }
  }

  private static func table(of session: isolated Session) throws(CallError) -> LiveTable {
    guard let table = session.environment.table else {
      throw CallError(
        .noRoute,
        "This server has no table that can be changed; an app sets BridgeConfiguration.sessions.table",
        kind: "noTable")
    }
    return table
  }

  /// Changes the table outside of the session, and responds with the result. If there are other
  /// servers, the response includes the response of each.
  private static func respondLater(
    everywhere request: AuditedRequest, in session: isolated Session,
    _ work: @escaping @Sendable (LiveTable) async throws(TableError) -> LiveTable.Change
  ) throws(CallError) -> CallDisposition {
    let table = try table(of: session)
    let operations = session.environment.operations
    return try request.respondLaterToChange(size: 0, in: session) { () throws(CallError) in
      let change: LiveTable.Change
      do throws(TableError) { change = try await work(table) } catch { throw CallError(error) }
      return ChangeResult(
        change.responseFields, try await operations.shareTable(change.stamp))
    }
  }

  /// Reads the table outside of the session, and responds with the result.
  private static func respondLater(
    _ request: AuditedRequest, in session: isolated Session,
    _ work: @escaping @Sendable (LiveTable) async throws(TableError) -> Value
  ) throws(CallError) -> CallDisposition {
    let table = try table(of: session)
    return try respondLater(request, in: session) { () throws(TableError) in try await work(table) }
  }

  private static func respondLater(
    _ request: AuditedRequest, in session: isolated Session,
    _ work: @escaping @Sendable () async throws(TableError) -> Value
  ) throws(CallError) -> CallDisposition {
    try request.respondLater(size: 0, in: session) { () throws(CallError) in
      do throws(TableError) { return try await work() } catch { throw CallError(error) }
    }
  }
}

/// A version of the route table in the results of `table.get` and `admin.versions`.
struct TableVersionDescription: Encodable {
  let version: String
  let hash: String
  /// When it was in force, in milliseconds since 1970-01-01 UTC.
  let at: Int64
  /// What the next version has changed; null if that is not known. Only in `admin.versions`.
  var changes: Value?
}

/// The result of `table.get`.
private struct TableDescription: Encodable {
  let version: String
  let hash: String
  let table: Value
  let versions: [TableVersionDescription]
}

extension LiveTable {
  /// The result of `table.get`.
  fileprivate var value: Value {
    RecordCoder.value(
      of: TableDescription(
        version: stamp.version, hash: stamp.hash, table: document,
        versions: versions.map { earlier in
          .init(version: earlier.stamp.version, hash: earlier.stamp.hash, at: earlier.since)
        }))
  }
}

extension LiveTable.Change {
  /// The members of the result for the client that made the change.
  fileprivate var responseFields: ValueObject {
    var members = stamp.value.object ?? [:]
    members["changes"] = changes.value
    return members
  }
}

extension CallError {
  /// Converts the reason why a table was rejected.
  fileprivate init(_ error: TableError) {
    switch error.reason {
    case .stale, .olderVersion:
      self.init(.conflict, error.description, kind: error.reason.rawValue)
    case .unknownVersion: self.init(.noRoute, error.description, kind: error.reason.rawValue)
    case .unreadable: self.init(.internal, error.description)
    case .invalid:
      let faults = error.faults.prefix(DocumentFaults.limit).map { fault -> Value in
        ["path": .string(fault.path), "message": .string(fault.message)]
      }
      var data: ValueObject = [:]
      if !faults.isEmpty { data["errors"] = .array(faults) }
      self.init(
        .invalidParams, error.faults.isEmpty ? error.description : Self.summary(error.faults),
        data: data)
    }
  }

  private static func summary(_ faults: [DocumentFault]) -> String {
    guard let first = faults.first, faults.count > 1 else {
      return "The table is wrong: \(faults.first?.description ?? "")"
    }
    let count =
      faults.count > DocumentFaults.limit ? "more than \(DocumentFaults.limit)" : "\(faults.count)"
    return "The table has \(count) errors; the first is: \(first)"
  }
}
