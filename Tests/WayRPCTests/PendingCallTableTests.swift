import Testing
import WayRPC
import WayValues

@Suite struct PendingCallTableTests {
  @Test func rejectsDuplicateIDUntilCallEnds() throws {
    var calls = PendingCallTable()
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

  @Test func distinguishesIDsByTypeAndDigits() throws {
    var calls = PendingCallTable()
    for (call, id) in RequestIDTests.distinctIDs.enumerated() { try calls.begin(id, call) }
    for (call, id) in RequestIDTests.distinctIDs.enumerated() { #expect(calls[id] == call) }
    #expect(calls.drain() == Array(0..<RequestIDTests.distinctIDs.count))
    #expect(calls.count == 0)
  }

  @Test func rejectsCallsOverLimit() throws {
    var calls = PendingCallTable()
    for id in 1...256 as ClosedRange<Int64> { try calls.begin(.integer(id), Int(id)) }
    let error = #expect(throws: CallError.self) { try calls.begin(.integer(257), 257) }
    #expect(error?.protocolCode == .tooMany)
    #expect(error?.data?["limit"] == 256)
    #expect(calls.end(.integer(9)) == 9)
    try calls.begin(.integer(257), 257)
    #expect(calls.count == 256)
  }

  @Test func uncountedCallsKeepTheirIDs() throws {
    var calls = PendingCallTable(limit: 2)
    for id in 1...5 as ClosedRange<Int64> {
      try calls.begin(.integer(id), Int(id))
      calls.stopCounting()
      #expect(calls.count == 0 && calls.uncountedCount == Int(id) && !calls.isEmpty)
    }
    #expect(throws: CallError.self) { try calls.check(.integer(3)) }
    #expect(throws: CallError.self) { try calls.begin(.integer(3), 9) }
    #expect(calls[.integer(3)] == 3)
    try calls.begin(.string("a"), 6)
    try calls.begin(.string("b"), 7)
    let error = #expect(throws: CallError.self) { try calls.begin(.string("c"), 8) }
    #expect(error?.protocolCode == .tooMany)
    #expect(calls.end(.integer(3), isCounted: false) == 3)
    #expect(calls.end(.integer(3), isCounted: false) == nil)
    #expect(calls.count == 2)
    #expect(calls.end(.string("a")) == 6)
    try calls.begin(.integer(3), 10)
    #expect(calls.count == 2)
    #expect(calls.drain() == [1, 2, 4, 5, 7, 10])
    #expect(calls.count == 0 && calls.isEmpty)
  }
}
