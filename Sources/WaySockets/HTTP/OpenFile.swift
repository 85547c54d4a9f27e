import Glibc

/// A descriptor open for reading; closed with the last reference.
final class OpenFile {
  enum Kind {
    case file
    case folder
    case other
  }

  let kind: Kind
  let descriptor: Int32
  let size: Int
  /// Changes whenever the file does (RFC 9110 §8.8.3), quotation marks included.
  let entityTag: String
  let contentType: String

  /// `path` is real: its last part is no symbolic link (O_NOFOLLOW). Nil where it cannot be read.
  init?(path: String) {
    // A pipe without a writer would block without O_NONBLOCK.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      Glibc.close(descriptor)
      return nil
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
