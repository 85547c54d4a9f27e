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
    var throttle = Throttle()
    for _ in 0..<10 { #expect(throttle.decide("a", "x", at: 5_000).passes) }
    for _ in 0..<3 { #expect(!throttle.decide("a", "x", at: 5_900).passes) }
    let next = throttle.decide("a", "x", at: 6_000)
    #expect(next.passes)
    #expect(counts(next) == ["a x 3"])
    #expect(counts(throttle.decide("a", "x", at: 6_000)) == [])
  }

  @Test func aNoisyKeyOrKindDoesNotSuppressOthers() {
    var throttle = Throttle()
    for _ in 0..<100 { _ = throttle.decide("noisy", "x", at: 0) }
    #expect(throttle.decide("quiet", "x", at: 0).passes)
    #expect(throttle.decide("noisy", "y", at: 0).passes)
    #expect(!throttle.decide("noisy", "x", at: 0).passes)
  }

  @Test func theCountOfAKeyIsReportedWithTheNextEventOfAnyKey() {
    var throttle = Throttle()
    for _ in 0..<12 { _ = throttle.decide("a", "x", at: 1_000) }
    for _ in 0..<11 { _ = throttle.decide("b", "x", at: 1_500) }
    #expect(counts(throttle.decide("c", "x", at: 2_000)) == ["a x 2"])
    #expect(counts(throttle.decide("c", "x", at: 3_000)) == ["b x 1"])
    #expect(counts(throttle.decide("c", "x", at: 4_000)) == [])
  }

  @Test func theCountsOfEndedSecondsAreReportedWithoutAnEvent() {
    var throttle = Throttle()
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

  @Test func kindsBeyondTheMaximumAreSummarized() {
    var throttle = Throttle(maxKeys: 2) { String($0.prefix(1)) }
    for number in 0..<Throttle.maxKinds + 40 { _ = throttle.decide("a", "x\(number)", at: 0) }
    #expect(!throttle.decide("a", "x", at: 0).passes)
    #expect(throttle.decide("a", "y1", at: 0).passes)
    _ = throttle.decide("b", "x1", at: 0)
    for _ in 0..<12 { _ = throttle.decide("c", "x1", at: 0) }
    #expect(throttle.decide("d", "y1", at: 0).passes)
    #expect(texts(throttle.removeAll()) == ["a x 31", "others x 2"])
  }

  @Test func keysBeyondTheMaximumCountAsOne() {
    var throttle = Throttle(maxKeys: Self.maxKeys)
    for number in 0..<Self.maxKeys { #expect(throttle.decide("\(number)", "x", at: 0).passes) }
    let passed = (0..<1_000).filter { throttle.decide("other \($0)", "\($0)", at: 0).passes }
    #expect(passed.count == Throttle.maxPerSecond)
    #expect(throttle.decide("0", "x", at: 0).passes)
    #expect(counts(throttle.decide("new", "x", at: 1_000)) == ["others others 990"])
  }

  @Test func kindsBeyondTheMaximumCountAsOneAndLeaveRoomForOtherKeys() {
    var throttle = Throttle(maxKeys: Self.maxKeys)
    for number in 0..<Throttle.maxKinds { #expect(throttle.decide("a", "\(number)", at: 0).passes) }
    let passed = (0..<1_000).filter { throttle.decide("a", "other \($0)", at: 0).passes }
    #expect(passed.count == Throttle.maxPerSecond)
    #expect(throttle.decide("a", "0", at: 0).passes)
    #expect(throttle.decide("b", "x", at: 0).passes)
    #expect(counts(throttle.decide("b", "x", at: 1_000)) == ["a others 990"])
  }

  @Test func aClockThatIsSetBackSuppressesNothing() {
    var throttle = Throttle()
    for _ in 0..<10 { _ = throttle.decide("a", "x", at: 90_000) }
    #expect(throttle.decide("a", "x", at: 1_000).passes)
  }
}
