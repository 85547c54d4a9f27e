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
