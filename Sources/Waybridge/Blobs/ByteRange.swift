/// The bytes of a blob that a request asks for (RFC 9110 §14.2).
enum ByteRange: Hashable {
  /// All bytes: there is no Range header, or it is one that a server ignores.
  case all
  case part(Range<Int>)
  /// No byte of the range exists.
  case unsatisfiable

  /// Reads the values of the Range header of a request for a blob with a number of bytes. Several
  /// ranges count as none, as a server may decide.
  init(_ values: [String], size: Int) {
    self = .all
    guard values.count == 1, let value = values.first, value.hasPrefix("bytes="),
      !value.contains(",")
    else { return }
    let ends = value.dropFirst("bytes=".count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, let last?) where first <= last:
      self = first < size ? .part(first..<min(last + 1, size)) : .unsatisfiable
    case (let first?, nil) where ends[1].isEmpty:
      self = first < size ? .part(first..<size) : .unsatisfiable
    case (nil, let count?) where ends[0].isEmpty:
      self = count > 0 && size > 0 ? .part(max(size - count, 0)..<size) : .unsatisfiable
    default: break
    }
  }

  /// A decimal number of at most 18 digits.
  static func number(_ text: some StringProtocol) -> Int? {
    guard (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(text)
  }
}
