import Testing
import WayRPC
import WayValues

@Suite struct PendingCallsTests {
  private final class Waiter {
    let name: String

    init(_ name: String) { self.name = name }
  }

  @Test func assignsIncreasingIDsFromOne() throws {
    var pending = PendingCalls<Waiter>()
    #expect(try pending.add(Waiter("a")) == .integer(1))
    #expect(try pending.add(Waiter("b")) == .integer(2))
    #expect(pending.remove(.integer(1))?.name == "a")
    #expect(try pending.add(Waiter("c")) == .integer(3))
    #expect(pending[.integer(3)]?.name == "c")
    #expect(pending.drain().map(\.name) == ["b", "c"])
    #expect(try pending.add(Waiter("d")) == .integer(4))
  }

  @Test func removesEachCallOnce() throws {
    var pending = PendingCalls<Waiter>()
    _ = try pending.add(Waiter("a"))
    for id in [.null, .integer(0), .integer(2), .string("1"), .number("1.0")] as [RequestID] {
      #expect(pending.remove(id) == nil)
      #expect(pending[id] == nil)
    }
    #expect(pending.remove(.integer(1))?.name == "a")
    #expect(pending.remove(.integer(1)) == nil)
    #expect(pending.drain().isEmpty)
  }

  @Test func rejectsCallsOverLimit() throws {
    var pending = PendingCalls<Waiter>(limit: 2)
    _ = try pending.add(Waiter("1"))
    _ = try pending.add(Waiter("2"))
    let error = #expect(throws: CallError.self) { try pending.add(Waiter("3")) }
    #expect(error?.protocolCode == .tooMany)
    #expect(error?.data?["limit"] == 2)
    #expect(pending.count == 2)
    _ = pending.remove(.integer(1))
    #expect(try pending.add(Waiter("3")) == .integer(3))
  }
}
