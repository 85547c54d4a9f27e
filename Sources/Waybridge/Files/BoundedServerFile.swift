import Glibc

/// A file that is read as a whole. It is rejected if it is too long or, for a secret, if users
/// other than its owner may have accessed it.
package struct BoundedServerFile: Sendable {
  /// The result of reading a file.
  package struct FileContents: Sendable {
    package let bytes: [UInt8]
    /// The state of the file; nil if it changed while it was read.
    package let stamp: FileStamp?
  }

  package let path: String
  /// The largest size in bytes.
  package let limit: Int
  /// Whether only its owner may have access to it, and its owner must be the user of this process,
  /// or root. Like the check of ssh's keys, this applies to files, not to pipes such as those of a
  /// shell's `<(…)`.
  package let isPrivate: Bool
  /// Whether it must be a regular file, which can be read again.
  package let isRegular: Bool

  package init(_ path: String, limit: Int, isPrivate: Bool = false, isRegular: Bool = false) {
    self.path = path
    self.limit = limit
    self.isPrivate = isPrivate
    self.isRegular = isRegular
  }

  /// Reads the file. Blocks: do not call it on the thread of an event loop. Throws ``FileError``.
  package func read() throws(FileError) -> FileContents {
    // Opening a file that must be regular does not wait, in case it is a pipe without a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (isRegular ? O_NONBLOCK : 0))
    guard descriptor >= 0 else { throw readError(errno) }
    defer { close(descriptor) }
    let before = try status(of: descriptor)
    try check(before)
    let bytes = try contents(of: descriptor)
    let stamp = FileStamp(before)
    return FileContents(
      bytes: bytes, stamp: FileStamp(try status(of: descriptor)) == stamp ? stamp : nil)
  }

  private func status(of descriptor: Int32) throws(FileError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw readError(errno) }
    return status
  }

  private func check(_ status: stat) throws(FileError) {
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { throw readError(EISDIR) }
    guard kind == S_IFREG else {
      if isRegular { throw fileError("is not a regular file, so it cannot be watched for changes") }
      return
    }
    guard isPrivate else { return }
    if status.st_mode & 0o077 != 0 {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw fileError(
        "can be accessed by other users than its owner (mode \(mode)); run: chmod 600 \(path)")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw fileError(
        "belongs to the user \(status.st_uid), not to the server's user; run: chown \(geteuid()) "
          + path)
    }
  }

  private func contents(of descriptor: Int32) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit + 1, 64 << 10))
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += buffer[..<count]
        if bytes.count > limit { throw fileError("is longer than \(limit) bytes") }
      } else if errno != EINTR {
        throw readError(errno)
      }
    }
  }

  private func readError(_ code: Int32) -> FileError {
    fileError("cannot be read: \(String(cString: strerror(code)))")
  }

  private func fileError(_ reason: String) -> FileError { FileError(path: path, reason: reason) }
}

/// The reason why a file cannot be used. Contains nothing of the file's content.
package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  package let path: String
  /// The reason, as the end of a sentence that begins with the file's name: "is longer than 16
  /// bytes".
  package let reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String { "\(path) \(reason)" }
}
