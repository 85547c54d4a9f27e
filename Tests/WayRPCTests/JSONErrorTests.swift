import Testing
import WayRPC

@Suite struct JSONErrorTests {
  @Test(arguments: [
    ("", "there is nothing but space"),
    ("  ", "there is nothing but space"),
    ("[1,]", "byte 3: `]` where a value is expected"),
    ("{\"a\":1,}", "byte 7: `}` where a member's name in double quotes is expected"),
    ("{\"a\" 1}", "byte 5: `1` where a colon is expected"),
    ("[1 2]", "byte 3: `2` where a comma or the end of the array is expected"),
    ("{\"a\":1 \"b\"", "byte 7: `\"` where a comma or the end of the object is expected"),
    ("[1", "byte 2: the end of the text where a comma or the end of the array is expected"),
    ("{", "byte 1: the end of the text where a member's name in double quotes is expected"),
    ("[] ]", "byte 3: `]` after the end of the value"),
    ("[\"a", "byte 1: a string that is not closed"),
    ("[nul, \"a", "byte 1: a word that is not `null`"),
    ("\"a\nb\"", "byte 2: a control character in a string, which must be escaped"),
    ("\"\\x\"", "byte 1: an escape that JSON does not have"),
    ("\"\\u00g0\"", "byte 1: an escape without four hexadecimal digits"),
    ("\"\\ud800\\u0041\"", "byte 1: half of a surrogate pair"),
    ("\"\\udc00\"", "byte 1: half of a surrogate pair"),
    ("[1, 01]", "byte 4: a number that JSON does not allow"),
    ("[1e400, 1.]", "byte 8: a number that JSON does not allow"),
    ("\u{FEFF}[]", "byte 0: a byte order mark, which must be left out"),
    ("[\0]", "byte 1: byte 0x0 where a value is expected"),
  ])
  func describesProblemAndOffset(text: String, description: String) {
    #expect(text.parseErrorDescription == description)
  }

  @Test func reportsOffsetOfInvalidUTF8() {
    let bytes: [UInt8] = [0x22, 0x61, 0xFF, 0x22]
    let error = #expect(throws: JSONError.self) { try JSON.parse(bytes.span.bytes) }
    #expect(error?.description == "byte 2: the text is not UTF-8")
  }

  @Test func reportsDepthLimit() {
    let text = String(repeating: "[", count: 129)
    #expect(
      text.parseErrorDescription == "byte 128: more than 128 arrays and objects within one another")
  }
}

extension String {
  fileprivate var parseErrorDescription: String? {
    do {
      _ = try JSON.parse(self)
      return nil
    } catch {
      return error.description
    }
  }
}
