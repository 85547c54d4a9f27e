import Testing

@testable import WaySession

struct SessionWalkPaceTests {
  private static let share = SessionWalkQueue<Int>.share

  /// Runs a step whose visit with a given number takes `time(number)` nanoseconds. Returns how many
  /// visits it makes, how often it reads the clock, and what it counts as.
  private func step(
    limit: UInt64 = share, cost: UInt64 = 0, count: Int = 100_000, _ time: (Int) -> UInt64
  ) -> (visits: Int, readings: Int, used: UInt64) {
    var pace = SessionWalkPace(limit: limit, cost: cost)
    var (elapsed, readings) = (UInt64(0), 0)
    for number in 0..<count {
      elapsed += time(number)
      if pace.countVisit() { continue }
      readings += 1
      if !pace.update(elapsed: elapsed) { return (number + 1, readings, pace.usedTime) }
    }
    return (count, readings, pace.usedTime)
  }

  @Test(arguments: [1_000, 10_000, 40_000] as [UInt64])
  func eachStepUsesItsLimit(time: UInt64) {
    for (cost, time) in [(time, 1), (0, time), (time, time)] {
      let step = step(cost: cost) { _ in time }
      #expect(step.visits == Int(Self.share / max(cost, time)))
      #expect(step.used == Self.share)
    }
  }

  @Test func theClockIsReadSeldom() {
    let step = step(cost: 10_000) { _ in 1_000 }
    #expect(step.visits == 200)
    #expect(step.readings < 25)
  }

  @Test func aSlowFirstVisitIsTheOnlyOne() {
    for limit in [1, Self.share] {
      let step = step(limit: limit) { _ in Self.share }
      #expect(step.visits == 1)
    }
  }

  @Test func onlyAFewSlowVisitsFollowManyFastOnes() {
    let step = step { $0 < 500 ? 1_000 : 1_000_000 }
    #expect(step.visits > 500 && step.visits <= 516)
  }

  @Test func visitsWithoutDurationNeverEndTheStep() {
    #expect(step(count: 1_000) { _ in 0 }.visits == 1_000)
  }
}
