import Testing
import WayRPC

/// Every order of messages, acknowledgements, losses and reconnections between two peers, one state
/// after the other.
struct SequenceModelTests {
  @Test(
    arguments: [([1, 2], [], 2), ([1], [3], 2), ([1], [3], 3), ([1, 2], [], 4)]
      as [([NumberingModel.Word], [NumberingModel.Word], Int)])
  func nothingIsLostOrDoneTwiceInAnyOrder(
    clientAsks: [NumberingModel.Word], serverAsks: [NumberingModel.Word], losses: Int
  ) {
    let start = NumberingModel(clientAsks: clientAsks, serverAsks: serverAsks, losses: losses)
    var visited: Set<NumberingModel> = [start]
    var frontier = [start]
    var ends = 0
    while !frontier.isEmpty {
      var next: [NumberingModel] = []
      for state in frontier {
        let events = state.events
        if events.isEmpty {
          ends += 1
          if let violation = state.violationAtEnd {
            Issue.record("\(violation), at the end \(state)")
            return
          }
        }
        for event in events {
          let after = state.after(event)
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
