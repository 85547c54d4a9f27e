import Synchronization
import TestSupport
import Testing

@testable import Waybridge

@Suite(.timeLimit(.minutes(1)))
struct AwayPushQueueTests {
  private static func push(_ number: Int) -> AwayPush {
    AwayPush(user: "ada", method: "event", target: "news", params: .integer(Int64(number)), at: 0)
  }

  @Test func passesEachPushToTheService() async throws {
    let received = Mailbox<AwayPush>()
    let queue = AwayPushQueue { received.put($0) }
    var expected: Set<AwayPush> = []
    for number in 0..<100 {
      queue.add(Self.push(number))
      expected.insert(Self.push(number))
    }
    while !expected.isEmpty { #expect(expected.remove(try await received.receive()) != nil) }
    #expect(queue.accepted.load(ordering: .relaxed) == 100)
    await queue.stop()
  }

  @Test func dropsPushesOfAServiceThatDoesNotReturn() async throws {
    let (limit, concurrent) = (AwayPushQueue.limit, AwayPushQueue.maxConcurrent)
    let started = Mailbox<Int>()
    let running = Mutex(0)
    let queue = AwayPushQueue { _ in
      started.put(
        running.withLock { running in
          running += 1
          return running
        })
      // Ends when the queue stops.
      try? await Task.sleep(for: .seconds(3600))
      running.withLock { $0 -= 1 }
    }
    for number in 0..<concurrent { queue.add(Self.push(number)) }
    for _ in 0..<concurrent { #expect(try await started.receive() <= concurrent) }
    // One more push is taken out of the queue, and waits for its turn.
    for number in 0..<(limit + 10) { queue.add(Self.push(number)) }
    let dropped = queue.dropped.load(ordering: .relaxed)
    #expect((9...10).contains(dropped))
    #expect(queue.accepted.load(ordering: .relaxed) == concurrent + limit + 10 - dropped)
    await queue.stop()
    #expect(running.withLock { $0 } == 0)
    queue.add(Self.push(0))
    #expect(queue.dropped.load(ordering: .relaxed) == dropped + 1)
  }
}
