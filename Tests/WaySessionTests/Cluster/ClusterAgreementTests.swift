import Testing
import WayValues

@testable import WaySession

struct ClusterAgreementTests {
  private var agreement = ClusterAgreement()
  private static let own: ValueObject = ["policy": "p", "keys": "k"]
  private static let grace = ClusterAgreement.gracePeriod

  private mutating func update(
    _ others: [(server: String, presence: ValueObject)], at now: UInt64
  ) -> [ClusterAgreement.OverdueDifference] {
    agreement.update(Self.own, others, at: now)
  }

  /// The conflict of a server that authenticates no clients, and has joined at a place.
  private static func conflict(
    joinedAt joined: UInt64, renewal: Int64 = 100,
    with others: [(String, Int64, ClusterAnnouncement.ClientAuthentication)]
  ) -> ClusterConflict? {
    ClusterAgreement.conflict(
      of: ClusterAnnouncement(host: "m"), joined: joined,
      with: others.map { server, joined, authentication in
        var presence = ClusterAnnouncement(authentication: authentication, host: "n").members
        presence["joined"] = .integer(joined)
        presence["renewal"] = .integer(renewal)
        return (server, presence)
      })
  }

  @Test func settingsOfTheFirstServerCount() {
    #expect(Self.conflict(joinedAt: 3, with: []) == nil)
    #expect(Self.conflict(joinedAt: 3, with: [("b", 2, .none), ("c", 5, .none)]) == nil)
    let conflict = Self.conflict(joinedAt: 3, with: [("c", 5, .none), ("b", 2, .required)])
    #expect(
      conflict?.reason
        == "the server b on n requires tokens of clients, but this one authenticates "
        + "no clients")
    // The first server never stops.
    #expect(Self.conflict(joinedAt: 1, with: [("b", 2, .required), ("c", 5, .required)]) == nil)
  }

  /// A server with other settings stops none of those that agree with the first one.
  @Test func serverThatDiffersFromTheFirstStopsNoOther() {
    let servers: [(String, Int64, ClusterAnnouncement.ClientAuthentication)] = [
      ("b", 2, .required), ("a", 1, .none),
    ]
    #expect(Self.conflict(joinedAt: 3, with: servers) == nil)
  }

  /// Messages of a server that was cut off may arrive late.
  @Test func serverWithoutARenewalSinceThenDoesNotCount() {
    for (renewal, isConflict) in [(2, false), (3, false), (4, true)] as [(Int64, Bool)] {
      let conflict = Self.conflict(joinedAt: 3, renewal: renewal, with: [("b", 2, .required)])
      #expect((conflict != nil) == isConflict)
    }
  }

  @Test func unknownPlacesAreNoConflict() {
    #expect(Self.conflict(joinedAt: 0, with: [("b", 2, .required)]) == nil)
    #expect(Self.conflict(joinedAt: 3, with: [("b", 0, .required)]) == nil)
    #expect(Self.conflict(joinedAt: 3, with: [("b", -1, .required)]) == nil)
    #expect(
      ClusterAgreement.conflict(
        of: ClusterAnnouncement(), joined: 3, with: [("b", ["joined": 2])]) == nil)
  }

  @Test mutating func sameServersNeverDiffer() {
    let overdue = [0, Self.grace * 2].map { update([("b", Self.own)], at: $0) }
    #expect(overdue == [[], []])
    #expect(agreement.count(of: .policy) == 0 && agreement.count(of: .keys) == 0)
  }

  @Test mutating func differenceIsReportedOnceAfterTheGracePeriod() {
    let others: [(server: String, presence: ValueObject)] = [
      ("b", ["policy": "q", "keys": "k"]), ("c", ["policy": "p"]),
    ]
    let early = [1, Self.grace, Self.grace + 1].map { update(others, at: $0) }
    #expect(early == [[], [], []])
    #expect(agreement.count(of: .policy) == 1 && agreement.count(of: .keys) == 1)
    let late = update(others, at: Self.grace + 2)
    #expect(
      Set(late) == [
        .init(server: "b", subject: .policy), .init(server: "c", subject: .keys),
      ])
    let again = update(others, at: Self.grace * 3)
    #expect(again.isEmpty)
  }

  @Test mutating func updateThatEndsStartsTheTimeAgain() {
    let other: [(server: String, presence: ValueObject)] = [("b", ["policy": "q", "keys": "k"])]
    _ = update(other, at: 0)
    _ = update([("b", Self.own)], at: Self.grace)
    let overdue = update(other, at: Self.grace + 10)
    #expect(overdue.isEmpty && agreement.count(of: .policy) == 1)
    _ = update([], at: Self.grace + 20)
    #expect(agreement.count(of: .policy) == 0)
  }
}
