import Synchronization
import Testing
import WayRPC
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// Changes of the table that two servers make at the same time.
@Suite(.timeLimit(.minutes(1)))
struct ClusterTableTests {
  private let engine: StubClusterEngine
  private let table: LiveTable
  private let clusterTable: SessionClusterTable
  /// What happens on this server while it reads the next document.
  private let duringRead = Locked<(@Sendable () async -> Void)?>(nil)

  init() async throws {
    table = try LiveTable(RouteTable(parsing: Self.document("1")), for: Router())
    engine = StubClusterEngine { [duringRead] in
      let action = duringRead.withLock { next in
        defer { next = nil }
        return next
      }
      await action?()
    }
    clusterTable = SessionClusterTable(engine, table) { 0 }
    try await clusterTable.begin()
  }

  private static func document(_ version: String) -> Value {
    ["version": .string(version), "routes": []]
  }

  private var storedVersion: String? {
    get throws {
      let bytes = engine.documents.withLock { $0["table"]?.bytes } ?? []
      return try JSON.parse(bytes.span.bytes)["table"]?["version"]?.string
    }
  }

  /// Another server shares a table. While this one reads it, its own table changes.
  @Test(arguments: [1, 2])
  func changeIsEitherSharedOrReportedAsReplaced(shareCount: Int) async throws {
    let theirs = Array(try JSON.text(["table": Self.document("2"), "earlier": []]).utf8)
    engine.documents.withLock { $0["table"] = (theirs, 2) }
    let sharing = Locked<[Task<Bool, any Error>]>([])
    duringRead.withLock {
      $0 = { [table, clusterTable] in
        guard let change = try? await table.replace(with: Self.document("3")) else { return }
        sharing.withLock { tasks in
          for _ in 0..<shareCount {
            tasks.append(Task { try await clusterTable.share(change.stamp) })
          }
        }
      }
    }
    try await clusterTable.update(to: 2)
    let tasks = sharing.withLock { $0 }
    #expect(tasks.count == shareCount)
    for task in tasks { #expect(try await task.value == false) }
    #expect(await table.stamp.version == "2")
    #expect(try storedVersion == "2")
  }

  @Test func changeThatCouldNotBeSharedIsSharedWithNextPresence() async throws {
    engine.isFull.store(true, ordering: .relaxed)
    let change = try await table.replace(with: Self.document("2"))
    await #expect(throws: CallError.self) { try await clusterTable.share(change.stamp) }
    engine.isFull.store(false, ordering: .relaxed)
    try await clusterTable.update(to: 1)
    #expect(try storedVersion == "2")
  }

  @Test func laterChangeOfThisServerSharesTheEarlierOne() async throws {
    let first = try await table.replace(with: Self.document("2"))
    let second = try await table.replace(with: Self.document("3"))
    #expect(try await clusterTable.share(first.stamp))
    #expect(try await clusterTable.share(second.stamp))
    #expect(try storedVersion == "3")
  }
}
