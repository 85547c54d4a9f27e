import Glibc

/// Sends one answer, as fast as the socket takes it.
struct ResponseWriter {
  enum State {
    case done
    /// The socket takes no more for now.
    case waiting
    /// The socket, or the file that is sent, has failed.
    case failed
  }

  /// Bytes of a file that are sent in one turn of the loop.
  private static let fileTurn = 1024 * 1024

  private let descriptor: Int32
  private let bytes: [UInt8]
  private var written = 0
  private let file: ServedOpenFile?
  private var fileOffset: off_t = 0
  /// How often the socket has taken something.
  private(set) var progress = 0

  /// `file` follows the bytes.
  init(_ descriptor: Int32, _ bytes: [UInt8], then file: ServedOpenFile?) {
    self.descriptor = descriptor
    self.bytes = bytes
    self.file = file
  }

  mutating func write() -> State {
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        send(
          descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
          Int32(MSG_NOSIGNAL))
      }
      guard took(count) else { return isBusy(count) ? .waiting : .failed }
      written += count
    }
    guard let file else { return .done }
    var turn = Self.fileTurn
    while fileOffset < file.size {
      guard turn > 0 else { return .waiting }
      // It has no way to ask for no SIGPIPE; lws has that signal ignored (lws_plat_init).
      let count = sendfile(
        descriptor, file.descriptor, &fileOffset, min(turn, file.size - Int(fileOffset)))
      // A file that has shrunk cannot be sent as long as it was announced.
      guard took(count) else { return isBusy(count) ? .waiting : .failed }
      turn -= count
    }
    return .done
  }

  private mutating func took(_ count: Int) -> Bool {
    if count > 0 { progress += 1 }
    return count > 0
  }

  /// Whether the socket may take more later.
  private func isBusy(_ count: Int) -> Bool {
    count < 0 && (errno == EAGAIN || errno == EINTR)
  }
}
