import Glibc

/// A descriptor open for reading. It is closed with the last reference.
final class ServedOpenFile {
  enum OpenFileKind {
    case file
    case folder
    case other
  }

  enum OpenFileError: Error {
    case unreadable
    /// The process or the machine has no free descriptor.
    case exhausted
  }

  let kind: OpenFileKind
  private let path: String
  let descriptor: Int32
  let size: Int
  /// Changes whenever the file does (RFC 9110 §8.8.3). Includes the quotation marks.
  let entityTag: String
  let contentType: String
  /// Nanoseconds since 1970.
  private let changed: UInt64

  /// Opens a real path: its last component is not a symbolic link (O_NOFOLLOW).
  init(path: String) throws(OpenFileError) {
    self.path = path
    // Without O_NONBLOCK, opening a pipe without a writer would block.
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
    changed =
      UInt64(bitPattern: Int64(status.st_mtim.tv_sec)) &* 1_000_000_000
      &+ UInt64(bitPattern: Int64(status.st_mtim.tv_nsec))
    entityTag = "\"\(String(size, radix: 16))-\(String(changed, radix: 16))\""
    contentType = ContentType.of(path)
  }

  /// The file's compressed form, which is a file beside it, in the first of these codings that
  /// exists. A form older than the file is ignored: its content may differ.
  func compressed(in codings: [ContentCoding]) -> (file: ServedOpenFile, coding: ContentCoding)? {
    for coding in codings {
      if let file = try? ServedOpenFile(path: path + coding.fileNameSuffix), file.kind == .file,
        file.changed >= changed
      {
        return (file, coding)
      }
    }
    return nil
  }

  deinit {
    if descriptor >= 0 { Glibc.close(descriptor) }
  }
}
