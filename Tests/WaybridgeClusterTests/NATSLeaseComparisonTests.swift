import Testing
import WaySession

@testable import WaybridgeCluster

struct NATSLeaseComparisonTests {
  private var comparison = NATSLeaseComparison()

  private static func lease(
    _ server: String, _ secrets: [String] = ["a"], joined: UInt64?,
    _ authentication: ClusterAnnouncement.ClientAuthentication = .none
  ) -> NATSLeaseValue {
    NATSLeaseValue(
      server: server, announcement: ClusterAnnouncement(authentication: authentication, host: "m"),
      secrets: secrets, joined: joined)
  }

  /// The conflict of the server "own" with servers that have joined, and renewed their keys.
  private mutating func conflict(
    secrets: [String] = ["a"], joined: UInt64? = 5, with others: NATSLeaseValue...
  ) -> ClusterConflict? {
    let own = Self.lease("own", secrets, joined: joined)
    var found: ClusterConflict?
    for revision: UInt64 in [10, 11] {
      found = comparison.update(
        own,
        with: (others + [own]).map { (revision, $0.bytes(lifetime: .seconds(4))) } + [(9, [])])
    }
    return found
  }

  @Test mutating func settingsOfTheFirstServerCount() {
    let alone = conflict()
    #expect(alone == nil)
    let equal = conflict(with: Self.lease("b", joined: 2), Self.lease("c", joined: 6))
    #expect(equal == nil)
    let later = conflict(with: Self.lease("b", ["b"], joined: 6))
    #expect(later == nil)
    let secrets = conflict(with: Self.lease("b", ["b"], joined: 2), Self.lease("c", joined: 6))
    #expect(
      secrets?.reason
        == "the server b on m has the cluster secret b, but this one has the cluster secret a")
    let tokens = conflict(with: Self.lease("b", joined: 2, .required))
    #expect(tokens?.reason.contains("requires tokens of clients") == true)
  }

  /// A server with other settings stops none of those that agree with the first one.
  @Test mutating func serverThatDiffersFromTheFirstStopsNoOther() {
    let found = conflict(with: Self.lease("b", ["b"], joined: 2), Self.lease("c", joined: 1))
    #expect(found == nil)
  }

  /// While a secret is replaced, two servers can differ that both agree with the first one. The later
  /// one of them stops.
  @Test mutating func laterServerStopsIfBothAgreeWithTheFirst() {
    let first = Self.lease("c", ["a", "b"], joined: 1)
    let found = conflict(secrets: ["b", "a"], with: first, Self.lease("b", ["a"], joined: 2))
    #expect(found?.reason.contains("the server b") == true)
    let earlier = conflict(
      secrets: ["b", "a"], joined: 2, with: first, Self.lease("b", ["a"], joined: 5))
    #expect(earlier == nil)
  }

  /// The key of a server that is down stays for a while.
  @Test mutating func serverThatDoesNotRenewDoesNotCount() {
    let own = Self.lease("own", joined: 5)
    let bytes = Self.lease("b", ["b"], joined: 2).bytes(lifetime: .seconds(4))
    for (revision, isConflict) in [(7, false), (7, false), (6, false), (8, true)] {
      let found = comparison.update(own, with: [(UInt64(revision), bytes)])
      #expect((found != nil) == isConflict)
    }
  }

  @Test mutating func serversWithoutAPlaceAreNoConflict() {
    let other = conflict(with: Self.lease("b", ["b"], joined: nil))
    #expect(other == nil)
    let own = conflict(joined: nil, with: Self.lease("b", ["b"], joined: 2))
    #expect(own == nil)
  }
}
