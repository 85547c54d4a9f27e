extension JSONWriter {
  /// Up to this length a string is cheaper to copy byte by byte than to hand to `memmove`.
  private static var shortCount: Int { 24 }

  /// Appends a string in quotes.
  package mutating func write(_ text: String) {
    write(text, after: nil)
  }

  /// Appends a byte of punctuation, then a string in quotes.
  mutating func write(_ text: String, after lead: UInt8?) {
    let utf8 = text.utf8.span
    let hasEscapes: Bool
    if utf8.count <= Self.shortCount {
      hasEscapes = writeShort(utf8, after: lead)
      if !hasEscapes { return }
    } else {
      guard utf8.count <= limit - bytes.count else {
        isOverLimit = true
        return
      }
      hasEscapes = Self.needsEscapes(utf8)
    }
    if let lead { bytes.append(lead) }
    bytes.append(UInt8(ascii: "\""))
    if hasEscapes { writeEscaped(utf8) } else { bytes.append(contentsOf: text.utf8) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes the string unless it needs escapes, which it returns; then nothing is written.
  private mutating func writeShort(_ utf8: Span<UInt8>, after lead: UInt8?) -> Bool {
    var hasEscapes = false
    bytes.append(addingCapacity: utf8.count + 3) { output in
      let start = output.count
      if let lead { output.append(lead) }
      output.append(UInt8(ascii: "\""))
      for index in utf8.indices {
        let byte = utf8[index]
        if Self.needsEscape(byte) {
          output.removeLast(output.count - start)
          hasEscapes = true
          return
        }
        output.append(byte)
      }
      output.append(UInt8(ascii: "\""))
    }
    return hasEscapes
  }

  private mutating func writeEscaped(_ utf8: Span<UInt8>) {
    var start = 0
    while start < utf8.count, bytes.count <= limit {
      let part = utf8.extracting(start..<min(start + 256, utf8.count))
      bytes.append(addingCapacity: part.count * 6) { output in
        for index in part.indices { Self.append(part[index], to: &output) }
      }
      start += part.count
    }
  }

  private static func append(_ byte: UInt8, to output: inout OutputSpan<UInt8>) {
    guard needsEscape(byte) else {
      output.append(byte)
      return
    }
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x09: output.append(UInt8(ascii: "t"))
    case 0x0A: output.append(UInt8(ascii: "n"))
    case 0x0C: output.append(UInt8(ascii: "f"))
    case 0x0D: output.append(UInt8(ascii: "r"))
    default:
      output.append(UInt8(ascii: "u"))
      output.append(UInt8(ascii: "0"))
      output.append(UInt8(ascii: "0"))
      output.append(UInt8(ascii: "0") + byte / 16)
      let low = byte % 16
      output.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
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

  /// Looks at eight bytes at once: each test leaves the high bit set of a byte that passes it. The
  /// borrow of one that passes may let the next pass wrongly, which changes nothing in the answer.
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
