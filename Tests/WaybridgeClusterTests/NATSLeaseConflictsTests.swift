import Testing
import WaySession

@testable import WaybridgeCluster

struct NATSLeaseConflictsTests {
  private static func lease(_ server: String, _ secrets: String...) -> NATSLeaseValue {
    NATSLeaseValue(
      server: server, announcement: ClusterAnnouncement(host: "machine"), secrets: secrets)
  }

  private static func entry(
    _ sequence: UInt64, last: UInt64, isDeletion: Bool = false
  ) -> KeyValueBucket.BucketEntry {
    KeyValueBucket.BucketEntry(
      message: NATSConnection.StreamMessage(
        subject: "key", sequence: sequence, previousSequence: nil, bytes: [],
        isDeletion: isDeletion),
      lastSequence: last)
  }

  private var conflicts = NATSLeaseConflicts(
    of: lease("own", "a"),
    with: [lease("own", "b"), lease("same", "a"), lease("other", "b")].enumerated().map {
      (UInt64($0) + 5, $1.bytes(lifetime: .seconds(4)))
    } + [(9, [])])

  @Test func onlyServersThatDifferAreObserved() {
    #expect(conflicts.servers == ["other"])
  }

  @Test mutating func renewedKeyIsAConflict() {
    let unchanged = conflicts.update("other", Self.entry(7, last: 7))
    #expect(unchanged == nil && conflicts.servers == ["other"])
    let renewed = conflicts.update("other", Self.entry(8, last: 8))
    #expect(
      renewed?.reason.contains("the server other on machine has the cluster secret b") == true)
  }

  /// With replicas, the last message of a key need not be the effective one.
  @Test mutating func unchangedKeyWithAnIneffectiveMessageIsNoConflict() {
    let unchanged = conflicts.update("other", Self.entry(3, last: 7))
    #expect(unchanged == nil)
    let renewed = conflicts.update("other", Self.entry(3, last: 8))
    #expect(renewed != nil)
  }

  @Test(arguments: [nil, entry(8, last: 8, isDeletion: true)])
  mutating func keyOfAServerThatHasLeftIsNoConflict(_ entry: KeyValueBucket.BucketEntry?) {
    let conflict = conflicts.update("other", entry)
    #expect(conflict == nil && conflicts.servers.isEmpty)
  }
}
