import Testing

@testable import WaySession

struct EventThrottleTests {
  private typealias Throttle = EventThrottle<String>

  /// The keys and counts of a decision, in order of the keys.
  private func counts(_ decision: Throttle.ThrottleDecision) -> [String] {
    decision.suppressedCounts.map { "\($0.key ?? "others") \($0.count)" }.sorted()
  }

  @Test func tenEventsOfAKeyPassInASecondAndTheOthersAreCounted() {
    var throttle = Throttle()
    for _ in 0..<10 { #expect(throttle.decide("a", at: 5_000).passes) }
    for _ in 0..<3 { #expect(!throttle.decide("a", at: 5_900).passes) }
    let next = throttle.decide("a", at: 6_000)
    #expect(next.passes)
    #expect(counts(next) == ["a 3"])
    #expect(counts(throttle.decide("a", at: 6_000)) == [])
  }

  @Test func aNoisyKeyDoesNotSuppressOthers() {
    var throttle = Throttle()
    for _ in 0..<100 { _ = throttle.decide("noisy", at: 0) }
    #expect(throttle.decide("quiet", at: 0).passes)
    #expect(!throttle.decide("noisy", at: 0).passes)
  }

  @Test func theCountOfAKeyIsReportedWithTheNextEventOfAnyKey() {
    var throttle = Throttle()
    for _ in 0..<12 { _ = throttle.decide("a", at: 1_000) }
    for _ in 0..<11 { _ = throttle.decide("b", at: 1_500) }
    #expect(counts(throttle.decide("c", at: 2_000)) == ["a 2"])
    #expect(counts(throttle.decide("c", at: 3_000)) == ["b 1"])
    #expect(counts(throttle.decide("c", at: 4_000)) == [])
  }

  @Test func keysBeyondTheMaximumCountAsOne() {
    var throttle = Throttle()
    for number in 0..<Throttle.maxKeys { #expect(throttle.decide("\(number)", at: 0).passes) }
    let passed = (0..<1_000).filter { throttle.decide("other \($0)", at: 0).passes }
    #expect(passed.count == Throttle.maxPerSecond)
    #expect(throttle.decide("0", at: 0).passes)
    #expect(counts(throttle.decide("new", at: 1_000)) == ["others 990"])
  }

  @Test func aClockThatIsSetBackSuppressesNothing() {
    var throttle = Throttle()
    for _ in 0..<10 { _ = throttle.decide("a", at: 90_000) }
    #expect(throttle.decide("a", at: 1_000).passes)
  }
}
