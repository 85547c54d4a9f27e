/// Finds where a text that the parser has refused is wrong, which the parser does not tell. Only
/// for refused texts: slow.
struct JSONScanner {
  private let bytes: [UInt8]
  private var at = 0
  /// For each open container, whether it is an object.
  private var open: [Bool] = []

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The first fault of the grammar; nil where there is none. Takes UTF-8 for granted.
  static func firstFault(in bytes: [UInt8]) -> JSONError? {
    var scanner = JSONScanner(bytes)
    do {
      try scanner.document()
      return nil
    } catch {
      return error
    }
  }

  private mutating func document() throws(JSONError) {
    skipSpace()
    repeat { try value() } while try nextIsValue()
    if at < bytes.count { throw fault("\(found) after the end of the value") }
  }

  /// Goes over a scalar or the beginning of a container.
  private mutating func value() throws(JSONError) {
    while true {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let isObject = byte == UInt8(ascii: "{")
        if open.count == JSON.maxDepth { throw .tooDeep(JSON.maxDepth, offset: at) }
        at += 1
        skipSpace()
        if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          at += 1
          return
        }
        open.append(isObject)
        if isObject { try name() }
      case UInt8(ascii: "\""): return try string()
      case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
      case UInt8(ascii: "t"): return try literal("true")
      case UInt8(ascii: "f"): return try literal("false")
      case UInt8(ascii: "n"): return try literal("null")
      default: throw fault("\(found) where a value is expected")
      }
    }
  }

  /// Goes over what follows a value, up to the next one; false at the end of the outermost.
  private mutating func nextIsValue() throws(JSONError) -> Bool {
    while true {
      skipSpace()
      guard let isObject = open.last else { return false }
      switch byte {
      case UInt8(ascii: ","):
        at += 1
        skipSpace()
        if isObject { try name() }
        return true
      case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
        at += 1
        open.removeLast()
      default:
        throw fault(
          "\(found) where a comma or the end of the \(isObject ? "object" : "array") is expected")
      }
    }
  }

  private mutating func name() throws(JSONError) {
    guard byte == UInt8(ascii: "\"") else {
      throw fault("\(found) where a member's name in double quotes is expected")
    }
    try string()
    skipSpace()
    guard byte == UInt8(ascii: ":") else { throw fault("\(found) where a colon is expected") }
    at += 1
    skipSpace()
  }

  private mutating func string() throws(JSONError) {
    let start = at
    at += 1
    while let byte, byte != UInt8(ascii: "\"") {
      if byte < 0x20 {
        throw fault("a control character in a string, which must be escaped")
      } else if byte == UInt8(ascii: "\\") {
        try escape()
      } else {
        at += 1
      }
    }
    if byte == nil { throw JSONError("a string that is not closed", offset: start) }
    at += 1
  }

  private mutating func escape() throws(JSONError) {
    let start = at
    at += 1
    switch byte {
    case UInt8(ascii: "u"):
      at += 1
      let first = hexUnit()
      if first.map({ 0xD800..<0xDC00 ~= $0 }) ?? false, byte == UInt8(ascii: "\\") {
        at += 1
        let isUnicode = byte == UInt8(ascii: "u")
        at += 1
        if isUnicode, let second = hexUnit(), 0xDC00..<0xE000 ~= second { return }
        throw JSONError("half of a surrogate pair", offset: start)
      }
      guard let first else {
        throw JSONError("an escape without four hexadecimal digits", offset: start)
      }
      if 0xD800..<0xE000 ~= first { throw JSONError("half of a surrogate pair", offset: start) }
    case .some(let byte) where "\"\\/bfnrt".utf8.contains(byte): at += 1
    default: throw JSONError("an escape that JSON does not have", offset: start)
    }
  }

  private mutating func hexUnit() -> Int? {
    var unit = 0
    for _ in 0..<4 {
      guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      unit = unit * 16 + digit
      at += 1
    }
    return unit
  }

  private mutating func number() throws(JSONError) {
    let start = at
    if byte == UInt8(ascii: "-") { at += 1 }
    let startsWithZero = byte == UInt8(ascii: "0")
    let whole = digits()
    var isNumber = whole > 0 && !(startsWithZero && whole > 1)
    if byte == UInt8(ascii: ".") {
      at += 1
      isNumber = digits() > 0 && isNumber
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      at += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { at += 1 }
      isNumber = digits() > 0 && isNumber
    }
    if !isNumber { throw JSONError("a number that JSON does not allow", offset: start) }
  }

  private mutating func digits() -> Int {
    let start = at
    while let byte, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { at += 1 }
    return at - start
  }

  private mutating func literal(_ text: StaticString) throws(JSONError) {
    let word = Array("\(text)".utf8)
    guard bytes[at...].starts(with: word) else { throw fault("a word that is not `\(text)`") }
    at += word.count
  }

  private mutating func skipSpace() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
  }

  private var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

  private var found: String {
    switch byte {
    case nil: "the end of the text"
    case .some(let byte) where 0x21...0x7E ~= byte: "`\(Character(Unicode.Scalar(byte)))`"
    case .some(let byte): "byte 0x\(String(byte, radix: 16))"
    }
  }

  private func fault(_ text: String) -> JSONError { JSONError(text, offset: at) }
}
