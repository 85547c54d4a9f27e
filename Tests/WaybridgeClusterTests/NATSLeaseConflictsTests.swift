import Testing
import WaySession

@testable import WaybridgeCluster

struct NATSLeaseConflictsTests {
  private static func lease(
    _ server: String, _ secret: String, joined: UInt64? = 3
  ) -> NATSLeaseValue {
    NATSLeaseValue(
      server: server, announcement: ClusterAnnouncement(host: "machine"), secrets: [secret],
      joined: joined)
  }

  /// The entry of the key of the server "other".
  private static func entry(
    _ sequence: UInt64, last: UInt64, isDeletion: Bool = false,
    _ lease: NATSLeaseValue = lease("other", "b")
  ) -> KeyValueBucket.BucketEntry {
    KeyValueBucket.BucketEntry(
      message: NATSConnection.StreamMessage(
        subject: "key", sequence: sequence, previousSequence: nil,
        bytes: lease.bytes(lifetime: .seconds(4)), isDeletion: isDeletion),
      lastSequence: last)
  }

  private static let values: [(revision: UInt64, bytes: [UInt8])] =
    [lease("own", "b"), lease("same", "a"), lease("other", "b")].enumerated().map {
      (UInt64($0) + 5, $1.bytes(lifetime: .seconds(4)))
    } + [(9, [])]

  private var conflicts = NATSLeaseConflicts(of: lease("own", "a", joined: 4), with: values)

  @Test func onlyServersThatDifferAreObserved() {
    #expect(conflicts.servers == ["other"] && conflicts.revisions == ["other": 7])
  }

  @Test func silentServersAreNotObservedAgain() {
    let own = Self.lease("own", "a", joined: 4)
    let again = NATSLeaseConflicts(of: own, with: Self.values, except: conflicts.revisions)
    #expect(again.servers.isEmpty)
    let renewed = NATSLeaseConflicts(of: own, with: Self.values, except: ["other": 6])
    #expect(renewed.servers == ["other"])
  }

  @Test mutating func renewedKeyIsAConflict() {
    let unchanged = conflicts.update("other", Self.entry(7, last: 7))
    #expect(unchanged == nil && conflicts.servers == ["other"])
    let renewed = conflicts.update("other", Self.entry(8, last: 8))
    #expect(
      renewed?.reason.contains("the server other on machine has the cluster secret b") == true)
  }

  /// The server that has joined first continues.
  @Test mutating func onlyServersThatHaveJoinedBeforeAreAConflict() {
    let unknown = conflicts.update(
      "other", Self.entry(8, last: 8, Self.lease("other", "b", joined: nil)))
    #expect(unknown == nil && conflicts.servers == ["other"])
    let later = conflicts.update(
      "other", Self.entry(9, last: 9, Self.lease("other", "b", joined: 5)))
    #expect(later == nil && conflicts.servers.isEmpty)
    // All others have joined before a server without a place.
    conflicts = NATSLeaseConflicts(of: Self.lease("own", "a", joined: nil), with: Self.values)
    let earlier = conflicts.update(
      "other", Self.entry(9, last: 9, Self.lease("other", "b", joined: 5)))
    #expect(earlier != nil)
  }

  @Test mutating func serverWithChangedSettingsIsNoConflict() {
    let conflict = conflicts.update("other", Self.entry(8, last: 8, Self.lease("other", "a")))
    #expect(conflict == nil && conflicts.servers.isEmpty)
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
