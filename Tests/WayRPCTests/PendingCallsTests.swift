import Testing
import WayRPC
import WayValues

@Suite struct PendingCallsTests {
  private final class Waiter {
    let name: String

    init(_ name: String) { self.name = name }
  }

  @Test func idsAreCountedFromOneAndNeverUsedTwice() throws {
    var pending = PendingCalls<Waiter>()
    #expect(try pending.add(Waiter("a")) == .integer(1))
    #expect(try pending.add(Waiter("b")) == .integer(2))
    #expect(pending.take(.integer(1))?.name == "a")
    #expect(try pending.add(Waiter("c")) == .integer(3))
    #expect(pending[.integer(3)]?.name == "c")
    #expect(pending.drain().map(\.name) == ["b", "c"])
    #expect(try pending.add(Waiter("d")) == .integer(4))
  }

  @Test func eachCallIsTakenOnce() throws {
    var pending = PendingCalls<Waiter>()
    _ = try pending.add(Waiter("a"))
    for id in [.null, .integer(0), .integer(2), .string("1"), .number("1.0")] as [RequestID] {
      #expect(pending.take(id) == nil)
      #expect(pending[id] == nil)
    }
    #expect(pending.take(.integer(1))?.name == "a")
    #expect(pending.take(.integer(1)) == nil)
    #expect(pending.drain().isEmpty)
  }

  @Test func noMoreThanTheLimitAreMade() throws {
    var pending = PendingCalls<Waiter>(limit: 2)
    _ = try pending.add(Waiter("1"))
    _ = try pending.add(Waiter("2"))
    let error = #expect(throws: CallError.self) { try pending.add(Waiter("3")) }
    #expect(error?.protocolCode == .tooMany)
    #expect(error?.data?["limit"] == 2)
    #expect(pending.count == 2)
    _ = pending.take(.integer(1))
    #expect(try pending.add(Waiter("3")) == .integer(3))
  }
}

@Suite struct CallsInFlightTests {
  @Test func anIDInFlightIsAConflictUntilItsAnswer() throws {
    var calls = CallsInFlight()
    try calls.begin(.string("x"), 1)
    let error = #expect(throws: CallError.self) { try calls.begin(.string("x"), 2) }
    #expect(error?.protocolCode == .conflict)
    #expect(error?.data?["kind"] == "duplicateID")
    #expect(throws: CallError.self) { try calls.check(.string("x")) }
    #expect(calls[.string("x")] == 1)
    #expect(calls.end(.string("x")) == 1)
    #expect(calls.end(.string("x")) == nil)
    try calls.begin(.string("x"), 3)
    #expect(calls[.string("x")] == 3)
  }

  @Test func idsOfOtherTypeOrDigitsAreOtherCalls() throws {
    var calls = CallsInFlight()
    for (call, id) in RequestIDTests.different.enumerated() { try calls.begin(id, call) }
    for (call, id) in RequestIDTests.different.enumerated() { #expect(calls[id] == call) }
    #expect(calls.drain() == Array(0..<RequestIDTests.different.count))
    #expect(calls.count == 0)
  }

  @Test func noMoreThanTheLimitAreInFlight() throws {
    var calls = CallsInFlight()
    for id in 1...256 as ClosedRange<Int64> { try calls.begin(.integer(id), Int(id)) }
    let error = #expect(throws: CallError.self) { try calls.begin(.integer(257), 257) }
    #expect(error?.protocolCode == .tooMany)
    #expect(error?.data?["limit"] == 256)
    #expect(calls.end(.integer(9)) == 9)
    try calls.begin(.integer(257), 257)
    #expect(calls.count == 256)
  }
}
