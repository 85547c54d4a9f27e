import Glibc

/// A private folder of files that a server writes in parts. Its methods block: do not call them on
/// the thread of an event loop.
package final class DataFolder: Sendable {
  /// The error of a file that cannot be written or read.
  package struct DataFolderError: Error, CustomStringConvertible {
    package let description: String
    /// Whether the disk, or the quota of the server's user, is full.
    package let isFull: Bool

    fileprivate init(_ action: String, _ name: String, _ code: Int32) {
      description = "\(name) cannot be \(action): \(String(cString: strerror(code)))"
      isFull = code == ENOSPC || code == EDQUOT
    }
  }

  package let path: String
  private let isTemporary: Bool
  /// Open, and locked until ``close()``.
  private let lock: Int32

  /// Opens a folder for this process alone; creates it if it is missing.
  package init(path: String) throws(SocketError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw SocketError.errno("the folder \(path) cannot be created", errno)
    }
    self.path = path
    isTemporary = false
    lock = try Self.lock(path)
  }

  /// Creates a folder that ``close()`` removes.
  private init(temporary path: String) throws(SocketError) {
    self.path = path
    isTemporary = true
    lock = try Self.lock(path)
  }

  /// Creates a folder below the system's folder for temporary files, which ``close()`` removes.
  package static func temporary(named prefix: String) throws(SocketError) -> DataFolder {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((parent + "/" + prefix + "-XXXXXX").utf8CString)
    guard let created = mkdtemp(&template) else {
      throw SocketError.errno("no folder can be created in \(parent)", errno)
    }
    return try DataFolder(temporary: String(cString: created))
  }

  private static func lock(_ path: String) throws(SocketError) -> Int32 {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw SocketError(.invalid, "\(path) is not a folder")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw SocketError(
        .invalid,
        "the folder \(path) can be accessed by other users; it must belong to the server's user and "
          + "have the mode 700")
    }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw SocketError.errno("the folder \(path) cannot be opened", errno)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      Glibc.close(descriptor)
      throw SocketError(.addressInUse, "another server uses the folder \(path)")
    }
    return descriptor
  }

  deinit { Glibc.close(lock) }

  /// Lets others use the folder, and removes a temporary one with its files.
  package func close() {
    if isTemporary {
      for name in names() { remove(name) }
      rmdir(path)
    }
    flock(lock, LOCK_UN)
  }

  /// The path of a file.
  package func path(of name: String) -> String { path + "/" + name }

  /// The names of all files, in no order.
  package func names() -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// The size of a file in bytes; `nil` if there is no regular file of this name.
  package func size(of name: String) -> Int? {
    var status = stat()
    guard lstat(path(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return Int(status.st_size)
  }

  /// Writes bytes at an offset of a file, which is created if it is missing.
  package func write(_ bytes: [UInt8], to name: String, at offset: Int) throws(DataFolderError) {
    try withFile(name, O_WRONLY | O_CREAT, "written") { descriptor throws(DataFolderError) in
      if let error = writeAll(bytes, to: descriptor, at: offset) {
        throw DataFolderError("written", name, error)
      }
    }
  }

  /// Shortens a file to a size, and waits until its content is on the disk.
  package func finish(_ name: String, size: Int) throws(DataFolderError) {
    try withFile(name, O_WRONLY | O_CREAT, "written") { descriptor throws(DataFolderError) in
      guard ftruncate(descriptor, off_t(size)) == 0, fdatasync(descriptor) == 0 else {
        throw DataFolderError("written", name, errno)
      }
    }
  }

  /// Returns at most `count` bytes of a file from an offset; none at its end.
  package func read(
    _ name: String, at offset: Int, count: Int
  ) throws(DataFolderError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try withFile(name, O_RDONLY, "read") { descriptor throws(DataFolderError) in
      var length = -1
      repeat {
        length = pread(descriptor, &bytes, count, off_t(offset))
      } while length < 0
        && errno == EINTR
      guard length >= 0 else { throw DataFolderError("read", name, errno) }
      bytes.removeLast(count - length)
    }
    return bytes
  }

  /// Replaces a file as a whole: after a crash it has its former or its new content.
  package func replace(_ name: String, with bytes: [UInt8]) throws(DataFolderError) {
    let temporary = name + ".new"
    try write(bytes, to: temporary, at: 0)
    try finish(temporary, size: bytes.count)
    guard rename(path(of: temporary), path(of: name)) == 0 else {
      throw DataFolderError("replaced", name, errno)
    }
  }

  /// Removes a file, if it exists.
  package func remove(_ name: String) { unlink(path(of: name)) }

  private func withFile(
    _ name: String, _ flags: Int32, _ action: String,
    _ body: (Int32) throws(DataFolderError) -> Void
  ) throws(DataFolderError) {
    let descriptor = open(path(of: name), flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw DataFolderError(action, name, errno) }
    defer { Glibc.close(descriptor) }
    try body(descriptor)
  }
}
