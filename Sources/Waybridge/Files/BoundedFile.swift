import Glibc

/// A file that is read as a whole, and is refused where it is too long or, if it holds a secret,
/// where others than its owner may have touched it.
package struct BoundedFile: Sendable {
  /// What a reading gives.
  package struct Reading: Sendable {
    package let bytes: [UInt8]
    /// The state that the file was in; nil where it changed while it was read.
    package let stamp: FileStamp?
  }

  package let path: String
  /// The most bytes that it may have.
  package let limit: Int
  /// Whether nobody but its owner may have access to it, and its owner must be the user that this
  /// process runs as, or root. As with ssh's keys this is asked of files, not of pipes such as
  /// those of a shell's `<(…)`.
  package let isPrivate: Bool
  /// Whether it must be a regular file, one that can be read again.
  package let isRegular: Bool

  package init(_ path: String, limit: Int, isPrivate: Bool = false, isRegular: Bool = false) {
    self.path = path
    self.limit = limit
    self.isPrivate = isPrivate
    self.isRegular = isRegular
  }

  /// Reads it, which blocks: not for the thread of an event loop. Throws ``FileFault``.
  package func read() throws(FileFault) -> Reading {
    // What must be regular is not waited for, should it be a pipe that nobody writes to.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (isRegular ? O_NONBLOCK : 0))
    guard descriptor >= 0 else { throw unreadable(errno) }
    defer { close(descriptor) }
    let before = try status(of: descriptor)
    try check(before)
    let bytes = try content(of: descriptor)
    let stamp = FileStamp(before)
    return Reading(
      bytes: bytes, stamp: FileStamp(try status(of: descriptor)) == stamp ? stamp : nil)
  }

  private func status(of descriptor: Int32) throws(FileFault) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
    return status
  }

  private func check(_ status: stat) throws(FileFault) {
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { throw unreadable(EISDIR) }
    guard kind == S_IFREG else {
      if isRegular { throw fault("is no regular file, so it cannot be read again") }
      return
    }
    guard isPrivate else { return }
    if status.st_mode & 0o077 != 0 {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw fault("is open to others than its owner (mode \(mode)): chmod 600 \(path)")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw fault(
        "belongs to the user \(status.st_uid), not to the one that reads it: chown \(geteuid()) "
          + path)
    }
  }

  private func content(of descriptor: Int32) throws(FileFault) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit + 1, 64 << 10))
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += buffer[..<count]
        if bytes.count > limit { throw fault("is longer than \(limit) bytes") }
      } else if errno != EINTR {
        throw unreadable(errno)
      }
    }
  }

  private func unreadable(_ code: Int32) -> FileFault {
    fault("cannot be read: \(String(cString: strerror(code)))")
  }

  private func fault(_ reason: String) -> FileFault { FileFault(path: path, reason: reason) }
}

/// Why a file cannot be taken. Tells nothing of what it holds.
package struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
  package let path: String
  /// To follow the file's name: "is longer than 16 bytes".
  package let reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String { "\(path) \(reason)" }
}
