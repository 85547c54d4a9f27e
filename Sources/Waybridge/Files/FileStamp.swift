import Glibc

/// Identifies one state of a file without reading it (stat).
///
/// It includes the time of the last change of content, owner or mode. So a file that was rejected
/// because of its mode is checked again after a chmod, and a file rewritten with old times is
/// noticed.
package struct FileStamp: Sendable, Hashable {
  /// The device that the file is on (st_dev).
  package var device: UInt64
  /// The file on its device (st_ino). It changes after a rename over the path, or if a symbolic
  /// link has a new target.
  package var inode: UInt64
  /// The size in bytes (st_size).
  package var size: Int64
  /// The time of the last write, in nanoseconds since 1970 (st_mtim).
  package var modified: Int64
  /// The time of the last change of content, owner or mode, in nanoseconds since 1970 (st_ctim).
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

  /// The state of the file at a path, following symbolic links; nil if there is none, or none that
  /// this process may access.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Decides when a polled file has to be read.
package struct FileChangeDetector: Sendable {
  /// The states of the last read and of the last poll; nil if the file was missing.
  private var lastRead: FileStamp?
  private var lastSeen: FileStamp?

  /// - Parameter lastRead: the state in which the file was read; nil if there was none.
  package init(lastRead: FileStamp?) {
    self.lastRead = lastRead
    lastSeen = lastRead
  }

  /// Whether to read the file now: its state differs from that of the last read, and is the same as
  /// at the last poll. So a program that empties and rewrites a file has until the next poll to
  /// continue.
  package mutating func isReadDue(_ found: FileStamp?) -> Bool {
    defer { lastSeen = found }
    return found != lastRead && found == lastSeen
  }

  /// Records that the file was read in this state; nil if it was missing.
  package mutating func recordRead(of state: FileStamp?) {
    lastRead = state
    lastSeen = state
  }
}
