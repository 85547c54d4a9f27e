/// Finds the position of the fault in a text that the parser has rejected, since the parser does
/// not report it. Slow; only for rejected texts.
struct JSONScanner {
  private let bytes: [UInt8]
  private var position = 0
  /// For each open container, whether it is an object.
  private var openContainers: [Bool] = []

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the first fault of the grammar; `nil` if there is none. Requires valid UTF-8.
  static func firstError(in bytes: [UInt8]) -> JSONError? {
    var scanner = JSONScanner(bytes)
    do {
      try scanner.scanDocument()
      return nil
    } catch {
      return error
    }
  }

  private mutating func scanDocument() throws(JSONError) {
    skipSpace()
    repeat { try scanValue() } while try scanToNextValue()
    if position < bytes.count {
      throw syntaxError("\(foundDescription) after the end of the value")
    }
  }

  /// Scans a scalar or the beginning of a container.
  private mutating func scanValue() throws(JSONError) {
    while true {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let isObject = byte == UInt8(ascii: "{")
        if openContainers.count == JSON.maxDepth { throw .tooDeep(JSON.maxDepth, offset: position) }
        position += 1
        skipSpace()
        if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          position += 1
          return
        }
        openContainers.append(isObject)
        if isObject { try scanName() }
      case UInt8(ascii: "\""): return try scanString()
      case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try scanNumber()
      case UInt8(ascii: "t"): return try scanLiteral("true")
      case UInt8(ascii: "f"): return try scanLiteral("false")
      case UInt8(ascii: "n"): return try scanLiteral("null")
      default: throw syntaxError("\(foundDescription) where a value is expected")
      }
    }
  }

  /// Scans the text after a value, up to the next one; returns `false` at the end of the outermost.
  private mutating func scanToNextValue() throws(JSONError) -> Bool {
    while true {
      skipSpace()
      guard let isObject = openContainers.last else { return false }
      switch byte {
      case UInt8(ascii: ","):
        position += 1
        skipSpace()
        if isObject { try scanName() }
        return true
      case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
        position += 1
        openContainers.removeLast()
      default:
        throw syntaxError(
          "\(foundDescription) where a comma or the end of the \(isObject ? "object" : "array") is expected"
        )
      }
    }
  }

  private mutating func scanName() throws(JSONError) {
    guard byte == UInt8(ascii: "\"") else {
      throw syntaxError("\(foundDescription) where a member's name in double quotes is expected")
    }
    try scanString()
    skipSpace()
    guard byte == UInt8(ascii: ":") else {
      throw syntaxError("\(foundDescription) where a colon is expected")
    }
    position += 1
    skipSpace()
  }

  private mutating func scanString() throws(JSONError) {
    let start = position
    position += 1
    while let byte, byte != UInt8(ascii: "\"") {
      if byte < 0x20 {
        throw syntaxError("a control character in a string, which must be escaped")
      } else if byte == UInt8(ascii: "\\") {
        try scanEscape()
      } else {
        position += 1
      }
    }
    if byte == nil { throw JSONError("a string that is not closed", offset: start) }
    position += 1
  }

  private mutating func scanEscape() throws(JSONError) {
    let start = position
    position += 1
    switch byte {
    case UInt8(ascii: "u"):
      position += 1
      let first = scanHexUnit()
      if first.map({ 0xD800..<0xDC00 ~= $0 }) ?? false, byte == UInt8(ascii: "\\") {
        position += 1
        let isUnicode = byte == UInt8(ascii: "u")
        position += 1
        if isUnicode, let second = scanHexUnit(), 0xDC00..<0xE000 ~= second { return }
        throw JSONError("half of a surrogate pair", offset: start)
      }
      guard let first else {
        throw JSONError("an escape without four hexadecimal digits", offset: start)
      }
      if 0xD800..<0xE000 ~= first { throw JSONError("half of a surrogate pair", offset: start) }
    case .some(let byte) where "\"\\/bfnrt".utf8.contains(byte): position += 1
    default: throw JSONError("an escape that JSON does not have", offset: start)
    }
  }

  private mutating func scanHexUnit() -> Int? {
    var unit = 0
    for _ in 0..<4 {
      guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      unit = unit * 16 + digit
      position += 1
    }
    return unit
  }

  private mutating func scanNumber() throws(JSONError) {
    let start = position
    if byte == UInt8(ascii: "-") { position += 1 }
    let startsWithZero = byte == UInt8(ascii: "0")
    let whole = scanDigits()
    var isNumber = whole > 0 && !(startsWithZero && whole > 1)
    if byte == UInt8(ascii: ".") {
      position += 1
      isNumber = scanDigits() > 0 && isNumber
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      position += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
      isNumber = scanDigits() > 0 && isNumber
    }
    if !isNumber { throw JSONError("a number that JSON does not allow", offset: start) }
  }

  private mutating func scanDigits() -> Int {
    let start = position
    while let byte, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
    return position - start
  }

  private mutating func scanLiteral(_ text: StaticString) throws(JSONError) {
    let word = Array("\(text)".utf8)
    guard bytes[position...].starts(with: word) else {
      throw syntaxError("a word that is not `\(text)`")
    }
    position += word.count
  }

  private mutating func skipSpace() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private var foundDescription: String {
    switch byte {
    case nil: "the end of the text"
    case .some(let byte) where 0x21...0x7E ~= byte: "`\(Character(Unicode.Scalar(byte)))`"
    case .some(let byte): "byte 0x\(String(byte, radix: 16))"
    }
  }

  private func syntaxError(_ text: String) -> JSONError { JSONError(text, offset: position) }
}
