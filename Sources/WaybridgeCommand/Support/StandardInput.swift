import Glibc

/// The bytes of standard input, which may be a pipe, a file, a terminal or a socket.
enum StandardInput {
  private static let chunkSize = 64 << 10

  /// Reads the next bytes, at most as many as the buffer has; returns their number, 0 at the end.
  static func read(into buffer: inout [UInt8]) throws(CommandError) -> Int {
    while true {
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else {
        throw CommandError("standard input cannot be read: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Reads everything. Throws if the input is longer than `limit` bytes, without reading further.
  static func read(limit: Int) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: chunkSize)
    while true {
      let count = try read(into: &buffer)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      if bytes.count > limit {
        throw CommandError("standard input is longer than \(limit) bytes")
      }
    }
  }
}
