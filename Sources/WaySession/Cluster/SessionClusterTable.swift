import WayNavigation
import WayRPC
import WayTable
import WayValues

/// The shared route table of all servers, with its earlier versions, as one document. A server that
/// changes the table writes the document after the revision that it knew; the other servers then
/// read it.
actor SessionClusterTable {
  private static let name = "table"

  private let engine: any ClusterEngine
  private let table: LiveTable
  private let now: @Sendable () -> Int64
  /// The revision of the document that was shared or adopted last; 0 for none.
  private(set) var revision: UInt64 = 0
  private var sharedStamp: TableStamp?
  /// Whether an operation runs, and those that wait for it. One operation at a time reads, writes
  /// and adopts documents, so that none adopts a document that another one has replaced meanwhile.
  private var isBusy = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(_ engine: any ClusterEngine, _ table: LiveTable, now: @escaping @Sendable () -> Int64) {
    self.engine = engine
    self.table = table
    self.now = now
  }

  private func beginOperation() async {
    if isBusy { return await withCheckedContinuation { waiters.append($0) } }
    isBusy = true
  }

  private func endOperation() {
    if waiters.isEmpty { isBusy = false } else { waiters.removeFirst().resume() }
  }

  /// Adopts the table of the cluster. If this server was started with a later version, that becomes
  /// the table of the cluster.
  func begin() async throws {
    await beginOperation()
    defer { endOperation() }
    guard let (document, revision) = try await read() else { return try await write() }
    let theirs = document["table"]?["version"]?.string ?? ""
    let own = await table.stamp
    if TableVersion(theirs) < TableVersion(own.version) {
      self.revision = revision
      try await write()
    } else {
      try await adopt(document, revision, replacing: own)
    }
  }

  /// Shares the table of this server, which has changed. If another server was faster, this server
  /// adopts its table instead. Returns whether the table with this stamp was shared, or a later one
  /// of this server; fails if it cannot be shared.
  func share(_ stamp: TableStamp) async throws(CallError) -> Bool {
    await beginOperation()
    defer { endOperation() }
    do {
      try await write()
      return await table.contains(stamp)
    } catch {
      throw CallError(
        .unavailable, "The table is in force on this server only; it cannot be shared: \(error)")
    }
  }

  /// Adopts the table if another server has a later revision. Shares the table of this server first
  /// if that has failed before.
  func update(to later: UInt64) async throws(CallError) {
    await beginOperation()
    defer { endOperation() }
    // The revisions of others mean nothing before `begin`.
    guard let sharedStamp else { return }
    do {
      let own = await table.stamp
      if own != sharedStamp { return try await write() }
      guard later > revision, let (document, revision) = try await read() else { return }
      try await adopt(document, revision, replacing: own)
    } catch let error as TableError {
      throw CallError(.conflict, "The table of the cluster does not fit this server: \(error)")
    } catch {
      throw CallError(.unavailable, "The table of the cluster cannot be read: \(error)")
    }
  }

  private func read() async throws -> (document: Value, revision: UInt64)? {
    guard let (bytes, revision) = try await engine.document(Self.name) else { return nil }
    return (try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxStoredDepth), revision)
  }

  /// Writes the table of this server after the known revision, or adopts a later one.
  private func write() async throws {
    while true {
      let stamp = await table.stamp
      if stamp == sharedStamp { return }
      let bytes = try await table.sharedState(maxBytes: engine.maxMessage / 2)
      if let next = try await engine.put(bytes, as: Self.name, after: revision) {
        revision = next
        sharedStamp = stamp
      } else if let (document, revision) = try await read() {
        try await adopt(document, revision, replacing: stamp)
      } else if revision > 0 {
        revision = 0
      } else {
        throw CallError(.unavailable, "The table is neither stored nor can it be stored")
      }
    }
  }

  /// Adopts a document, unless this server has changed its table meanwhile.
  private func adopt(
    _ document: Value, _ revision: UInt64, replacing own: TableStamp
  ) async throws {
    guard let stamp = try await table.adopt(document, replacing: own, at: now()) else { return }
    self.revision = revision
    sharedStamp = stamp
  }
}
