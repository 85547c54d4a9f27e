import WayNavigation
import WayTable
import WayValues

/// `table.…`: the route table, looked at and changed while the server runs.
enum TableMethods {
  private static let expect = Param(.expect, .string)

  static let all = [
    Method("table.get", access: .admin) { session, _, address throws(CallError) in
      try answer(address, in: session) { table throws(TableError) in await table.value }
    },
    Method(
      "table.update",
      [expect, Param(.operations, .list), Param(.table, .object), Param(.version, .string)],
      access: .admin, update),
    Method("table.rollback", [expect, Param(.to, .string)], access: .admin, rollback),
    Method("table.check", access: .admin) { session, _, address throws(CallError) in
      let owner = session.environment.owner
      return try answer(address, in: session) { await owner.recheck().value }
    },
  ]

  private static func update(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
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
      return try answer(everywhere: address, in: session) { table throws(TableError) in
        try await table.update(
          operations, version: version, expecting: expected, cause: .update, at: now
        ).answer
      }
    case (nil, let document?):
      guard version == nil else {
        throw .invalidParams("params.version goes with operations: a table has its own")
      }
      return try answer(everywhere: address, in: session) { table throws(TableError) in
        try await table.replace(
          with: .object(document), expecting: expected, cause: .update, at: now
        ).answer
      }
    default:
      throw .invalidParams("params: give either operations or a whole table")
    }
  }

  private static func rollback(
    _ session: isolated Session, _ params: Params, _ address: ReplyHandle
  ) throws(CallError) -> Reply {
    let (expected, version) = (params.string(.expect), params.string(.to))
    let now = session.environment.now()
    return try answer(everywhere: address, in: session) { table throws(TableError) in
      try await table.rollback(
        to: version, expecting: expected, cause: .rollback, at: now
      ).answer
    }
  }

  private static func table(of session: isolated Session) throws(CallError) -> LiveTable {
    guard let table = session.environment.table else {
      throw CallError(
        .noRoute,
        "This server has no table that can be changed: its app gives one to BridgeConfiguration.table",
        kind: "noTable")
    }
    return table
  }

  /// Answers with what becomes of the table, which is changed aside; where there are other servers,
  /// also with what each has answered.
  private static func answer(
    everywhere address: ReplyHandle, in session: isolated Session,
    _ work: @escaping @Sendable (LiveTable) async throws(TableError) -> Value
  ) throws(CallError) -> Reply {
    let table = try table(of: session)
    let owner = session.environment.owner
    return try AdminMethods.answer(address, size: 0, in: session) { () throws(CallError) in
      let change: Value
      do throws(TableError) { change = try await work(table) } catch { throw CallError(error) }
      guard let others = await owner.shareTable() else { return change }
      var members = change.object ?? [:]
      members["servers"] = .list(try others.get())
      return .object(members)
    }
  }

  /// Answers with what becomes of the table, which is looked at aside.
  private static func answer(
    _ address: ReplyHandle, in session: isolated Session,
    _ work: @escaping @Sendable (LiveTable) async throws(TableError) -> Value
  ) throws(CallError) -> Reply {
    let table = try table(of: session)
    return try answer(address, in: session) { () throws(TableError) in try await work(table) }
  }

  private static func answer(
    _ address: ReplyHandle, in session: isolated Session,
    _ work: @escaping @Sendable () async throws(TableError) -> Value
  ) throws(CallError) -> Reply {
    try AdminMethods.answer(address, size: 0, in: session) { () throws(CallError) in
      do throws(TableError) { return try await work() } catch { throw CallError(error) }
    }
  }
}

extension LiveTable {
  /// As `table.get` tells it.
  fileprivate var value: Value {
    [
      "version": .string(stamp.version), "hash": .string(stamp.hash), "table": document,
      "versions": .list(
        versions.map { earlier in
          [
            "version": .string(earlier.stamp.version), "hash": .string(earlier.stamp.hash),
            "at": .integer(earlier.since),
          ]
        }),
    ]
  }
}

extension LiveTable.Change {
  /// As who has made it is told.
  fileprivate var answer: Value {
    [
      "version": .string(stamp.version), "hash": .string(stamp.hash), "changes": changes.value,
    ]
  }
}

extension CallError {
  /// How many faults of a document are told.
  private static let maxFaults = 32

  /// Why a table was not taken, as a caller is told it.
  fileprivate init(_ error: TableError) {
    switch error.reason {
    case .stale, .versionBack:
      self.init(.conflict, error.description, kind: error.reason.rawValue)
    case .noVersion: self.init(.noRoute, error.description, kind: error.reason.rawValue)
    case .unreadable: self.init(.internal, error.description)
    case .wrong:
      let faults = error.faults.prefix(Self.maxFaults).map { fault -> Value in
        ["path": .string(fault.path), "message": .string(fault.message)]
      }
      var data: ValueObject = [:]
      if !faults.isEmpty { data["errors"] = .list(faults) }
      self.init(
        .invalidParams, error.faults.isEmpty ? error.description : Self.brief(error.faults),
        data: data)
    }
  }

  private static func brief(_ faults: [DocumentFault]) -> String {
    guard let first = faults.first, faults.count > 1 else {
      return "The table is wrong: \(faults.first?.description ?? "")"
    }
    return "The table has \(faults.count) faults, the first: \(first)"
  }
}
