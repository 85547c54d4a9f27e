import Testing
import WayRPC

/// An exhaustive search of all orders of messages, acknowledgements, losses and reconnections
/// between two peers.
struct SequenceModelTests {
  @Test(
    arguments: [([1, 2], [], 2), ([1], [3], 2), ([1], [3], 3), ([1, 2], [], 4)]
      as [([SequenceModel.MessageCode], [SequenceModel.MessageCode], Int)])
  func deliversEachMessageExactlyOnce(
    clientRequests: [SequenceModel.MessageCode], serverRequests: [SequenceModel.MessageCode],
    losses: Int
  ) {
    let start = SequenceModel(
      clientRequests: clientRequests, serverRequests: serverRequests, remainingLosses: losses)
    var visited: Set<SequenceModel> = [start]
    var frontier = [start]
    var ends = 0
    while !frontier.isEmpty {
      var next: [SequenceModel] = []
      for state in frontier {
        let events = state.possibleEvents
        if events.isEmpty {
          ends += 1
          if let violation = state.violationAtEnd {
            Issue.record("\(violation), at the end \(state)")
            return
          }
        }
        for event in events {
          let after = state.applying(event)
          if let violation = after.violation {
            Issue.record("\(violation), by \(event) in \(state)")
            return
          }
          if visited.insert(after).inserted { next.append(after) }
        }
      }
      frontier = next
    }
    print("\(visited.count) states of two peers were visited, \(ends) of them the end")
    #expect(ends > 0)
    #expect(visited.count > 1000)
  }
}
