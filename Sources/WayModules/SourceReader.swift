/// Cuts Swift source into tokens. What is no Swift is cut somehow: the compiler tells of it.
struct SourceReader {
  let bytes: [UInt8]
  let file: String
  var position = 0
  private var line = 1
  private var lineStart = 0
  private(set) var tokens: [SourceToken] = []
  /// Up to here no slash begins a regular expression, since none ends one.
  var regexBarrier = 0

  /// Strings in the interpolations of strings nest no deeper.
  private static let maxDepth = 100

  private init(_ source: String, file: String) {
    var bytes = Array(source.utf8)
    // A carriage return alone ends a line too.
    for index in bytes.indices where bytes[index] == UInt8(ascii: "\r") {
      let isAlone = index + 1 == bytes.count || bytes[index + 1] != UInt8(ascii: "\n")
      if isAlone { bytes[index] = UInt8(ascii: "\n") }
    }
    self.bytes = bytes
    self.file = file
  }

  static func tokens(of source: String, file: String) throws(ScanFault) -> [SourceToken] {
    var reader = SourceReader(source, file: file)
    // A byte order mark.
    if reader.starts(with: "\u{FEFF}") { reader.advance(3) }
    if reader.starts(with: "#!") { reader.skipLine() }
    try reader.read(depth: 0)
    return reader.tokens
  }

  var place: SourcePlace {
    SourcePlace(file: file, line: line, column: position - lineStart + 1)
  }

  /// Reads to the end or, in an interpolation, behind its closing parenthesis.
  mutating func read(depth: Int) throws(ScanFault) {
    guard depth < Self.maxDepth else {
      throw ScanFault(
        place: place, message: "strings nest too deep here, one in the interpolation of the other")
    }
    var parentheses = 0
    while true {
      let before = position
      let lineBefore = line
      skipSpace()
      guard let byte = peek() else { return }
      let isAdjacent = position == before && before > 0
      let startsLine = line > lineBefore || tokens.isEmpty
      let start = place
      let kind: SourceToken.Kind
      var text = ""
      switch byte {
      case _ where Self.isWordHead(byte):
        kind = .word
        text = word()
      case UInt8(ascii: "`"):
        kind = .escapedWord
        text = escapedWord()
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        kind = .literal
        text = number()
      case UInt8(ascii: "\""):
        let plain = try string(pounds: 0, depth)
        kind = plain == nil ? .literal : .string
        text = plain ?? ""
      case UInt8(ascii: "#"):
        (kind, text) = try pound(depth)
      case UInt8(ascii: "/") where depth == 0 && skipRegex():
        kind = .literal
      default:
        kind = .punctuation
        text = String(UnicodeScalar(byte))
        advance()
        if depth > 0 {
          if byte == UInt8(ascii: "(") { parentheses += 1 }
          if byte == UInt8(ascii: ")") {
            guard parentheses > 0 else { return }
            parentheses -= 1
          }
        }
      }
      // What stands in an interpolation declares nothing that could be registered.
      guard depth == 0 else { continue }
      tokens.append(
        SourceToken(
          kind: kind, text: text, place: start, isAdjacent: isAdjacent, startsLine: startsLine))
    }
  }

  // MARK: bytes

  func peek(_ offset: Int = 0) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  func starts(with text: StaticString, at offset: Int = 0) -> Bool {
    text.withUTF8Buffer { wanted in
      wanted.indices.allSatisfy { peek(offset + $0) == wanted[$0] }
    }
  }

  mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == UInt8(ascii: "\n") {
        line += 1
        lineStart = position + 1
      }
      position += 1
    }
  }

  mutating func skipLine() {
    while let byte = peek(), byte != UInt8(ascii: "\n") { advance() }
  }

  func text(from start: Int) -> String {
    String(decoding: bytes[start..<position], as: UTF8.self)
  }

  static func isWordHead(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  static func isWordTail(_ byte: UInt8) -> Bool {
    isWordHead(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) || byte == 0
  }
}
