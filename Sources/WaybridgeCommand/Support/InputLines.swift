/// The lines of standard input, as many at a time as are available: an interactive user gets a
/// response after every line, and a file is read in large chunks.
struct InputLines {
  /// The largest length of a line in bytes.
  static let maxLine = 2 << 20

  private static let chunkSize = 64 << 10
  private var buffer = [UInt8](repeating: 0, count: chunkSize)
  private var line: [UInt8] = []
  private var isAtEnd = false

  /// Returns the next lines, at least one, without their line endings (LF or CRLF); nil at the end
  /// of the input.
  ///
  /// Bytes that are not UTF-8 become U+FFFD, which no URI contains. A line beyond ``maxLine`` is
  /// truncated.
  mutating func next() throws(CommandError) -> [String]? {
    var lines: [String] = []
    while lines.isEmpty, !isAtEnd {
      let count = try StandardInput.read(into: &buffer)
      var rest = buffer[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        append(rest[..<end])
        rest = rest[(end + 1)...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        lines.append(consumeLine())
      }
      append(rest)
      isAtEnd = count == 0
    }
    if isAtEnd, !line.isEmpty { lines.append(consumeLine()) }
    return lines.isEmpty ? nil : lines
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    line += bytes.prefix(Self.maxLine - line.count)
  }

  private mutating func consumeLine() -> String {
    defer { line.removeAll(keepingCapacity: line.count <= Self.chunkSize) }
    return String(decoding: line, as: UTF8.self)
  }
}
