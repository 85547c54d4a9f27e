import Testing
import WayRPC
import WayValues

/// The classes of JSONTestSuite: inputs that every parser must accept or reject, and this parser's
/// behavior for inputs that the RFC leaves open.
@Suite struct JSONSyntaxTests {
  @Test(
    arguments: [
      ("[]", []), ("{}", [:]), (" [ ] ", []), ("\n\t\r {} \n", [:]), ("null", nil), ("true", true),
      ("false", false), ("0", 0), ("-1", -1), ("42 ", 42), ("\"\"", ""), ("\"a\"", "a"),
      ("[null]", [nil]), ("[[]]", [[]]), ("[{}]", [[:]]), ("[1,2]", [1, 2]),
      ("[1\n,\t2]", [1, 2]), ("[true,false,null]", [true, false, nil]),
      ("[\"a\",\"b\"]", ["a", "b"]),
      ("{\"a\":1}", ["a": 1]), ("{\"a\":[]}", ["a": []]), ("{\"a\":{\"b\":2}}", ["a": ["b": 2]]),
      ("{\"\":0}", ["": 0]), ("{\"a\":1,\"b\":2}", ["a": 1, "b": 2]), ("{ \"a\" : 1 }", ["a": 1]),
      ("{\"a\":1,\"a\":2}", ["a": 2]), ("{\"a\":1,\"b\":0,\"a\":2}", ["a": 2, "b": 0]),
      ("{\"\\u0061\":1,\"a\":2}", ["a": 2]),
      ("{\"abcdefgh\":1,\"abcdefgi\":2}", ["abcdefgh": 1, "abcdefgi": 2]),
      ("[9223372036854775807]", [9_223_372_036_854_775_807]),
      ("[-9223372036854775808]", [-9_223_372_036_854_775_808]),
      ("\"\\/\"", "/"), ("\"/\"", "/"), ("\"\u{7F}\"", "\u{7F}"), ("\"\u{2028}\"", "\u{2028}"),
      ("[1,[2,[3,[]]]]", [1, [2, [3, []]]]),
    ] as [(String, Value)])
  func parsesValidTexts(text: String, value: Value) throws {
    #expect(try JSON.parse(text) == value)
  }

  @Test func keepsMemberOrder() throws {
    let names = try JSON.parse(#"{"z":1,"a":2,"m":3}"#).object?.members.map(\.name)
    #expect(names == ["z", "a", "m"])
  }

  @Test(arguments: [8, 9, 16, 17, 1000])
  func lastDuplicateWinsInLargeObjects(count: Int) throws {
    let once = (0..<count).map { "\"name\($0)\":\($0)" }.joined(separator: ",")
    let object = try #require(try JSON.parse("{\(once),\"name3\":-1}").object)
    #expect(object.count == count)
    #expect(object["name3"] == -1)
    #expect(object["name\(count - 1)"] == .integer(Int64(count - 1)))
  }

  @Test(arguments: [
    "", " ", "\n", "[", "]", "{", "}", "[[", "[]]", "[}", "{]", "[1", "[1,", "{\"a\"", "{\"a\":",
    "{\"a\":1", "{\"a\":1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1:2]", "{\"a\":1,}",
    "{,}", "{\"a\" 1}", "{\"a\",1}", "{\"a\":}", "{:1}", "{1:1}", "{a:1}", "{'a':1}", "{null:1}",
    "{\"a\":1 \"b\":2}", "{\"a\":1,,\"b\":2}", "{\"a\":1}}", "{\"a\"::1}", "{[]:1}", "[] []",
    "{} {}", "[]x", "1 2", "nul", "nulll", "Null", "tru", "truee", "TRUE", "fals", "falsey", "nan",
    "NaN", "Infinity", "-Infinity", "undefined", "[nul]", "[tru]", "[fals]", "/* a */ 1", "1 // a",
    "# 1", "[1] /", "'a'", "`a`", "a", "*", "[*]", "[\u{A0}]", "\u{3000}1", "[1]\0", "\0", "[\0]",
    "[\u{0C}]", "\u{FEFF}[]", "\u{FEFF}",
  ])
  func rejectsInvalidStructure(text: String) {
    #expect(throws: JSONError.self) { try JSON.parse(text) }
  }

  @Test(arguments: [
    "-", "--1", "+1", "01", "-01", "00", "1.", ".1", "-.1", "1.e1", "1e", "1e+", "1E-", "1e1.5",
    "1.2.3", "1-1", "0x10", "1_000", "1a", "-a", "1e1e1", "1e400e1", "[1e1e1]",
    "[1.5e3.5]", "1e400x", "[1e400\"a\"]", "{\"a\":1e400:1}", "0e", "0e+", "- 1", "1,000", "１",
    "-Infinity", "1/2", "[1.]", "[-]", "[1e400,01]", "[1e400,-]", "[1e400,1.]",
  ])
  func rejectsInvalidNumbers(text: String) {
    #expect(throws: JSONError.self) { try JSON.parse(text) }
  }

  @Test(arguments: [
    "\"", "\"a", "\"\\\"", "\"\\", "\"\\u\"", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"", "\"\\u123g\"",
    "\"\\U0041\"", "\"\\x41\"", "\"\\a\"", "\"\\'\"", "\"\\0\"", "\"\\ \"", "\"\n\"", "\"\t\"",
    "\"\0\"", "\"\u{1F}\"", "\"\\\n\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\ud800\"",
    "\"\\udc00\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\u0041\"", "\"\\ud800\\u\"",
    "{\"\\ud800\":1}", "\"a\" \"b\"", "\"a\"\"", "\"\\u{41}\"",
  ])
  func rejectsInvalidStrings(text: String) {
    #expect(throws: JSONError.self) { try JSON.parse(text) }
  }

  @Test(
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x80, 0x22],
      [0x22, 0xE2, 0x82, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
      [0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22], [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00],
      [0xFE, 0xFF, 0x00, 0x5B, 0x00, 0x5D], [0x5B, 0x00, 0x5D, 0x00], [0x00, 0x5B, 0x00, 0x5D],
      [0xEF, 0xBB, 0xBF], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], [0xEF], [0xE5],
    ] as [[UInt8]])
  func rejectsInvalidEncodings(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSON.parse(bytes.span.bytes) }
  }

  @Test(arguments: [
    #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"":1,"":2}"#, #"{"a":1,"\u0061":2}"#,
    #"[{"a":{"b":1,"c":[],"b":null}}]"#, #"{"same-start-1":1,"same-start-2":2,"same-start-1":3}"#,
    #"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"a":1}"#,
  ])
  func rejectsDuplicateNamesInStrictMode(text: String) throws {
    #expect(throws: Never.self) { try JSON.parse(text) }
    let error = #expect(throws: JSONError.self) { try JSON.parse(text, duplicateNames: .reject) }
    #expect(
      error?.description.hasSuffix(": the member comes twice in its object; remove one") == true)
  }

  @Test(arguments: [
    "{}", #"{"a":1,"b":{"a":1}}"#, #"[{"a":1},{"a":1}]"#,
    #"{"a":"a","A":"a","\u00e1":1,"a\u0301":2}"#,
    #"{"same-start-1":1,"same-start-2":2}"#,
  ])
  func acceptsUniqueNamesInStrictMode(text: String) throws {
    #expect(try JSON.parse(text, duplicateNames: .reject) == JSON.parse(text))
  }
}
