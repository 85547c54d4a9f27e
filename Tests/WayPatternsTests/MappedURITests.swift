import TestSupport
import Testing
import WayPatterns
import WayValues

/// URIs as browsers give them, and their normal form; `protocol/uris.json` has the rows.
@Suite struct MappedURITests {
  /// A row of `protocol/uris.json`.
  private struct TableRow {
    let name: String
    let text: String
    let normal: String
    let byte: Int?
  }

  private static func rows(_ member: String) throws -> [TableRow] {
    let document = try ProjectFiles.json("protocol/uris.json")
    let rows = try #require(document[member]?.array)
    return try rows.map { row in
      let text = try #require(row["text"]?.string)
      return TableRow(
        name: try #require(row["name"]?.string), text: text,
        normal: row["normal"]?.string ?? text, byte: row["byte"]?.integer.map { Int($0) })
    }
  }

  /// Returns the text with its triplets decoded; a `%` without two hexadecimal digits stays.
  private static func decoded(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let digits = bytes[position...].dropFirst().prefix(2)
      if bytes[position] == UInt8(ascii: "%"), digits.count == 2,
        digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        result.append(byte)
        position += 3
      } else {
        result.append(bytes[position])
        position += 1
      }
    }
    return result
  }

  @Test func `brings every accepted text into its normal form`() throws {
    let rows = try Self.rows("accepted")
    #expect(rows.count > 20)
    for row in rows {
      let mapped = try RouteURI(mapping: row.text)
      #expect(mapped.withoutDotSegments.text == row.normal, "\(row.name)")
      #expect(RouteURI.normalForm(of: row.text) == row.normal, "\(row.name)")
      #expect(RouteURI.normalForm(of: row.normal) == row.normal, "\(row.name)")
      #expect(try RouteURI(mapped.text) == mapped, "\(row.name)")
    }
  }

  @Test func `rejects what is not repaired, with the offset in the text`() throws {
    let rows = try Self.rows("rejected")
    #expect(rows.count > 10)
    for row in rows {
      let error = #expect(throws: RouteURIError.self) { try RouteURI(mapping: row.text) }
      #expect(error?.offset == row.byte, "\(row.name): \(String(describing: error))")
      #expect(RouteURI.normalForm(of: row.text) == row.text, "\(row.name)")
    }
  }

  @Test func `encodes each character that browsers leave`() throws {
    let document = try ProjectFiles.json("protocol/uris.json")
    let rows = try #require(document["left"]?.array)
    for row in rows {
      let before = try #require(row["before"]?.string)
      for byte in try #require(row["characters"]?.string).utf8 {
        let character = String(Character(Unicode.Scalar(byte)))
        for end in ["", "x", "/x", "%41", character] {
          let text = before + character + end
          let uri = try RouteURI(mapping: text)
          let digits = String(byte, radix: 16, uppercase: true)
          let triplet = "%" + digits
          let expectedEnd = end == character ? triplet : end
          #expect(uri.text == before + triplet + expectedEnd, "\(text)")
        }
      }
    }
  }

  @Test(
    "maps any printable text after the authority, once, and without another meaning",
    arguments: 1...20 as ClosedRange<UInt64>)
  func mapsRandomText(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    // A backslash becomes a slash; `uris.json` has rows for it.
    let printable = (UInt8(0x20)..<0x7F).filter { $0 != UInt8(ascii: "\\") }
      .map { String(Character(Unicode.Scalar($0))) }
    let pieces = printable + ["%", "%4", "%41", "%2e", "%2F", "..", "/", "é", "用", "😀"]
    let starts = ["https://shop.example/", "http://u@h:81/?", "file:///#", "WS://h/a/", "file:"]
    for _ in 0..<400 {
      let count = Int.random(in: 0...12, using: &random)
      let start = starts.randomElement(using: &random) ?? ""
      let tail = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      // Two slashes after "file:" begin an authority, of which nothing is repaired.
      let text = start + (start == "file:" ? "a" : "") + tail + "~"
      let uri = try RouteURI(mapping: text)
      #expect(try RouteURI(uri.text) == uri, "seed \(seed): \(text)")
      #expect(try RouteURI(mapping: uri.text) == uri, "seed \(seed): \(text)")
      #expect(Self.decoded(uri.text) == Self.decoded(text), "seed \(seed): \(text)")
      let normal = RouteURI.normalForm(of: text)
      #expect(RouteURI.normalForm(of: normal) == normal, "seed \(seed): \(text)")
      // The parts end where they end in the original text.
      let (head, fragment) = Self.halves(text, at: "#")
      let (path, query) = Self.halves(head, at: "?")
      #expect(uri.fragment.map(Self.decoded) == fragment.map(Self.decoded), "seed \(seed): \(text)")
      #expect(uri.query.map(Self.decoded) == query.map(Self.decoded), "seed \(seed): \(text)")
      #expect(Self.decoded(uri.withoutQuery) == Self.decoded(path), "seed \(seed): \(text)")
    }
  }

  private static func halves(_ text: String, at separator: Character) -> (String, String?) {
    guard let index = text.firstIndex(of: separator) else { return (text, nil) }
    return (String(text[..<index]), String(text[text.index(after: index)...]))
  }

  @Test(
    "leaves a valid URI unchanged, and gives an error or a valid one for any other text",
    arguments: 1...40 as ClosedRange<UInt64>)
  func keepsValidURIs(seed: UInt64) throws {
    var source = FuzzSource(
      seed: seed,
      samples: [
        "native://address/list?selected=7&x=a+b&x=%2B#top", "navigation:back?count=2",
        "http://user:pw@[2001:db8::7]:8080/a/./b/../c", "https://h/é/用户?a[b]=c|d#{e}#f",
      ],
      pieces: [
        "://", "/", "?", "#", ":", "@", "[", "]", "%", "%2", "%00", "%2F", "|", "^", "`", "{", "}",
        "\\", "\"", "<", ">", " ", "..", "é", "😀", "\0", "\t", "\u{7F}", "native", "http:",
      ])
    for _ in 0..<250 {
      let text = String(decoding: source.next(), as: UTF8.self)
      let normal = RouteURI.normalForm(of: text)
      #expect(RouteURI.normalForm(of: normal) == normal, "seed \(seed): \(text)")
      let uri: RouteURI
      do { uri = try RouteURI(mapping: text) } catch {
        #expect((0...text.utf8.count).contains(error.offset), "seed \(seed): \(text): \(error)")
        if error.reason != .noHost, error.reason != .badHost {
          #expect((try? RouteURI(text)) == nil, "seed \(seed): \(text)")
        }
        continue
      }
      #expect(try RouteURI(uri.text) == uri, "seed \(seed): \(text)")
      // URLs of browsers change more.
      if ["http", "https", "file"].contains(uri.scheme?.lowercased()) { continue }
      #expect(Self.decoded(uri.text) == Self.decoded(text), "seed \(seed): \(text)")
      if let strict = try? RouteURI(text) {
        #expect(uri == strict, "seed \(seed): \(text)")
      }
    }
  }

  @Test(
    "an error after a character beyond ASCII has its offset in the text",
    arguments: [
      ("x:/ä\u{1}b", .invalidCharacter(1), 5), ("é:b", .badScheme, 0), ("x:/ää%", .badPercent, 7),
      ("x://h:é", .notASCII, 6), ("x://[::1]é", .notASCII, 9), ("é b", .invalidCharacter(0x20), 2),
      ("x://h:%41/[", .invalidCharacter(0x25), 6),
    ] as [(String, RouteURIError.URIErrorReason, Int)])
  func reportsOffsetInText(text: String, reason: RouteURIError.URIErrorReason, offset: Int) {
    let error = #expect(throws: RouteURIError.self) { try RouteURI(mapping: text) }
    #expect(error?.reason == reason)
    #expect(error?.offset == offset)
  }

  @Test("a text that is too long when it is mapped is rejected", arguments: ["é", "["])
  func rejectsTooLongMappedText(character: String) {
    let error = #expect(throws: RouteURIError.self) {
      try RouteURI(mapping: "x:/" + String(repeating: character, count: 30_000))
    }
    #expect(error?.reason == .tooLong)
  }
}
