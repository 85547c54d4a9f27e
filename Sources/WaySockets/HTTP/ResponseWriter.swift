import Glibc

/// Sends one response, as fast as the socket accepts it.
struct ResponseWriter {
  enum WriteStatus {
    case done
    /// The socket accepts no more data now.
    case blocked
    /// The socket, or the file being sent, has failed.
    case failed
  }

  /// Maximum number of bytes of a file to send in one turn of the loop.
  private static let fileBytesPerTurn = 1024 * 1024

  private let descriptor: Int32
  private let bytes: [UInt8]
  private var written = 0
  private let file: ServedOpenFile?
  private var fileOffset: off_t
  /// The offset in the file at which the response ends.
  private let fileEnd: Int
  /// Number of successful writes to the socket.
  private(set) var progress = 0

  /// Creates a writer that sends `bytes`, then the file, or these bytes of it.
  init(
    _ descriptor: Int32, _ bytes: [UInt8], then file: ServedOpenFile?,
    fileBytes: Range<Int>? = nil
  ) {
    self.descriptor = descriptor
    self.bytes = bytes
    self.file = file
    fileOffset = off_t(fileBytes?.lowerBound ?? 0)
    fileEnd = fileBytes?.upperBound ?? file?.size ?? 0
  }

  mutating func write() -> WriteStatus {
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        send(
          descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
          Int32(MSG_NOSIGNAL))
      }
      guard recordProgress(count) else { return isBusy(count) ? .blocked : .failed }
      written += count
    }
    guard let file else { return .done }
    var turn = Self.fileBytesPerTurn
    while fileOffset < fileEnd {
      guard turn > 0 else { return .blocked }
      // sendfile has no MSG_NOSIGNAL; lws ignores SIGPIPE (lws_plat_init).
      let count = sendfile(
        descriptor, file.descriptor, &fileOffset, min(turn, fileEnd - Int(fileOffset)))
      // A file that has shrunk is shorter than the Content-Length sent.
      guard recordProgress(count) else { return isBusy(count) ? .blocked : .failed }
      turn -= count
    }
    return .done
  }

  private mutating func recordProgress(_ count: Int) -> Bool {
    if count > 0 { progress += 1 }
    return count > 0
  }

  /// Whether the socket may accept more data later.
  private func isBusy(_ count: Int) -> Bool {
    count < 0 && (errno == EAGAIN || errno == EINTR)
  }
}
