import Testing

@testable import WaySockets

struct TurnQueueTests {
  /// Returns how much work runs in each turn, if each takes `time` nanoseconds.
  private func counts(of count: Int, each time: UInt64) -> [Int] {
    var queue = TurnQueue()
    for _ in 0..<count { queue.append {} }
    var counts: [Int] = []
    while !queue.isEmpty {
      queue.beginTurn()
      var inTurn = 0
      while queue.next() != nil {
        inTurn += 1
        queue.charge(time)
      }
      counts.append(inTurn)
    }
    return counts
  }

  @Test(
    arguments: [
      (5, 0, [5]), (5, TurnQueue.share, [1, 1, 1, 1, 1]), (5, TurnQueue.share / 2, [2, 2, 1]),
      (3, TurnQueue.share * 9, [1, 1, 1]), (0, 1, []),
    ] as [(Int, UInt64, [Int])])
  func eachTurnRunsWhatFitsIntoItsShare(count: Int, time: UInt64, expected: [Int]) {
    #expect(counts(of: count, each: time) == expected)
  }

  @Test func workRunsNowOnlyIfNothingWaitsAndTimeIsLeft() {
    var queue = TurnQueue()
    #expect(queue.hasTime)
    queue.charge(TurnQueue.share)
    #expect(!queue.hasTime)
    queue.beginTurn()
    #expect(queue.hasTime)
    queue.append {}
    #expect(!queue.hasTime)
    #expect(queue.removeAll().count == 1)
    #expect(queue.isEmpty && queue.hasTime)
  }
}
