import Glibc

/// A regular file that is read, or written anew, in parts. Its methods block for the time of a disk.
package final class LocalFile: Sendable {
  private let path: String
  /// The path until ``commit()``, of a file that is written.
  private let temporaryPath: String?
  private let descriptor: Int32
  /// The size in bytes when the file was opened.
  package let size: Int

  /// Opens a file for reading.
  package init(reading path: String) throws(SocketError) {
    self.path = path
    temporaryPath = nil
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SocketError.errno("\(path) cannot be read", errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      Glibc.close(descriptor)
      throw SocketError(.invalid, "\(path) is not a regular file")
    }
    size = Int(status.st_size)
  }

  /// Creates a file that replaces the one at the path when it is complete.
  package init(replacing path: String) throws(SocketError) {
    self.path = path
    var template = Array((path + ".XXXXXX").utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SocketError.errno("\(path) cannot be written", errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    temporaryPath = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    size = 0
  }

  deinit {
    Glibc.close(descriptor)
    // Without effect after the file was renamed.
    if let temporaryPath { unlink(temporaryPath) }
  }

  /// Returns the bytes from an offset, `count` of them unless the file ends before.
  package func read(at offset: Int, count: Int) throws(SocketError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var part = [UInt8](repeating: 0, count: count - bytes.count)
      let length = pread(descriptor, &part, part.count, off_t(offset + bytes.count))
      if length < 0, errno == EINTR { continue }
      guard length >= 0 else { throw SocketError.errno("\(path) cannot be read", errno) }
      if length == 0 { break }
      bytes += part[..<length]
    }
    return bytes
  }

  /// Writes bytes at an offset.
  package func write(_ bytes: [UInt8], at offset: Int) throws(SocketError) {
    if let error = writeAll(bytes, to: descriptor, at: offset) {
      throw SocketError.errno("\(path) cannot be written", error)
    }
  }

  /// Gives the file that was written its path.
  package func commit() throws(SocketError) {
    guard let temporaryPath else { return }
    guard rename(temporaryPath, path) == 0 else {
      throw SocketError.errno("\(path) cannot be replaced", errno)
    }
  }
}

/// Writes all bytes at an offset of an open file. Returns the error number of the first failure; `nil` if
/// everything is written.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, at offset: Int) -> Int32? {
  var written = 0
  while written < bytes.count {
    let count = bytes.withUnsafeBytes { bytes in
      pwrite(
        descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
        off_t(offset + written))
    }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return count < 0 ? errno : EIO }
    written += count
  }
  return nil
}
