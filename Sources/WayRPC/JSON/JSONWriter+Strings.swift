extension JSONWriter {
  /// The length up to which copying a string byte by byte is faster than calling `memmove`.
  private static var shortStringLimit: Int { 24 }

  /// Appends a string in quotes.
  package mutating func write(_ text: String) {
    write(text, after: nil)
  }

  /// Appends a byte of punctuation, then a string in quotes.
  mutating func write(_ text: String, after lead: UInt8?) {
    let utf8 = text.utf8.span
    if utf8.count <= Self.shortStringLimit {
      if writeShort(utf8, after: lead) { return }
    } else if utf8.count > limit - count {
      isOverLimit = true
      return
    }
    if let lead { append(lead) }
    append(UInt8(ascii: "\""))
    if Self.needsEscapes(utf8) {
      writeEscaped(utf8)
    } else {
      utf8.bytes.withUnsafeBytes { append($0) }
    }
    append(UInt8(ascii: "\""))
  }

  /// Writes the string unless it needs escapes; then writes nothing and returns `false`.
  @inline(__always)
  private mutating func writeShort(_ utf8: Span<UInt8>, after lead: UInt8?) -> Bool {
    var to = reserve(for: Self.shortStringLimit + 3)
    if let lead { Self.put(lead, to: &to) }
    Self.put(UInt8(ascii: "\""), to: &to)
    for index in utf8.indices {
      let byte = utf8[index]
      if Self.needsEscape(byte) { return false }
      Self.put(byte, to: &to)
    }
    Self.put(UInt8(ascii: "\""), to: &to)
    commit(to: to)
    return true
  }

  private mutating func writeEscaped(_ utf8: Span<UInt8>) {
    var start = 0
    while start < utf8.count, count <= limit {
      let part = utf8.extracting(start..<min(start + 256, utf8.count))
      var to = reserve(for: part.count * 6)
      for index in part.indices { Self.putEscaped(part[index], to: &to) }
      commit(to: to)
      start += part.count
    }
  }

  @inline(__always)
  private static func put(_ byte: UInt8, to destination: inout UnsafeMutableRawPointer) {
    destination.storeBytes(of: byte, as: UInt8.self)
    destination += 1
  }

  private static func putEscaped(_ byte: UInt8, to destination: inout UnsafeMutableRawPointer) {
    guard needsEscape(byte) else { return put(byte, to: &destination) }
    put(UInt8(ascii: "\\"), to: &destination)
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): put(byte, to: &destination)
    case 0x08: put(UInt8(ascii: "b"), to: &destination)
    case 0x09: put(UInt8(ascii: "t"), to: &destination)
    case 0x0A: put(UInt8(ascii: "n"), to: &destination)
    case 0x0C: put(UInt8(ascii: "f"), to: &destination)
    case 0x0D: put(UInt8(ascii: "r"), to: &destination)
    default:
      put(UInt8(ascii: "u"), to: &destination)
      put(UInt8(ascii: "0"), to: &destination)
      put(UInt8(ascii: "0"), to: &destination)
      put(UInt8(ascii: "0") + byte / 16, to: &destination)
      let low = byte % 16
      put(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10, to: &destination)
    }
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func needsEscapes(_ utf8: Span<UInt8>) -> Bool {
    let count = utf8.count
    var at = 0
    while at + 8 <= count {
      if anyNeedsEscape(utf8.bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self)) {
        return true
      }
      at += 8
    }
    while at < count {
      if needsEscape(utf8[at]) { return true }
      at += 1
    }
    return false
  }

  /// Tests eight bytes at once: each test sets the high bit of a byte that passes it. The borrow of
  /// a byte that passes may set that of the next one wrongly, which does not change the result.
  @inline(__always)
  private static func anyNeedsEscape(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let control = word &- (ones &* 0x20)
    let found = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | (control & ~word)
    return found & (ones &* 0x80) != 0
  }
}
