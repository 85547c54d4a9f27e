import Synchronization
import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// The route table of a router, which can change while the router serves calls. Thread-safe. A
/// change is prepared separately, so no loop waits for it, and then takes effect at once and as a
/// whole.
///
/// Open pages and running calls continue. Removed routes only reject new calls.
public actor LiveTable {
  /// The cause of a change.
  public enum Cause: String, Sendable, CaseIterable {
    /// A client has called `table.update`.
    case update
    /// A client has called `table.rollback`.
    case rollback
    /// The file of the table has changed.
    case file
    /// Another version of the table was fetched.
    case fetch
    /// The app's own code has changed the table.
    case code
    /// Another server of the cluster has changed the table.
    case cluster
  }

  /// One change of the table.
  public struct Change: Sendable {
    /// The new table's stamp.
    public let stamp: TableStamp
    /// The previous table's stamp.
    public let previous: TableStamp
    /// The cause of the change.
    public let cause: Cause
    /// The differences between the tables.
    public let changes: TableChanges
    /// The time to activate the checked table. Calls continued meanwhile.
    public let swapDuration: Duration

    /// The data of `table.changed`.
    package var value: Value {
      [
        "version": .string(stamp.version), "hash": .string(stamp.hash),
        "previous": previous.value, "cause": .string(cause.rawValue), "changes": changes.value,
      ]
    }
  }

  /// A table that was activated or rejected.
  package enum TableEvent: Sendable {
    case changed(Change)
    case rejected(TableError, Cause)
  }

  /// A table that was active and can be restored.
  private struct EarlierTable {
    let stamp: TableStamp
    /// In milliseconds since 1970-01-01 UTC.
    let activeSince: Int64
    let json: String
  }

  /// Maximum number of earlier tables, and of their bytes.
  private static let maxEarlierTables = 16
  private static let maxEarlierBytes = 64 << 20

  /// The router that the table is applied to.
  public nonisolated let router: Router
  /// The path of the table's file; `nil` for none.
  public nonisolated let file: String?
  package nonisolated let counts = TableCounts()
  private let builtIn: ValueObject
  private var current: RouteTable
  /// The earlier tables, the oldest first.
  private var earlier: [EarlierTable] = []
  private var currentSince: Int64 = 0
  /// The last applied table of each cause. The same table from the same cause is not new.
  private var lastApplied: [Cause: TableStamp] = [:]
  private var listeners: [Int: AsyncStream<TableEvent>.Continuation] = [:]
  private var lastListenerID = 0

  /// Applies a table to a router that has none. Throws ``RouterConfigurationError``, with nothing
  /// changed, if the table does not fit the router.
  package init(_ table: RouteTable, for router: Router, file: String? = nil)
    throws(RouterConfigurationError)
  {
    try table.apply(to: router)
    self.router = router
    self.file = file
    builtIn = table.document
    current = table
    if file != nil { lastApplied[.file] = table.stamp }
  }

  /// The stamp of the active table.
  public var stamp: TableStamp { current.stamp }

  /// The active document.
  public var document: Value { .object(current.document) }

  /// The earlier tables that ``rollback(to:expecting:)`` can restore, the latest first. `since` is
  /// when each became active, in milliseconds since 1970-01-01 UTC; 0 if at the start.
  public var versions: [(stamp: TableStamp, since: Int64)] {
    earlier.reversed().map { ($0.stamp, $0.activeSince) }
  }

  /// When the table became active, in milliseconds since 1970-01-01 UTC; 0 if at the start.
  package var activeSince: Int64 { currentSince }

  /// Like ``versions``, each with the differences to the next table. These are `nil` if the table
  /// cannot be read any more.
  package var comparedVersions: [(stamp: TableStamp, since: Int64, changes: TableChanges?)] {
    var next: RouteTable? = current
    return earlier.reversed().map { archived in
      let table = (try? JSON.parse(archived.json)).flatMap { try? RouteTable(parsing: $0) }
      defer { next = table }
      guard let table, let next else { return (archived.stamp, archived.activeSince, nil) }
      return (archived.stamp, archived.activeSince, TableChanges(from: table, to: next))
    }
  }

  /// Applies all operations, or none of them.
  ///
  /// - Parameters:
  ///   - version: The version of the result. By default it is the current version with a number
  ///     appended: `3+1` after `3`.
  ///   - expected: The version that must be active; `nil` for any.
  /// - Throws: ``TableError``, with nothing changed.
  @discardableResult
  public func update(
    _ operations: [TableOperation], version: String? = nil, expecting expected: String? = nil
  ) throws(TableError) -> Change {
    try update(operations, version: version, expecting: expected, cause: .code, at: 0)
  }

  /// Replaces the whole table with another document. Its version must not be older than the
  /// current one. Throws ``TableError``, with nothing changed.
  @discardableResult
  public func replace(
    with document: Value, expecting expected: String? = nil
  ) throws(TableError) -> Change {
    try replace(with: document, expecting: expected, cause: .code, at: 0)
  }

  /// Restores an earlier table: the previous one, or the latest with a given version. Throws
  /// ``TableError``, with nothing changed.
  @discardableResult
  public func rollback(
    to version: String? = nil, expecting expected: String? = nil
  ) throws(TableError) -> Change {
    try rollback(to: version, expecting: expected, cause: .code, at: 0)
  }

  /// All changes from now on, until the reading task is cancelled.
  public func changes() -> some AsyncSequence<Change, Never> & Sendable {
    events().compactMap { event in
      if case .changed(let change) = event { change } else { nil }
    }
  }

  /// All changes and rejected tables from now on.
  package func events() -> AsyncStream<TableEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: TableEvent.self)
    lastListenerID += 1
    let number = lastListenerID
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.removeListener(number) }
    }
    return stream
  }

  private func removeListener(_ number: Int) {
    listeners[number] = nil
  }

  /// Applies operations for a cause. `now` is in milliseconds since 1970-01-01 UTC.
  package func update(
    _ operations: [TableOperation], version: String?, expecting expected: String?, cause: Cause,
    at now: Int64
  ) throws(TableError) -> Change {
    try reportingRejection(cause) { () throws(TableError) in
      try checkVersion(expected)
      var document = current.document
      for (index, operation) in operations.enumerated() {
        guard let reason = operation.apply(to: &document, builtIn: builtIn) else { continue }
        let path = JSONPath.root.member("operations").element(index)
        let fault = DocumentFault(path: path.description, message: reason)
        throw TableError("The change", DocumentFaults(faults: [fault]))
      }
      let isReset = operations.last == .reset
      let next = isReset ? current.version : TableVersion.next(after: current.version)
      if !isReset || version != nil { document["version"] = .string(version ?? next) }
      let table = try parse(.object(document), "The changed table")
      if !isReset { try ensureNotOlder(table) }
      return try activate(table, cause, at: now)
    }
  }

  package func replace(
    with document: Value, expecting expected: String?, cause: Cause, at now: Int64
  ) throws(TableError) -> Change {
    try reportingRejection(cause) { () throws(TableError) in
      try checkVersion(expected)
      let table = try parse(document, "The table")
      try ensureNotOlder(table)
      return try activate(table, cause, at: now)
    }
  }

  /// Like ``replace(with:expecting:cause:at:)``, but only if the document is new. Returns `nil` if
  /// it is active already, or was the last one applied for this cause.
  package func applyIfNew(
    _ document: Value, cause: Cause, at now: Int64
  ) throws(TableError) -> Change? {
    try reportingRejection(cause) { () throws(TableError) in
      let table = try parse(document, "The table")
      if lastApplied[cause] == table.stamp { return nil }
      if table.stamp == current.stamp {
        lastApplied[cause] = table.stamp
        return nil
      }
      try ensureNotOlder(table)
      let change = try activate(table, cause, at: now)
      lastApplied[cause] = table.stamp
      return change
    }
  }

  /// The active document, and the earlier ones that can be restored, the latest first, as many as
  /// fit into `maxBytes`: `{table, earlier: [{at, table}]}`.
  package func sharedState(maxBytes: Int) throws -> [UInt8] {
    var remaining = maxBytes - (try JSON.text(document).utf8.count)
    var list: [Value] = []
    for archived in earlier.reversed() {
      remaining -= archived.json.utf8.count + 100
      guard remaining > 0 else { break }
      list.append(["at": .integer(archived.activeSince), "table": try JSON.parse(archived.json)])
    }
    return Array(try JSON.text(["table": document, "earlier": .array(list)]).utf8)
  }

  /// Adopts the active table and the earlier tables of another server, in the format of
  /// ``sharedState(maxBytes:)``. The version may be older than the current one. Returns the stamp of
  /// the adopted table; `nil`, with nothing changed, if `own` is no longer the active table.
  package func adopt(
    _ shared: Value, replacing own: TableStamp, at now: Int64
  ) throws(TableError) -> TableStamp? {
    guard own == current.stamp else { return nil }
    return try reportingRejection(.cluster) { () throws(TableError) in
      let table = try parse(shared["table"] ?? .null, "The table of the cluster")
      let earlier = (shared["earlier"]?.array ?? []).reversed().compactMap {
        value -> EarlierTable? in
        guard let document = value["table"], let text = try? JSON.text(document),
          let table = try? RouteTable(parsing: document)
        else { return nil }
        return EarlierTable(stamp: table.stamp, activeSince: value["at"]?.integer ?? 0, json: text)
      }
      if table.stamp == current.stamp {
        self.earlier = earlier
      } else {
        _ = try activate(table, .cluster, at: now, earlier: earlier)
      }
      return table.stamp
    }
  }

  /// Whether the table with this stamp is active, or an earlier one that can be restored.
  package func contains(_ stamp: TableStamp) -> Bool {
    current.stamp == stamp || earlier.contains { $0.stamp == stamp }
  }

  package func rollback(
    to version: String?, expecting expected: String?, cause: Cause, at now: Int64
  ) throws(TableError) -> Change {
    try reportingRejection(cause) { () throws(TableError) in
      try checkVersion(expected)
      let index =
        if let version {
          earlier.lastIndex { $0.stamp.version.isSameUTF8(as: version) }
        } else {
          earlier.indices.last
        }
      guard let index else {
        let known = earlier.reversed().map { "\"\($0.stamp.version.brief)\"" }
        throw TableError(
          .unknownVersion,
          known.isEmpty
            ? "There is no earlier table to roll back to"
            : "There is no earlier table \"\(version?.brief ?? "")\"; the earlier ones are \(known.joined(separator: ", "))"
        )
      }
      let wanted = earlier[index]
      let document: Value
      do { document = try JSON.parse(wanted.json) } catch {
        throw TableError(.unreadable, "The earlier table cannot be read: \(error)")
      }
      let table = try parse(document, "The earlier table")
      return try activate(table, cause, at: now, earlier: Array(earlier[..<index]))
    }
  }

  /// Reports a rejected table to the listeners.
  private func reportingRejection<Success>(
    _ cause: Cause, _ body: () throws(TableError) -> Success
  ) throws(TableError) -> Success {
    do { return try body() } catch {
      reject(error, cause)
      throw error
    }
  }

  /// Counts and reports a rejected table, even one that could not be read.
  package func reject(_ error: TableError, _ cause: Cause) {
    counts.rejections.add(1, ordering: .relaxed)
    for listener in listeners.values { listener.yield(.rejected(error, cause)) }
  }

  private func checkVersion(_ version: String?) throws(TableError) {
    guard let version, !version.isSameUTF8(as: current.version) else { return }
    throw TableError(
      .stale,
      "The version in force is \"\(current.version.brief)\", not \"\(version.brief)\"; read it before you change it"
    )
  }

  private func parse(_ document: Value, _ subject: String) throws(TableError) -> RouteTable {
    do { return try RouteTable(parsing: document) } catch { throw TableError(subject, error) }
  }

  private func ensureNotOlder(_ table: RouteTable) throws(TableError) {
    guard TableVersion(table.version) < TableVersion(current.version) else { return }
    throw TableError(
      .olderVersion,
      "The version \"\(table.version.brief)\" is lower than \"\(current.version.brief)\", which is in force; "
        + "use a higher one, or table.rollback")
  }

  /// Activates a table. The previous table is then archived, unless `remaining` replaces all
  /// earlier tables.
  private func activate(
    _ table: RouteTable, _ cause: Cause, at now: Int64, earlier remaining: [EarlierTable]? = nil
  ) throws(TableError) -> Change {
    let start = ContinuousClock.now
    do { try table.apply(to: router, replacing: true) } catch {
      throw TableError(.invalid, "The table does not fit the app: \(error)")
    }
    let swapTime = ContinuousClock.now - start
    if let remaining { earlier = remaining } else { archiveCurrent() }
    let change = Change(
      stamp: table.stamp, previous: current.stamp, cause: cause,
      changes: TableChanges(from: current, to: table), swapDuration: swapTime)
    current = table
    currentSince = now
    counts.recordChange(by: cause)
    for listener in listeners.values { listener.yield(.changed(change)) }
    return change
  }

  /// Adds the current table to the earlier ones.
  private func archiveCurrent() {
    // A document that was read can be written: it is not nested more deeply than the limit.
    guard let text = try? JSON.text(.object(current.document)) else { return }
    earlier.append(EarlierTable(stamp: current.stamp, activeSince: currentSince, json: text))
    while earlier.count > Self.maxEarlierTables
      || earlier.reduce(0, { $0 + $1.json.utf8.count }) > Self.maxEarlierBytes
    {
      earlier.removeFirst()
    }
  }
}

/// The number of changes and of rejected changes. Thread-safe.
package final class TableCounts: Sendable {
  package let rejections = Atomic(0)
  private let changes = LiveTable.Cause.allCases.map { _ in ChangeCounter() }

  private final class ChangeCounter: Sendable {
    let count = Atomic(0)
  }

  fileprivate func recordChange(by cause: LiveTable.Cause) {
    guard let index = LiveTable.Cause.allCases.firstIndex(of: cause) else { return }
    changes[index].count.add(1, ordering: .relaxed)
  }

  /// The number of changes by cause.
  package var changesByCause: [(cause: LiveTable.Cause, count: Int)] {
    zip(LiveTable.Cause.allCases, changes).map { ($0, $1.count.load(ordering: .relaxed)) }
  }
}
