import Testing
import WayRPC
import WayValues

@Suite struct RequestIDTests {
  static let distinctIDs: [RequestID] = [
    .null, .integer(1), .integer(-1), .number("1.0"), .number("1e0"), .number("1.00"),
    .number("-0"), .integer(0), .string("1"), .string("1.0"), .string(""), .string("null"),
    .string("\u{E9}"), .string("e\u{301}"), .number("12345678901234567890"), .string("a\0"),
    .string("a"),
  ]

  @Test func idsDifferByTypeAndDigits() {
    #expect(Set(Self.distinctIDs).count == Self.distinctIDs.count)
  }

  @Test(arguments: distinctIDs)
  func roundTripsTypeAndDigits(id: RequestID) throws {
    var writer = MessageWriter()
    try writer.writeRequest(id, "m")
    let message = MessageDecoder().decode(writer.bytes.span.bytes)
    #expect(message == .message(.request(Request(id: id, method: "m"))))
    #expect(RequestID(id.value) == id)
  }

  @Test(arguments: [true, false, [], [1], [:], ["id": 1]] as [Value])
  func rejectsOtherValuesAsIDs(value: Value) {
    #expect(RequestID(value) == nil)
  }
}
