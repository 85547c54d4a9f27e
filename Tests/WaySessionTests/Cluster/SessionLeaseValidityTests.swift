import Testing
import WayTransport

@testable import WaySession

struct SessionLeaseValidityTests {
  private let suspendedTime = Locked<UInt64>(7)
  private let leaseValidity: SessionLeaseValidity

  init() {
    leaseValidity = SessionLeaseValidity { [suspendedTime] in suspendedTime.withLock { $0 } }
  }

  @Test func isInvalidBeforeFirstRenewalAndAfterLoss() {
    #expect(leaseValidity.hasExpired(at: 0))
    leaseValidity.revoke()
    leaseValidity.renew(until: 100, suspended: 7)
    #expect(!leaseValidity.hasExpired(at: 99))
    #expect(leaseValidity.hasExpired(at: 100))
    leaseValidity.revoke()
    leaseValidity.revoke()
    #expect(leaseValidity.hasExpired(at: 1))
    // Only the end of a lease is a loss.
    #expect(leaseValidity.counts == (1, 0, 1))
  }

  @Test func countsSuspendedTime() {
    leaseValidity.renew(until: 100, suspended: 7)
    suspendedTime.withLock { $0 = 47 }
    #expect(leaseValidity.expiresAt == 60)
    #expect(leaseValidity.hasExpired(at: 60))
    suspendedTime.withLock { $0 = 7 + 100 }
    #expect(leaseValidity.hasExpired(at: 0))
    // The lease is renewed once the machine is awake.
    leaseValidity.renew(until: 200, suspended: 107)
    #expect(leaseValidity.expiresAt == 200)
  }

  @Test func validLeaseIsExtended() {
    leaseValidity.renew(until: 100, suspended: 7)
    #expect(!leaseValidity.extend(until: 107, at: 99))
    #expect(leaseValidity.extend(until: 120, at: 99))
    #expect(leaseValidity.expiresAt == 113)
    // The machine was suspended meanwhile.
    suspendedTime.withLock { $0 = 10 }
    #expect(leaseValidity.expiresAt == 110)
    #expect(leaseValidity.extend(until: 130, at: 109))
    #expect(leaseValidity.expiresAt == 120)
    #expect(leaseValidity.counts == (1, 2, 0))
  }

  @Test func endedLeaseIsNotExtended() {
    #expect(!leaseValidity.extend(until: 100, at: 0))
    leaseValidity.renew(until: 100, suspended: 7)
    #expect(!leaseValidity.extend(until: 200, at: 100))
    suspendedTime.withLock { $0 = 40 }
    #expect(!leaseValidity.extend(until: 200, at: 90))
    leaseValidity.revoke()
    #expect(!leaseValidity.extend(until: 200, at: 0))
    #expect(leaseValidity.expiresAt == 0)
  }

  @Test func toleratesClockReadSkew() {
    leaseValidity.renew(until: 100, suspended: 7)
    suspendedTime.withLock { $0 = 6 }
    #expect(leaseValidity.expiresAt == 101)
  }
}
