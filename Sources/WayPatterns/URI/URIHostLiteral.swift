/// The addresses in brackets of RFC 3986 §3.2.2.
enum URIHostLiteral {
  /// Returns the position of the closing bracket; `nil` if there is none or no address before it.
  static func closingBracket(in bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    var close = start
    while close < end, bytes[close] != UInt8(ascii: "]") { close += 1 }
    guard close < end, close > start else { return nil }
    let isFuture = bytes[start] | 0x20 == UInt8(ascii: "v")
    let isAddress =
      isFuture
      ? isIPvFuture(bytes, start + 1, close) : ipv6Groups(bytes, start, close) != nil
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

  /// Returns the eight groups of the IPv6 address between two positions; `nil` if it is none.
  static func ipv6Groups(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> [UInt16]? {
    var groups: [UInt16] = []
    /// The number of groups before `::`, which stands for groups of zeros.
    var groupsBeforeZeros: Int?
    var position = start
    if isDoubleColon(bytes, position, end) {
      groupsBeforeZeros = 0
      position += 2
    }
    while position < end {
      let first = position
      var group: UInt16 = 0
      while position < end, let digit = bytes[position].hexValue {
        group = group << 4 | UInt16(digit)
        position += 1
      }
      if position < end, bytes[position] == .dot {
        guard let address = ipv4(bytes, first, end) else { return nil }
        groups += [UInt16(address >> 16), UInt16(truncatingIfNeeded: address)]
        break
      }
      guard position > first, position - first <= 4 else { return nil }
      groups.append(group)
      if position == end { break }
      if isDoubleColon(bytes, position, end) {
        guard groupsBeforeZeros == nil else { return nil }
        groupsBeforeZeros = groups.count
        position += 2
      } else {
        guard bytes[position] == .colon, position + 1 < end else { return nil }
        position += 1
      }
    }
    guard let groupsBeforeZeros else { return groups.count == 8 ? groups : nil }
    guard groups.count <= 7 else { return nil }
    groups.insert(
      contentsOf: repeatElement(0, count: 8 - groups.count), at: groupsBeforeZeros)
    return groups
  }

  private static func isDoubleColon(_ bytes: Span<UInt8>, _ position: Int, _ end: Int) -> Bool {
    position + 1 < end && bytes[position] == .colon && bytes[position + 1] == .colon
  }

  /// Returns the IPv4 address between two positions, four numbers to 255 without leading zeros; `nil`
  /// if it is none.
  static func ipv4(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> UInt32? {
    var address: UInt32 = 0
    var position = start
    for part in 0..<4 {
      if part > 0 {
        guard position < end, bytes[position] == .dot else { return nil }
        position += 1
      }
      let first = position
      var value: UInt32 = 0
      while position < end, position - first < 3, bytes[position].isDigit {
        value = value * 10 + UInt32(bytes[position] - 0x30)
        position += 1
      }
      guard position > first, value <= 255 else { return nil }
      if bytes[first] == 0x30, position - first > 1 { return nil }
      address = address << 8 | value
    }
    return position == end ? address : nil
  }
}
