import Testing
import WayTransport

@Suite struct PeerQuotaTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `Each key has its own slots`() throws {
    let quota = PeerQuota<String>(maxSlots: 2)
    var slots = [try quota.acquire("a", at: 0), try quota.acquire("a", at: 0)]
    #expect(throws: PeerQuota<String>.Excess.slots(limit: 2)) { try quota.acquire("a", at: 0) }
    slots.append(try quota.acquire("b", at: 0))
    slots.removeFirst()
    slots.append(try quota.acquire("a", at: 0))
    #expect(quota.refused == (1, 0))
    #expect(slots.count == 3)
  }

  @Test func `Retaken slots count without a check`() throws {
    let quota = PeerQuota<String>(maxSlots: 1)
    let slots = [quota.restore("a"), quota.restore("a")]
    #expect(throws: PeerQuota<String>.Excess.slots(limit: 1)) { try quota.acquire("a", at: 0) }
    #expect(slots.count == 2)
  }

  @Test func `Rate allows a burst, then one in each interval`() throws {
    let quota = PeerQuota<String>(maxSlots: 0, rate: RateLimit(rate: 10, burst: 3))
    for _ in 0..<3 { _ = try quota.acquire("a", at: Self.second) }
    #expect(throws: PeerQuota<String>.Excess.rate(wait: 100_000_000)) {
      try quota.acquire("a", at: Self.second)
    }
    _ = try quota.acquire("b", at: Self.second)
    _ = try quota.acquire("a", at: Self.second + 100_000_000)
    #expect(throws: PeerQuota<String>.Excess.rate(wait: 50_000_000)) {
      try quota.acquire("a", at: Self.second + 150_000_000)
    }
    #expect(quota.refused == (0, 2))
  }

  @Test func `Unlimited quota refuses nothing`() throws {
    let quota = PeerQuota<String>(maxSlots: 0)
    let slots = try (0..<5000).map { _ in try quota.acquire("a", at: 0) }
    #expect(slots.count == 5000)
  }

  @Test func `Keys without slots are forgotten`() throws {
    let quota = PeerQuota<Int>(maxSlots: 1, rate: RateLimit(rate: 10, burst: 1))
    let kept = try quota.acquire(-1, at: 0)
    for key in 0..<10_000 { _ = try quota.acquire(key, at: UInt64(key) * Self.second) }
    #expect(quota.keyCount <= 2048)
    #expect(throws: PeerQuota<Int>.Excess.slots(limit: 1)) {
      try quota.acquire(-1, at: 10_000 * Self.second)
    }
    withExtendedLifetime(kept) {}
  }
}
