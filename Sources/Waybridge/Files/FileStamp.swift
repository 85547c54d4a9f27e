import Glibc

/// What tells one state of a file from another without reading it (stat).
///
/// The time of the last change of content, owner or mode is a part of it: a file that was refused
/// for its mode is looked at again after a chmod, and one that is rewritten with the times of
/// another is not overlooked.
package struct FileStamp: Sendable, Hashable {
  /// The device that the file is on (st_dev).
  package var device: UInt64
  /// The file on its device (st_ino): another one after a rename over the path, or where a symbolic
  /// link leads elsewhere.
  package var inode: UInt64
  /// Bytes (st_size).
  package var size: Int64
  /// When the content was last written, in nanoseconds since 1970 (st_mtim).
  package var modified: Int64
  /// When content, owner or mode last changed, in nanoseconds since 1970 (st_ctim).
  package var changed: Int64

  package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }

  init(_ status: stat) {
    self.init(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: Self.nanoseconds(status.st_mtim), changed: Self.nanoseconds(status.st_ctim))
  }

  /// The state of what a path leads to, symbolic links followed; nil where that is nothing, or
  /// nothing that this process may look at.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// When a file that is looked at again and again is to be read.
package struct FileChangeDetector: Sendable {
  /// What was read last, and what the last look found; nil is a file that is not there.
  private var read: FileStamp?
  private var seen: FileStamp?

  /// - Parameter read: the state in which the file was read; nil where there was none.
  package init(read: FileStamp?) {
    self.read = read
    seen = read
  }

  /// Whether the file is to be read now: it is in another state than when it was read, and was in
  /// that state at the last look already. So who empties and rewrites a file has until the next
  /// look to go on.
  package mutating func isDue(_ found: FileStamp?) -> Bool {
    defer { seen = found }
    return found != read && found == seen
  }

  /// The file was read in this state, or was found not to be there.
  package mutating func wasRead(in state: FileStamp?) {
    read = state
    seen = state
  }
}
