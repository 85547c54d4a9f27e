import Glibc

/// What goes to standard output, a line at a time, held back until it is flushed.
struct Output {
  private static let held = 64 << 10
  private var bytes: [UInt8] = []

  /// Adds a line; what has become much is written at once.
  mutating func line(_ text: String) throws(CommandError) {
    try self.text(text + "\n")
  }

  /// Adds a text that ends no line.
  mutating func text(_ text: String) throws(CommandError) {
    bytes += text.utf8
    if bytes.count >= Self.held { try flush() }
  }

  /// Writes all that is held. Throws when nobody reads any longer.
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

  /// Writes a line to standard error, after what came before it on standard output.
  mutating func tell(_ text: String) throws(CommandError) {
    try flush()
    Self.tell(text)
  }

  /// Writes a line to standard error.
  static func tell(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
