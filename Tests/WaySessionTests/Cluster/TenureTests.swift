import Testing
import WayTransport

@testable import WaySession

struct TenureTests {
  private let asleep = Locked<UInt64>(7)
  private let tenure: Tenure

  init() {
    tenure = Tenure { [asleep] in asleep.withLock { $0 } }
  }

  @Test func itIsOverBeforeTheFirstRenewalAndAfterALoss() {
    #expect(tenure.isOver(at: 0))
    tenure.renewed(until: 100, asleep: 7)
    #expect(!tenure.isOver(at: 99))
    #expect(tenure.isOver(at: 100))
    tenure.lost()
    #expect(tenure.isOver(at: 1))
    #expect(tenure.counts == (1, 1))
  }

  @Test func theTimeCountsInWhichTheMachineIsSuspended() {
    tenure.renewed(until: 100, asleep: 7)
    asleep.withLock { $0 = 47 }
    #expect(tenure.ends == 60)
    #expect(tenure.isOver(at: 60))
    asleep.withLock { $0 = 7 + 100 }
    #expect(tenure.isOver(at: 0))
    // It is renewed once the machine is awake.
    tenure.renewed(until: 200, asleep: 107)
    #expect(tenure.ends == 200)
  }

  @Test func clocksThatAreNotReadAtTheSameMomentDoNotEndIt() {
    tenure.renewed(until: 100, asleep: 7)
    asleep.withLock { $0 = 6 }
    #expect(tenure.ends == 100)
  }
}
