import Glibc

/// The file by which programs connect to a Unix socket: of mode 0600 from the first moment on, and
/// gone when its server is.
struct UnixSocketFile {
  /// From the root on.
  let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Binds `descriptor` to the path and listens. A file that a dead server has left is taken over;
  /// one of a server that lives, and what is no socket, is an error.
  init(binding descriptor: Int32, to path: String) throws(SocketError) {
    self.path = path.hasPrefix("/") ? path : Self.currentFolder + "/" + path
    guard !path.isEmpty, var address = SystemSocketAddress(unixPath: self.path) else {
      throw SocketError(
        .invalid,
        "\(quoted(path)) is no path of a Unix socket: those have 1 to 107 bytes, from the root on")
    }
    // Two servers that start at once must not both take the file of a third for one that is dead.
    let folder = try Self.lockFolder(of: self.path)
    defer { if folder >= 0 { close(folder) } }
    // Linux makes the file with the mode of the socket.
    guard fchmod(descriptor, 0o600) == 0 else { throw SocketError.errno("fchmod", errno) }
    var bound = address.withPointer { bind(descriptor, $0, $1) }
    if bound != 0, errno == EADDRINUSE {
      try Self.removeDead(self.path, &address)
      bound = address.withPointer { bind(descriptor, $0, $1) }
    }
    guard bound == 0 else { throw SocketError.errno("cannot listen at \(self.path)", errno) }
    var status = stat()
    guard lstat(self.path, &status) == 0, status.st_mode & 0o777 == 0o600 else {
      unlink(self.path)
      throw SocketError(
        .system, "the socket \(self.path) is open to others than its owner; nothing is served")
    }
    device = status.st_dev
    inode = status.st_ino
    guard listen(descriptor, 1024) == 0 else {
      let code = errno
      unlink(self.path)
      throw SocketError.errno("listen", code)
    }
  }

  /// Removes the file, unless another stands at its place by now.
  func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }

  /// Where the folder cannot be opened there is no lock.
  private static func lockFolder(of path: String) throws(SocketError) -> Int32 {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let name = slash == path.startIndex ? "/" : String(path[..<slash])
    let folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return -1 }
    guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      close(folder)
      throw SocketError(
        .addressInUse, "another program holds the folder \(name) (flock); start again")
    }
    return folder
  }

  private static func removeDead(
    _ path: String, _ address: inout SystemSocketAddress
  ) throws(SocketError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SocketError(
        .addressInUse, "cannot listen at \(path): there is a file that is no socket")
    }
    let probe = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { throw SocketError.errno("socket", errno) }
    defer { close(probe) }
    guard address.withPointer({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED else {
      throw SocketError(
        .addressInUse, "cannot listen at \(path): another program does, or may not be asked")
    }
    unlink(path)
  }

  private static var currentFolder: String {
    guard let folder = getcwd(nil, 0) else { return "" }
    defer { free(folder) }
    return String(cString: folder)
  }
}
