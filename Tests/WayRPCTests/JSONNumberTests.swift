import Testing
import WayRPC
import WayValues

@Suite struct JSONNumberTests {
  static let nonInt64Numbers = [
    "1.0", "1e2", "1E2", "1E+2", "-0", "-0.0", "0.0", "0e0", "0E-5", "0.1e-7", "1.50", "100.00",
    "9223372036854775808", "-9223372036854775809", "12345678901234567890", "18446744073709551615",
    "18446744073709551616", "-18446744073709551616", "123456789012345678901234567890", "1e400",
    "-1e400", "1e-400", "1.7976931348623159e308", "5e-325", "0.1000000000000000055511151231257827",
    "1e0000000000000000000000000001", "3.141592653589793238462643383279502884197",
    "1\(String(repeating: "0", count: 1000))", "1e99999999999999999999",
    "0.\(String(repeating: "3", count: 1000))", "-1\(String(repeating: "9", count: 40)).5E-3",
  ]

  @Test(arguments: nonInt64Numbers)
  func keepsDigitsOfNonInt64Numbers(digits: String) throws {
    let number = Value.number(Number(validated: digits))
    #expect(try JSON.parse(digits) == number)
    #expect(try JSON.parse(" \(digits) ") == number)
    #expect(try JSON.parse("[\(digits)]") == [number])
    #expect(try JSON.parse("{\"a\":\(digits)}") == ["a": number])
    var writer = JSONWriter()
    try writer.write(number)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == digits)
  }

  @Test(arguments: [
    "0", "1", "-1", "999999999999999999", "9223372036854775807", "-9223372036854775808",
  ])
  func parsesInt64InAnyPosition(digits: String) throws {
    let integer = Value.integer(try #require(Int64(digits)))
    #expect(try JSON.parse(digits) == integer)
    // If the parser cannot represent one number, all numbers are read from the source.
    #expect(try JSON.parse("[1e999,\(digits)]") == [.number(Number(validated: "1e999")), integer])
  }

  @Test func assignsDigitsToMatchingNumbers() throws {
    let text =
      "{\"1.5\":[0,-0,\"-7 1e5\"],\"b\":[1.0,{\"c\":2,\"d\":18446744073709551615}],\"e\":[],\"f\":-0.10,\"g\":0}"
    let expected: Value = [
      "1.5": [0, digits("-0"), "-7 1e5"],
      "b": [digits("1.0"), ["c": 2, "d": digits("18446744073709551615")]], "e": [],
      "f": digits("-0.10"), "g": 0,
    ]
    #expect(try JSON.parse(text) == expected)
    let wide = text.replacing("-0.10", with: "-0.10e-99999")
    #expect(try JSON.parse(wide)["f"] == digits("-0.10e-99999"))
    #expect(try JSON.parse(wide)["b"] == expected["b"])
  }

  @Test func distinguishesZerosFromNumericStrings() throws {
    #expect(
      try JSON.parse("[\"-0\",0,\"[-1\",-0,0.0]") == ["-0", 0, "[-1", digits("-0"), digits("0.0")])
  }

  private func digits(_ text: String) -> Value { .number(Number(validated: text)) }
}
