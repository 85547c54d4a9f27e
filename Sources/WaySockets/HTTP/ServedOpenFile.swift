import Glibc

/// A descriptor open for reading; closed with the last reference.
final class ServedOpenFile {
  enum Kind {
    case file
    case folder
    case other
  }

  enum Failure: Error {
    case unreadable
    /// The process or the machine has no descriptor left.
    case exhausted
  }

  let kind: Kind
  let descriptor: Int32
  let size: Int
  /// Changes whenever the file does (RFC 9110 §8.8.3), quotation marks included.
  let entityTag: String
  let contentType: String

  /// `path` is real: its last part is no symbolic link (O_NOFOLLOW).
  init(path: String) throws(Failure) {
    // A pipe without a writer would block without O_NONBLOCK.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw errno == EMFILE || errno == ENFILE || errno == ENOMEM ? .exhausted : .unreadable
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      Glibc.close(descriptor)
      throw .unreadable
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .folder
    default: kind = .other
    }
    size = Int(status.st_size)
    let changed =
      UInt64(bitPattern: Int64(status.st_mtim.tv_sec)) &* 1_000_000_000
      &+ UInt64(bitPattern: Int64(status.st_mtim.tv_nsec))
    entityTag = "\"\(String(size, radix: 16))-\(String(changed, radix: 16))\""
    contentType = ContentType.of(path)
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }
}
