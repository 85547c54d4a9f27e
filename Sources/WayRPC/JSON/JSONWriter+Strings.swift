extension JSONWriter {
  /// The length up to which copying a string word by word is faster than calling `memmove`.
  private static var shortStringLimit: Int { 24 }

  /// Appends a string in quotes.
  package mutating func write(_ text: String) {
    write(text, after: nil)
  }

  /// Appends a byte of punctuation, then a string in quotes.
  mutating func write(_ text: String, after lead: UInt8?) {
    let utf8 = text.utf8.span
    if utf8.count > Self.shortStringLimit || Self.needsEscapes(utf8) {
      return writeLong(utf8, after: lead)
    }
    var to = reserve(for: Self.shortStringLimit + 3)
    if let lead { Self.put(lead, to: &to) }
    Self.put(UInt8(ascii: "\""), to: &to)
    Self.putShort(utf8.bytes, to: &to)
    Self.put(UInt8(ascii: "\""), to: &to)
    commit(to: to)
  }

  private mutating func writeLong(_ utf8: Span<UInt8>, after lead: UInt8?) {
    if utf8.count > limit - count {
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

  /// Copies words. The last one overlaps the word before it, so that no byte remains.
  @inline(__always)
  private static func putShort(_ bytes: RawSpan, to destination: inout UnsafeMutableRawPointer) {
    let count = bytes.byteCount
    if count >= 8 {
      var at = 0
      while at + 8 <= count {
        copy(UInt64.self, of: bytes, at: at, to: destination)
        at += 8
      }
      copy(UInt64.self, of: bytes, at: count - 8, to: destination)
    } else if count >= 4 {
      copy(UInt32.self, of: bytes, at: 0, to: destination)
      copy(UInt32.self, of: bytes, at: count - 4, to: destination)
    } else {
      for at in 0..<count { copy(UInt8.self, of: bytes, at: at, to: destination) }
    }
    destination += count
  }

  @inline(__always)
  private static func copy<Word: FixedWidthInteger & BitwiseCopyable>(
    _: Word.Type, of bytes: RawSpan, at offset: Int, to destination: UnsafeMutableRawPointer
  ) {
    let word = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Word.self)
    destination.storeBytes(of: word, toByteOffset: offset, as: Word.self)
  }

  /// Tests words. The last one overlaps the word before it, so that no byte remains.
  @inline(__always)
  private static func needsEscapes(_ utf8: Span<UInt8>) -> Bool {
    let count = utf8.count
    let bytes = utf8.bytes
    if count < 4 {
      for at in 0..<count where needsEscape(utf8[at]) { return true }
      return false
    }
    if count < 8 {
      let start = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let end = bytes.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      return anyNeedsEscape(UInt64(start) << 32 | UInt64(end))
    }
    var at = 0
    while at + 8 <= count {
      if anyNeedsEscape(bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self)) {
        return true
      }
      at += 8
    }
    return anyNeedsEscape(bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
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
