import Testing

@testable import WaySession

struct SessionRegistryTests {
  private func registry(_ count: Int) -> SessionRegistry<String> {
    var registry = SessionRegistry<String>()
    for number in 0..<count { registry.add("value \(number)", id: "\(number)") }
    return registry
  }

  private func rest(
    _ registry: SessionRegistry<String>, from position: inout SessionRegistry<String>.Position
  ) -> [String] {
    var found: [String] = []
    while let next = registry.next(&position) { found.append(next) }
    return found
  }

  @Test func findsAddedSessionsOnly() {
    var registry = registry(3)
    registry.remove("1")
    registry.remove("none")
    registry.add("new", id: "2")
    #expect(registry.count == 2)
    #expect(["0", "1", "2"].map { registry[$0] } == ["value 0", nil, "new"])
  }

  @Test func visitsInTheOrderOfAddition() {
    var registry = registry(3)
    registry.add("last", id: "0")
    var position = registry.start
    let (all, none) = (rest(registry, from: &position), rest(registry, from: &position))
    #expect(all == ["value 1", "value 2", "last"])
    #expect(none == [])
    var empty = SessionRegistry<String>().start
    let found = rest(SessionRegistry<String>(), from: &empty)
    #expect(found == [])
  }

  @Test func leavesOutSessionsThatAreAddedOrRemovedMeanwhile() {
    var registry = registry(4)
    var position = registry.start
    let first = registry.next(&position)
    #expect(first == "value 0")
    registry.remove("0")
    registry.remove("2")
    registry.add("late", id: "4")
    // One that was replaced is another session.
    registry.add("replaced", id: "3")
    let found = rest(registry, from: &position)
    #expect(found == ["value 1"])
  }

  /// Whatever was removed before it, the first element is found in one step.
  @Test(arguments: 1...20)
  func findsTheFirstElementInOneStep(seed: UInt64) {
    var random = SplitMix(seed)
    var registry = SessionRegistry<Int>()
    var expected: [Int] = []
    for number in 0..<2_000 {
      if Int.random(in: 0..<5, using: &random) < 3 {
        registry.add(number, id: "\(number)")
        expected.append(number)
      } else if !expected.isEmpty {
        // Mostly the oldest ones.
        let index = min(Int.random(in: 0..<expected.count, using: &random), 3)
        registry.remove("\(expected.remove(at: index))")
      }
      var position = registry.start
      let start = position.index
      #expect(registry.next(&position) == expected.first)
      #expect(position.index - start == (expected.isEmpty ? 0 : 1))
    }
    var position = registry.start
    var all: [Int] = []
    while let next = registry.next(&position) { all.append(next) }
    #expect(all == expected)
  }

  @Test(arguments: 1...20)
  func visitsEachRemainingSessionOnceWhateverChanges(seed: UInt64) {
    var random = SplitMix(seed)
    var registry = registry(300)
    var expected = Set((0..<300).map { "value \($0)" })
    var visited: [String] = []
    var position = registry.start
    while let next = registry.next(&position) {
      visited.append(next)
      expected.remove(next)
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        let number = Int.random(in: 0..<300, using: &random)
        registry.remove("\(number)")
        expected.remove("value \(number)")
      }
      registry.add("added", id: "added \(visited.count)")
    }
    #expect(expected.isEmpty)
    #expect(Set(visited).count == visited.count)
    #expect(!visited.contains("added"))
  }
}

/// A generator of random numbers that repeats its sequence for a seed (SplitMix64).
private struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
