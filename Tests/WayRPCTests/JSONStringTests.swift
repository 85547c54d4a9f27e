import Testing
import WayRPC
import WayValues

@Suite struct JSONStringTests {
  @Test(arguments: [
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041""#, "A"), (#""\u00e9""#, "é"),
    (#""\u00E9""#, "é"), (#""\u20ac""#, "€"), (#""\ud83d\ude00""#, "😀"), (#""\uD83D\uDE00""#, "😀"),
    (#""\udbff\udfff""#, "\u{10FFFF}"), (#""\u0000""#, "\0"), (#""a\u0000b""#, "a\0b"),
    (#""\u001f""#, "\u{1F}"), (#""\uffff""#, "\u{FFFF}"), (#""\ufeff""#, "\u{FEFF}"),
    (#""\\u0041""#, "\\u0041"), ("\"é€😀\"", "é€😀"), ("\"e\u{301}\"", "e\u{301}"),
    (#""\ud83d\ude00\ud83d\ude01""#, "😀😁"),
    ("\"\(String(repeating: "x", count: 70_000))\"", String(repeating: "x", count: 70_000)),
  ])
  func decodesEscapes(text: String, string: String) throws {
    #expect(try JSON.parse(text) == .string(string))
    #expect(
      try JSON.parse("{\(text):1}").object?.members.first?.name.isSameUTF8(as: string) == true)
  }

  @Test(arguments: [
    ("", "\"\""), ("a", "\"a\""), ("\"", #""\"""#), ("\\", #""\\""#), ("/", "\"/\""),
    ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#), ("\0", #""\u0000""#), ("\u{B}", #""\u000b""#),
    ("\u{1F}", #""\u001f""#), ("\u{7F}", "\"\u{7F}\""), ("\u{2028}", "\"\u{2028}\""),
    ("é€😀", "\"é€😀\""), ("e\u{301}", "\"e\u{301}\""),
  ])
  func escapesOnlyRequiredCharacters(string: String, text: String) throws {
    #expect(try encoded(.string(string)).utf8.elementsEqual(text.utf8))
  }

  @Test func distinguishesComposedAndDecomposedNames() throws {
    let object = try JSON.parse("{\"\u{E9}\":1,\"e\u{301}\":2}").object
    #expect(object?.count == 2)
  }

  /// Each byte that needs escaping, at each position of strings around the lengths at which the
  /// writer changes its method.
  @Test(arguments: [
    "\"", "\\", "\u{1}", "\u{1F}", "\u{20}", "!", "#", "[", "]", "\u{80}", "\u{7FF}", "😀",
  ])
  func roundTripsSpecialBytesInAnyPosition(special: String) throws {
    for length in [0, 1, 6, 7, 8, 15, 16, 22, 23, 24, 25, 31, 33, 255, 256, 257] {
      for place in 0...min(length, 40) {
        let filler = String(repeating: "a", count: place)
        let string = filler + special + String(repeating: "b", count: length - place)
        let text = try encoded(.string(string))
        try #require(try JSON.parse(text) == .string(string))
        let expectsEscape = ["\"", "\\", "\u{1}", "\u{1F}"].contains(special)
        try #require(text.utf8.contains(UInt8(ascii: "\\")) == expectsEscape)
      }
    }
  }

  @Test func escapesMemberNamesLikeStrings() throws {
    let object: Value = ["a\"b": 1, "c\n": [:], String(repeating: "\\", count: 30): 2]
    let backslashes = String(repeating: "\\\\", count: 30)
    #expect(try encoded(object) == #"{"a\"b":1,"c\n":{},""# + backslashes + "\":2}")
  }

  private func encoded(_ value: Value) throws -> String {
    var writer = JSONWriter()
    try writer.write(value)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
