import Testing

@testable import WaySession

struct SessionWalkQueueTests {
  /// An input of the queue.
  private enum WalkInput {
    case beginStep
    case wait(String)
    case endStep(after: UInt64)
    case beginTurn
  }

  private static let share = SessionWalkQueue<String>.share

  /// Returns what the queue decides for each input: whether a step begins, or whose.
  private func decisions(_ inputs: [WalkInput]) -> [String] {
    var queue = SessionWalkQueue<String>()
    return inputs.map { input in
      switch input {
      case .beginStep: return queue.beginStep() ? "begins" : "waits"
      case .wait(let walk):
        queue.wait(walk)
        return queue.needsTurn ? "turn" : ""
      case .endStep(let time): return queue.endStep(after: time) ?? "-"
      case .beginTurn: return queue.beginTurn() ?? "-"
      }
    }
  }

  @Test func stepsOfOneTurnShareItsTime() {
    let inputs: [WalkInput] = [
      .beginStep, .endStep(after: Self.share / 2), .beginStep, .endStep(after: Self.share),
      .beginStep, .beginTurn, .beginStep,
    ]
    #expect(decisions(inputs) == ["begins", "-", "begins", "-", "waits", "-", "begins"])
  }

  @Test func onlyOneStepRunsAtATime() {
    let inputs: [WalkInput] = [
      .beginStep, .beginStep, .wait("a"), .beginTurn, .endStep(after: 1), .beginStep,
      .endStep(after: 1), .beginStep,
    ]
    #expect(
      decisions(inputs) == ["begins", "waits", "turn", "-", "a", "waits", "-", "begins"])
  }

  @Test func waitingWalksContinueInOrder() {
    let inputs: [WalkInput] = [
      .beginStep, .endStep(after: Self.share), .wait("a"), .wait("b"), .wait("c"),
      // The first one uses the whole share, and waits again.
      .beginTurn, .endStep(after: Self.share), .wait("a"),
      // The next one ends early, so that another one continues in the same turn.
      .beginTurn, .endStep(after: Self.share / 2), .endStep(after: Self.share), .beginTurn,
    ]
    #expect(
      decisions(inputs)
        == ["begins", "-", "turn", "turn", "turn", "a", "-", "turn", "b", "c", "-", "a"])
  }

  @Test func theRemainingTimeIsThatOfTheTurn() {
    var queue = SessionWalkQueue<String>()
    #expect(queue.remainingTime == Self.share)
    #expect(!queue.needsTurn)
    _ = queue.beginStep()
    _ = queue.endStep(after: Self.share / 4)
    #expect(queue.remainingTime == Self.share - Self.share / 4)
    #expect(queue.needsTurn)
    _ = queue.beginTurn()
    #expect(queue.remainingTime == Self.share)
    #expect(!queue.needsTurn)
  }
}
