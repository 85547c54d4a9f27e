import Testing

@testable import WaySession

struct EventThrottleTests {
  private typealias Throttle = EventThrottle<String, String>

  private static let maxKeys = 8

  /// The keys, kinds and counts, in order of the keys.
  private func texts(_ counts: [Throttle.SuppressedCount]) -> [String] {
    counts.map { "\($0.key ?? "others") \($0.kind ?? "others") \($0.count)" }.sorted()
  }

  private func counts(_ decision: Throttle.ThrottleDecision) -> [String] {
    texts(decision.suppressedCounts)
  }

  @Test func tenEventsOfAKindPassInASecondAndTheOthersAreCounted() {
    var throttle = Throttle(ThrottleLimits())
    for _ in 0..<10 { #expect(throttle.decide("a", "x", at: 5_000).passes) }
    for _ in 0..<3 { #expect(!throttle.decide("a", "x", at: 5_900).passes) }
    let next = throttle.decide("a", "x", at: 6_000)
    #expect(next.passes)
    #expect(counts(next) == ["a x 3"])
    #expect(counts(throttle.decide("a", "x", at: 6_000)) == [])
  }

  @Test func aNoisyKeyOrKindDoesNotSuppressOthers() {
    var throttle = Throttle(ThrottleLimits())
    for _ in 0..<100 { _ = throttle.decide("noisy", "x", at: 0) }
    #expect(throttle.decide("quiet", "x", at: 0).passes)
    #expect(throttle.decide("noisy", "y", at: 0).passes)
    #expect(!throttle.decide("noisy", "x", at: 0).passes)
  }

  @Test func theCountOfAKeyIsReportedWithTheNextEventOfAnyKey() {
    var throttle = Throttle(ThrottleLimits())
    for _ in 0..<12 { _ = throttle.decide("a", "x", at: 1_000) }
    for _ in 0..<11 { _ = throttle.decide("b", "x", at: 1_500) }
    #expect(counts(throttle.decide("c", "x", at: 2_000)) == ["a x 2"])
    #expect(counts(throttle.decide("c", "x", at: 3_000)) == ["b x 1"])
    #expect(counts(throttle.decide("c", "x", at: 4_000)) == [])
  }

  @Test func theCountsOfEndedSecondsAreReportedWithoutAnEvent() {
    var throttle = Throttle(ThrottleLimits())
    #expect(throttle.nextReport == nil)
    for _ in 0..<12 { _ = throttle.decide("a", "x", at: 1_000) }
    for _ in 0..<11 { _ = throttle.decide("b", "x", at: 1_500) }
    #expect(throttle.nextReport == 2_000)
    #expect(texts(throttle.removeEnded(at: 1_999)) == [])
    #expect(texts(throttle.removeEnded(at: 2_000)) == ["a x 2"])
    #expect(throttle.nextReport == 2_500)
    #expect(texts(throttle.removeAll()) == ["b x 1"])
    #expect(throttle.nextReport == nil)
    #expect(texts(throttle.removeAll()) == [])
  }

  @Test func theLimitOfAKeyCountsAllItsKindsAndSummarizesTheOthers() {
    var throttle = Throttle(ThrottleLimits(maxPerKey: 12)) { String($0.prefix(1)) }
    for _ in 0..<11 { _ = throttle.decide("a", "x", at: 0) }
    #expect(throttle.decide("a", "y1", at: 0).passes)
    #expect(throttle.decide("a", "y2", at: 0).passes)
    let passed = (0..<1_000).filter { throttle.decide("a", "z\($0)", at: 0).passes }
    #expect(passed == [])
    #expect(!throttle.decide("a", "y1", at: 0).passes)
    #expect(throttle.decide("b", "x", at: 0).passes)
    #expect(texts(throttle.removeAll()) == ["a x 1", "a y 1", "a z 1000"])
  }

  /// Each key has its first event, whatever the others do.
  @Test func theLimitOfAllKeysHidesNoKey() {
    var throttle = Throttle(ThrottleLimits(maxPerKey: 5, maxTotal: 8, maxKeys: Self.maxKeys))
    for number in 0..<Self.maxKeys {
      let passed = (0..<9).filter { throttle.decide("\(number)", "\($0)", at: 0).passes }
      #expect(passed.count == (number == 0 ? 5 : number == 1 ? 3 : 1))
    }
    let passed = (0..<9).filter { throttle.decide("other \($0)", "x", at: 0).passes }
    #expect(passed == [0])
    #expect(
      texts(throttle.removeEnded(at: 1_000))
        == ["0 others 4", "1 others 6"] + (2..<Self.maxKeys).map { "\($0) others 8" }
        + ["others others 8"])
    let next = (0..<9).filter { throttle.decide("a", "\($0)", at: 1_000).passes }
    #expect(next.count == 5)
  }

  @Test func keysBeyondTheMaximumAreSummarized() {
    var throttle = Throttle(ThrottleLimits(maxKeys: 1)) { String($0.prefix(1)) }
    _ = throttle.decide("a", "x1", at: 0)
    for number in 0..<12 { _ = throttle.decide("b", "x\(number)", at: 0) }
    #expect(throttle.decide("c", "y1", at: 0).passes)
    #expect(texts(throttle.removeAll()) == ["others x 2"])
  }

  @Test func keysBeyondTheMaximumCountAsOne() {
    var throttle = Throttle(ThrottleLimits(maxKeys: Self.maxKeys))
    for number in 0..<Self.maxKeys { #expect(throttle.decide("\(number)", "x", at: 0).passes) }
    let passed = (0..<1_000).filter { throttle.decide("other \($0)", "\($0)", at: 0).passes }
    #expect(passed.count == ThrottleLimits().maxPerKind)
    #expect(throttle.decide("0", "x", at: 0).passes)
    #expect(counts(throttle.decide("new", "x", at: 1_000)) == ["others others 990"])
  }

  /// A flood of any shape causes at most so many events and counts a second.
  @Test(arguments: [1, 20, 300, 5_000], [1, 20, 5_000])
  func eventsAndCountsAreBounded(keys: Int, kinds: Int) {
    let limits = ThrottleLimits(maxKeys: Self.maxKeys)
    var throttle = Throttle(limits)
    var passedCount = 0
    for number in 0..<20_000 {
      let decision = throttle.decide("\(number % keys)", "\(number % kinds)", at: 0)
      if decision.passes { passedCount += 1 }
    }
    let counts = throttle.removeAll()
    #expect(passedCount <= limits.maxTotal + limits.maxKeys + 1)
    #expect(passedCount <= limits.maxPerKey * min(keys, Self.maxKeys + 1))
    // A count for each kind that has used up its limit, and one for the others.
    #expect(counts.count <= (limits.maxPerKey / limits.maxPerKind + 1) * (Self.maxKeys + 1))
    #expect(passedCount + counts.reduce(0) { $0 + $1.count } == 20_000)
  }

  @Test func aClockThatIsSetBackSuppressesNothing() {
    var throttle = Throttle(ThrottleLimits())
    for _ in 0..<10 { _ = throttle.decide("a", "x", at: 90_000) }
    #expect(throttle.decide("a", "x", at: 1_000).passes)
  }
}
