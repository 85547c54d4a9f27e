import Synchronization
import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// The table of a router, which may change while it serves. From any thread; a change is made aside,
/// so that no loop waits for it, and then holds at once and as a whole.
///
/// Pages that are open and calls under way live on; routes that are gone refuse new calls only.
public actor LiveTable {
  /// Why a table has changed.
  public enum Cause: String, Sendable, CaseIterable {
    /// Somebody has called `table.update`.
    case update
    /// Somebody has called `table.rollback`.
    case rollback
    /// Its file has changed.
    case file
    /// Another table was fetched.
    case fetch
    /// The app's own code has changed it.
    case code
    /// Another server of the cluster has changed it.
    case cluster
  }

  /// One change that has been made.
  public struct Change: Sendable {
    /// What is in force now.
    public let stamp: TableStamp
    /// What was in force before.
    public let previous: TableStamp
    /// Why it was made.
    public let cause: Cause
    /// What is another.
    public let changes: TableChanges
    /// How long it took to come into force, once it had been checked. Calls went on meanwhile.
    public let swapTime: Duration

    /// As `table.changed` tells it.
    package var value: Value {
      [
        "version": .string(stamp.version), "hash": .string(stamp.hash),
        "previous": previous.value, "cause": .string(cause.rawValue), "changes": changes.value,
      ]
    }
  }

  /// What becomes of a table that somebody gives.
  package enum News: Sendable {
    case changed(Change)
    case refused(TableError, Cause)
  }

  /// A table that was in force, and can be again.
  private struct Kept {
    let stamp: TableStamp
    /// Milliseconds since 1970-01-01 UTC.
    let time: Int64
    let text: String
  }

  /// How many earlier tables are kept, and how many bytes of them.
  private static let maxKept = 16
  private static let maxKeptBytes = 64 << 20

  /// What the table is applied to.
  public nonisolated let router: Router
  /// The file that it was read from; nil for none.
  public nonisolated let file: String?
  package nonisolated let counts = TableCounts()
  private let builtIn: ValueObject
  private var current: RouteTable
  /// The earlier tables, the oldest first.
  private var earlier: [Kept] = []
  private var since: Int64 = 0
  /// What was taken last from where: read once more, it says nothing new.
  private var lastTaken: [Cause: TableStamp] = [:]
  private var listeners: [Int: AsyncStream<News>.Continuation] = [:]
  private var lastListener = 0

  /// Applies a table to a router that has none. Throws ``RouterError`` where it does not fit, with
  /// nothing changed.
  package init(_ table: RouteTable, for router: Router, file: String? = nil) throws(RouterError) {
    try table.apply(to: router)
    self.router = router
    self.file = file
    builtIn = table.document
    current = table
    if file != nil { lastTaken[.file] = table.stamp }
  }

  /// Which table is in force.
  public var stamp: TableStamp { current.stamp }

  /// The document that is in force.
  public var document: Value { .object(current.document) }

  /// The earlier tables that ``rollback(to:expecting:)`` leads to, the latest first, and since when
  /// each was in force, in milliseconds since 1970-01-01 UTC; 0 where it was from the start.
  public var versions: [(stamp: TableStamp, since: Int64)] {
    earlier.reversed().map { ($0.stamp, $0.time) }
  }

  /// Since when the table is in force, in milliseconds since 1970-01-01 UTC; 0 for from the start.
  package var inForceSince: Int64 { since }

  /// As ``versions``, each with what the one after it has made another; nil where it cannot be read
  /// any more.
  package var comparedVersions: [(stamp: TableStamp, since: Int64, changes: TableChanges?)] {
    var next: RouteTable? = current
    return earlier.reversed().map { kept in
      let table = (try? JSON.parse(kept.text)).flatMap { try? RouteTable(parsing: $0) }
      defer { next = table }
      guard let table, let next else { return (kept.stamp, kept.time, nil) }
      return (kept.stamp, kept.time, TableChanges(from: table, to: next))
    }
  }

  /// Carries out all operations, or none of them.
  ///
  /// - Parameters:
  ///   - version: what the outcome is called; by default the present version with a number behind:
  ///     `3+1` after `3`.
  ///   - expected: the version that has to be in force; nil for any.
  /// - Throws: ``TableError``, with nothing changed.
  @discardableResult
  public func update(
    _ operations: [TableOperation], version: String? = nil, expecting expected: String? = nil
  ) throws(TableError) -> Change {
    try update(operations, version: version, expecting: expected, cause: .code, at: 0)
  }

  /// Puts another document in the place of the whole table, whose version must not be before the
  /// present one. Throws ``TableError``, with nothing changed.
  @discardableResult
  public func replace(
    with document: Value, expecting expected: String? = nil
  ) throws(TableError) -> Change {
    try replace(with: document, expecting: expected, cause: .code, at: 0)
  }

  /// Goes back to an earlier table: to the one before, or to the latest with a version. Throws
  /// ``TableError``, with nothing changed.
  @discardableResult
  public func rollback(
    to version: String? = nil, expecting expected: String? = nil
  ) throws(TableError) -> Change {
    try rollback(to: version, expecting: expected, cause: .code, at: 0)
  }

  /// Each change from now on, until the task that reads them is cancelled.
  public func changes() -> some AsyncSequence<Change, Never> & Sendable {
    news().compactMap { news in
      if case .changed(let change) = news { change } else { nil }
    }
  }

  /// Each change, and what is refused, from now on.
  package func news() -> AsyncStream<News> {
    let (stream, continuation) = AsyncStream.makeStream(of: News.self)
    lastListener += 1
    let number = lastListener
    listeners[number] = continuation
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.stopListening(number) }
    }
    return stream
  }

  private func stopListening(_ number: Int) {
    listeners[number] = nil
  }

  /// `now` is in milliseconds since 1970-01-01 UTC.
  package func update(
    _ operations: [TableOperation], version: String?, expecting expected: String?, cause: Cause,
    at now: Int64
  ) throws(TableError) -> Change {
    try told(cause) { () throws(TableError) in
      try expect(expected)
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
      let table = try parsed(.object(document), "The changed table")
      if !isReset { try ensureNotBefore(table) }
      return try put(table, cause, at: now)
    }
  }

  package func replace(
    with document: Value, expecting expected: String?, cause: Cause, at now: Int64
  ) throws(TableError) -> Change {
    try told(cause) { () throws(TableError) in
      try expect(expected)
      let table = try parsed(document, "The table")
      try ensureNotBefore(table)
      return try put(table, cause, at: now)
    }
  }

  /// As ``replace(with:expecting:cause:at:)``; nil where the document is the one in force, or was
  /// taken before from the same place, which has not changed since.
  package func take(
    _ document: Value, cause: Cause, at now: Int64
  ) throws(TableError) -> Change? {
    try told(cause) { () throws(TableError) in
      let table = try parsed(document, "The table")
      if lastTaken[cause] == table.stamp { return nil }
      if table.stamp == current.stamp {
        lastTaken[cause] = table.stamp
        return nil
      }
      try ensureNotBefore(table)
      let change = try put(table, cause, at: now)
      lastTaken[cause] = table.stamp
      return change
    }
  }

  /// The document that is in force, and those that can be gone back to, the latest first, as many as
  /// fit into so many bytes: `{table, earlier: [{at, table}]}`.
  package func shared(maxBytes: Int) throws -> [UInt8] {
    var left = maxBytes - (try JSON.text(document).utf8.count)
    var some: [Value] = []
    for kept in earlier.reversed() {
      left -= kept.text.utf8.count + 100
      guard left > 0 else { break }
      some.append(["at": .integer(kept.time), "table": try JSON.parse(kept.text)])
    }
    return Array(try JSON.text(["table": document, "earlier": .list(some)]).utf8)
  }

  /// Takes what is in force elsewhere, and what can be gone back to there, as ``shared(maxBytes:)``
  /// tells them, be the version before the present one; nil where it is in force here.
  package func adopt(_ shared: Value, at now: Int64) throws(TableError) -> Change? {
    try told(.cluster) { () throws(TableError) in
      let table = try parsed(shared["table"] ?? .null, "The table of the cluster")
      let earlier = (shared["earlier"]?.list ?? []).reversed().compactMap { value -> Kept? in
        guard let document = value["table"], let text = try? JSON.text(document),
          let table = try? RouteTable(parsing: document)
        else { return nil }
        return Kept(stamp: table.stamp, time: value["at"]?.integer ?? 0, text: text)
      }
      if table.stamp == current.stamp {
        self.earlier = earlier
        return nil
      }
      return try put(table, .cluster, at: now, leaving: earlier)
    }
  }

  package func rollback(
    to version: String?, expecting expected: String?, cause: Cause, at now: Int64
  ) throws(TableError) -> Change {
    try told(cause) { () throws(TableError) in
      try expect(expected)
      let place =
        if let version {
          earlier.lastIndex { $0.stamp.version.isSameUTF8(as: version) }
        } else {
          earlier.indices.last
        }
      guard let place else {
        let known = earlier.reversed().map { "'\($0.stamp.version.brief)'" }
        throw TableError(
          .noVersion,
          known.isEmpty
            ? "There is no earlier table to go back to"
            : "There is no earlier table '\(version?.brief ?? "")'; there are \(known.joined(separator: ", "))"
        )
      }
      let wanted = earlier[place]
      let document: Value
      do { document = try JSON.parse(wanted.text) } catch {
        throw TableError(.unreadable, "The earlier table cannot be read: \(error)")
      }
      let table = try parsed(document, "The earlier table")
      return try put(table, cause, at: now, leaving: Array(earlier[..<place]))
    }
  }

  /// Tells what is refused.
  private func told<Success>(
    _ cause: Cause, _ body: () throws(TableError) -> Success
  ) throws(TableError) -> Success {
    do { return try body() } catch {
      refuse(error, cause)
      throw error
    }
  }

  /// What came could not even be read.
  package func refuse(_ error: TableError, _ cause: Cause) {
    counts.refusals.add(1, ordering: .relaxed)
    for listener in listeners.values { listener.yield(.refused(error, cause)) }
  }

  private func expect(_ version: String?) throws(TableError) {
    guard let version, !version.isSameUTF8(as: current.version) else { return }
    throw TableError(
      .stale,
      "The version '\(current.version.brief)' is in force, not '\(version.brief)': look at it before you change it"
    )
  }

  private func parsed(_ document: Value, _ subject: String) throws(TableError) -> RouteTable {
    do { return try RouteTable(parsing: document) } catch { throw TableError(subject, error) }
  }

  private func ensureNotBefore(_ table: RouteTable) throws(TableError) {
    guard TableVersion(table.version) < TableVersion(current.version) else { return }
    throw TableError(
      .versionBack,
      "The version '\(table.version.brief)' is before '\(current.version.brief)', which is in force: "
        + "give it a higher one, or go back by table.rollback")
  }

  /// A table comes into force. The one before can be gone back to from then on, unless `left` is all
  /// that can.
  private func put(
    _ table: RouteTable, _ cause: Cause, at now: Int64, leaving left: [Kept]? = nil
  ) throws(TableError) -> Change {
    let start = ContinuousClock.now
    do { try table.apply(to: router, anew: true) } catch {
      throw TableError(.wrong, "The table does not fit the app: \(error)")
    }
    let swapTime = ContinuousClock.now - start
    if let left { earlier = left } else { keepCurrent() }
    let change = Change(
      stamp: table.stamp, previous: current.stamp, cause: cause,
      changes: TableChanges(from: current, to: table), swapTime: swapTime)
    current = table
    since = now
    counts.changed(by: cause)
    for listener in listeners.values { listener.yield(.changed(change)) }
    return change
  }

  /// The present table can be gone back to from now on.
  private func keepCurrent() {
    // What was read can be written: nothing in it is deeper than what is read.
    guard let text = try? JSON.text(.object(current.document)) else { return }
    earlier.append(Kept(stamp: current.stamp, time: since, text: text))
    while earlier.count > Self.maxKept
      || earlier.reduce(0, { $0 + $1.text.utf8.count }) > Self.maxKeptBytes
    {
      earlier.removeFirst()
    }
  }
}

/// How often a table has changed, and how often a change was refused. From any thread.
package final class TableCounts: Sendable {
  package let refusals = Atomic(0)
  private let changes = LiveTable.Cause.allCases.map { _ in Counter() }

  private final class Counter: Sendable {
    let count = Atomic(0)
  }

  fileprivate func changed(by cause: LiveTable.Cause) {
    guard let place = LiveTable.Cause.allCases.firstIndex(of: cause) else { return }
    changes[place].count.add(1, ordering: .relaxed)
  }

  /// The changes so far, by their cause.
  package var byCause: [(cause: LiveTable.Cause, count: Int)] {
    zip(LiveTable.Cause.allCases, changes).map { ($0, $1.count.load(ordering: .relaxed)) }
  }
}
