import Glibc

/// Standard output, a line at a time, buffered until it is flushed.
struct Output {
  private static let flushThreshold = 64 << 10
  private var bytes: [UInt8] = []

  /// Appends a line; a large buffer is flushed at once.
  mutating func appendLine(_ text: String) throws(CommandError) {
    try self.append(text + "\n")
  }

  /// Appends a string without a line ending.
  mutating func append(_ text: String) throws(CommandError) {
    bytes += text.utf8
    if bytes.count >= Self.flushThreshold { try flush() }
  }

  /// Writes the buffer. Throws if the output has no reader any longer.
  mutating func flush() throws(CommandError) {
    while !bytes.isEmpty {
      let count = write(STDOUT_FILENO, bytes, bytes.count)
      if count >= 0 {
        bytes.removeFirst(count)
      } else if errno != EINTR {
        throw CommandError("standard output cannot be written: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Writes a line to standard error, after earlier lines of standard output.
  mutating func printError(_ text: String) throws(CommandError) {
    try flush()
    Self.printError(text)
  }

  /// Writes a line to standard error.
  static func printError(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
