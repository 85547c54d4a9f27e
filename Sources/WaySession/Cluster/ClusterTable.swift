import WayNavigation
import WayRPC
import WayTable
import WayValues

/// The one route table of all servers, and those that can be gone back to, as a document that they
/// share: who has changed it writes it after the revision that it knew, and the others take it from
/// there.
actor ClusterTable {
  private static let name = "table"

  private let engine: any ClusterEngine
  private let table: LiveTable
  private let now: @Sendable () -> Int64
  /// That of the document that was shared or taken last; 0 for none.
  private(set) var revision: UInt64 = 0
  private var shared: TableStamp?

  init(_ engine: any ClusterEngine, _ table: LiveTable, now: @escaping @Sendable () -> Int64) {
    self.engine = engine
    self.table = table
    self.now = now
  }

  /// Takes the table of the cluster, unless this server was started with a later one, which is the
  /// cluster's then.
  func begin() async throws {
    guard let (document, revision) = try await read() else {
      _ = try await share()
      return
    }
    let theirs = document["table"]?["version"]?.string ?? ""
    let own = await table.stamp.version
    if TableVersion(theirs) < TableVersion(own) {
      self.revision = revision
      _ = try await share()
    } else {
      try await take(document, revision)
    }
  }

  private func read() async throws -> (document: Value, revision: UInt64)? {
    guard let (bytes, revision) = try await engine.document(Self.name) else { return nil }
    return (try JSON.parse(bytes.span.bytes, maxDepth: JSON.maxKeptDepth), revision)
  }

  private func take(_ document: Value, _ revision: UInt64) async throws {
    _ = try await table.adopt(document, at: now())
    self.revision = revision
    shared = await table.stamp
  }

  /// The table here has changed: it is the cluster's from now on, unless another was faster, which is
  /// then this server's too. Says whether it is; fails with why it cannot be shared.
  func share() async throws(CallError) -> Bool {
    // What is heard meanwhile is later: it must not be written over.
    let known = revision
    do {
      let stamp = await table.stamp
      if stamp == shared { return true }
      let bytes = try await table.shared(maxBytes: engine.maxMessage / 2)
      if let next = try await engine.put(bytes, as: Self.name, after: known) {
        revision = next
        shared = stamp
        return true
      }
      guard let (document, revision) = try await read() else { return false }
      try await take(document, revision)
      return stamp == shared
    } catch {
      throw CallError(
        .unavailable, "The table is in force on this server alone: it cannot be shared: \(error)")
    }
  }

  /// Another server has a later revision.
  func heard(of later: UInt64) async throws(CallError) {
    guard later > revision else { return }
    do {
      guard let (document, revision) = try await read() else { return }
      try await take(document, revision)
    } catch let error as TableError {
      throw CallError(.conflict, "The table of the cluster does not fit this server: \(error)")
    } catch {
      throw CallError(.unavailable, "The table of the cluster cannot be read: \(error)")
    }
  }
}
