import Testing
import WayRPC
import WayValues

@Suite struct JSONDepthTests {
  @Test(arguments: ["", "1", "{}", "{\"a\":1}"])
  func accepts128LevelsAtMost(inner: String) throws {
    let own = inner.hasPrefix("{") ? 1 : 0
    #expect(throws: Never.self) { try JSON.parse(nested(128 - own, inner)) }
    #expect(throws: JSONError.self) { try JSON.parse(nested(129 - own, inner)) }
    #expect(throws: JSONError.self) { try JSON.parse(nested(130 - own, inner)) }
  }

  @Test func countsObjectsAsLevels() throws {
    let open = String(repeating: "{\"a\":", count: 128)
    let close = String(repeating: "}", count: 128)
    #expect(throws: Never.self) { try JSON.parse(open + "1" + close) }
    #expect(throws: JSONError.self) { try JSON.parse("[" + open + "1" + close + "]") }
  }

  @Test(arguments: [0, 1, 5])
  func respectsLowerLimit(limit: Int) {
    #expect(throws: Never.self) { try JSON.parse(nested(limit, "1"), maxDepth: limit) }
    #expect(throws: JSONError.self) { try JSON.parse(nested(limit + 1, "1"), maxDepth: limit) }
    #expect(throws: JSONError.self) { try JSON.parse(nested(limit + 1, ""), maxDepth: limit) }
  }

  @Test(arguments: ["[", "{\"a\":", "[{\"a\":[", "]", "[[],"])
  func rejectsHundredThousandRepetitions(part: String) {
    #expect(throws: JSONError.self) { try JSON.parse(String(repeating: part, count: 100_000)) }
  }

  @Test func rejectsHundredThousandNestedArrays() {
    #expect(throws: JSONError.self) { try JSON.parse(nested(100_000, "")) }
  }

  @Test func parsesSmallTextAfterLargeText() throws {
    let large = "[" + String(repeating: "1.5,", count: 300_000) + "1e999]"
    let values = try JSON.parse(large).array
    #expect(values?.count == 300_001)
    #expect(values?.last == .number(Number(validated: "1e999")))
    #expect(try JSON.parse("[1]") == [1])
  }

  private func nested(_ levels: Int, _ inner: String) -> String {
    String(repeating: "[", count: levels) + inner + String(repeating: "]", count: levels)
  }
}
