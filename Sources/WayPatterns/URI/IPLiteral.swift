/// The addresses in brackets of RFC 3986 §3.2.2.
enum IPLiteral {
  /// Returns the position of the closing bracket; `nil` if there is none or no address before it.
  static func closingBracket(in bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    var close = start
    while close < end, bytes[close] != UInt8(ascii: "]") { close += 1 }
    guard close < end, close > start else { return nil }
    let isFuture = bytes[start] | 0x20 == UInt8(ascii: "v")
    let isAddress =
      isFuture ? isIPvFuture(bytes, start + 1, close) : isIPv6(bytes, start, close)
    return isAddress ? close : nil
  }

  private static func isIPvFuture(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    var position = start
    while position < end, bytes[position].hexValue != nil { position += 1 }
    guard position > start, position + 1 < end, bytes[position] == .dot else { return false }
    position += 1
    while position < end, URIByteSet.userinfo.contains(bytes[position]) { position += 1 }
    return position == end
  }

  private static func isIPv6(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    var groups = 0
    var isCompressed = false
    var position = start
    if isDoubleColon(bytes, position, end) {
      isCompressed = true
      position += 2
    }
    while position < end {
      let group = position
      while position < end, bytes[position].hexValue != nil { position += 1 }
      if position < end, bytes[position] == .dot {
        guard isIPv4(bytes, group, end) else { return false }
        groups += 2
        break
      }
      guard position > group, position - group <= 4 else { return false }
      groups += 1
      if position == end { break }
      if isDoubleColon(bytes, position, end) {
        guard !isCompressed else { return false }
        isCompressed = true
        position += 2
      } else {
        guard bytes[position] == .colon, position + 1 < end else { return false }
        position += 1
      }
    }
    return isCompressed ? groups <= 7 : groups == 8
  }

  private static func isDoubleColon(_ bytes: Span<UInt8>, _ position: Int, _ end: Int) -> Bool {
    position + 1 < end && bytes[position] == .colon && bytes[position + 1] == .colon
  }

  /// Four numbers to 255 without leading zeros.
  private static func isIPv4(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    var position = start
    for part in 0..<4 {
      if part > 0 {
        guard position < end, bytes[position] == .dot else { return false }
        position += 1
      }
      let first = position
      var value = 0
      while position < end, position - first < 3, bytes[position].isDigit {
        value = value * 10 + Int(bytes[position] - 0x30)
        position += 1
      }
      guard position > first, value <= 255 else { return false }
      if bytes[first] == 0x30, position - first > 1 { return false }
    }
    return position == end
  }
}
