/// The lines of standard input, as many at a time as have come: who types is answered after every
/// line, and a file is read in large pieces.
struct InputLines {
  /// Bytes that are kept of one line.
  static let maxLine = 2 << 20

  private static let chunk = 64 << 10
  private var buffer = [UInt8](repeating: 0, count: chunk)
  private var line: [UInt8] = []
  private var isAtEnd = false

  /// The next lines, at least one, without their ends (LF or CRLF); nil at the end of the input.
  ///
  /// Bytes that are not UTF-8 become U+FFFD, which no URI holds. Of a line beyond ``maxLine`` the
  /// rest is left out.
  mutating func next() throws(CommandError) -> [String]? {
    var lines: [String] = []
    while lines.isEmpty, !isAtEnd {
      let count = try StandardInput.read(into: &buffer)
      var rest = buffer[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        append(rest[..<end])
        rest = rest[(end + 1)...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        lines.append(takeLine())
      }
      append(rest)
      isAtEnd = count == 0
    }
    if isAtEnd, !line.isEmpty { lines.append(takeLine()) }
    return lines.isEmpty ? nil : lines
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    line += bytes.prefix(Self.maxLine - line.count)
  }

  private mutating func takeLine() -> String {
    defer { line.removeAll(keepingCapacity: line.count <= Self.chunk) }
    return String(decoding: line, as: UTF8.self)
  }
}
