import Glibc

/// The file of a Unix socket. It has mode 0600 from its creation on, and is removed with its
/// server.
struct UnixSocketFile {
  /// The absolute path.
  let path: String
  private let device: dev_t
  private let inode: ino_t

  /// Binds `descriptor` to the path and listens. Replaces the file of a server that has died.
  /// Throws for a file of a live server, and for a file that is not a socket.
  init(binding descriptor: Int32, to path: String) throws(SocketError) {
    self.path = path.hasPrefix("/") ? path : Self.currentFolder + "/" + path
    guard !path.isEmpty, var address = SystemSocketAddress(unixPath: self.path) else {
      throw SocketError(
        .invalid,
        "\(quoted(path)) is not a path of a Unix socket: the absolute path must have 1 to 107 bytes"
      )
    }
    // Two servers that start at once must not both replace the file of a dead one.
    let folder = try Self.lockFolder(of: self.path)
    defer { if folder >= 0 { close(folder) } }
    // Linux creates the file with the mode of the socket.
    guard fchmod(descriptor, 0o600) == 0 else { throw SocketError.errno("fchmod", errno) }
    var bound = address.withPointer { bind(descriptor, $0, $1) }
    if bound != 0, errno == EADDRINUSE {
      try Self.removeStale(self.path, &address)
      bound = address.withPointer { bind(descriptor, $0, $1) }
    }
    guard bound == 0 else { throw SocketError.errno("cannot listen at \(self.path)", errno) }
    var status = stat()
    guard lstat(self.path, &status) == 0, status.st_mode & 0o777 == 0o600 else {
      unlink(self.path)
      throw SocketError(
        .system, "other users can access the socket \(self.path); the server does not start")
    }
    device = status.st_dev
    inode = status.st_ino
    guard listen(descriptor, 1024) == 0 else {
      let code = errno
      unlink(self.path)
      throw SocketError.errno("listen", code)
    }
  }

  /// Removes the file, unless another file has replaced it.
  func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }

  /// Locks the folder of the path (flock). Returns -1, without a lock, if the folder cannot be
  /// opened.
  private static func lockFolder(of path: String) throws(SocketError) -> Int32 {
    let slash = path.lastIndex(of: "/") ?? path.startIndex
    let name = slash == path.startIndex ? "/" : String(path[..<slash])
    let folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return -1 }
    guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      close(folder)
      throw SocketError(
        .addressInUse, "another program has locked the folder \(name); try again")
    }
    return folder
  }

  private static func removeStale(
    _ path: String, _ address: inout SystemSocketAddress
  ) throws(SocketError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SocketError(
        .addressInUse, "cannot listen at \(path): a file that is not a socket has this path")
    }
    let probe = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { throw SocketError.errno("socket", errno) }
    defer { close(probe) }
    guard address.withPointer({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED else {
      throw SocketError(
        .addressInUse,
        "cannot listen at \(path): another program uses the socket, or it cannot be checked")
    }
    unlink(path)
  }

  private static var currentFolder: String {
    guard let folder = getcwd(nil, 0) else { return "" }
    defer { free(folder) }
    return String(cString: folder)
  }
}
