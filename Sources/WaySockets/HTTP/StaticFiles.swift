import Glibc

/// The files of one folder. Nothing outside of the folder is reachable, neither by path nor by
/// symbolic link.
struct StaticFiles: Sendable {
  enum FileLookupResult {
    case file(ServedOpenFile)
    /// The path names a folder but lacks the final slash.
    case folder
    case missing
    /// The process has no free descriptor to open the file.
    case exhausted
  }

  /// The folder's real path (realpath), without a final slash.
  let root: String

  init(root: String) throws(SocketError) {
    guard let real = Self.realPath(root) else {
      throw SocketError.errno("the web folder \(root) cannot be opened", errno)
    }
    var status = stat()
    guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw SocketError(.invalid, "the web folder \(root) is not a folder")
    }
    self.root = real == "/" ? "" : real
  }

  /// Finds a file. `path` is percent-encoded and begins with a slash.
  func find(_ path: String) -> FileLookupResult {
    guard let segments = Self.segments(path) else { return .missing }
    let requested = root + segments.map { "/" + $0 }.joined()
    guard let real = Self.realPath(requested.isEmpty ? "/" : requested), isInside(real) else {
      return .missing
    }
    do throws(ServedOpenFile.OpenFileError) {
      let file = try ServedOpenFile(path: real)
      switch file.kind {
      case .folder:
        guard path.utf8.last == 0x2F else { return .folder }
        guard let index = Self.realPath(real + "/index.html"), isInside(index) else {
          return .missing
        }
        let page = try ServedOpenFile(path: index)
        return page.kind == .file ? .file(page) : .missing
      case .file:
        return path.utf8.last == 0x2F ? .missing : .file(file)
      case .other:
        return .missing
      }
    } catch {
      return error == .exhausted ? .exhausted : .missing
    }
  }

  /// Whether a real path is below the root and has no hidden component.
  private func isInside(_ real: String) -> Bool {
    if real == root { return true }
    guard real.utf8.starts(with: root.utf8) else { return false }
    let rest = real.utf8.dropFirst(root.utf8.count)
    guard rest.first == 0x2F else { return false }
    return !rest.split(separator: 0x2F).contains { $0.first == 0x2E }
  }

  /// The decoded components of a path. Returns `nil` if one is empty, hidden, `..` or not a file
  /// name.
  static func segments(_ path: String) -> [String]? {
    var segments: [String] = []
    var parts = path.utf8.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts.removeLast() }
    for part in parts {
      guard let bytes = percentDecoded(part), let first = bytes.first, first != 0x2E,
        bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x2F && $0 != 0x5C && $0 != 0x7F }),
        bytes.withUnsafeBytes(isUTF8)
      else { return nil }
      segments.append(String(decoding: bytes, as: UTF8.self))
    }
    return segments
  }

  /// Calls realpath.
  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}

/// Decodes percent-encoded bytes. Returns `nil` if a percent sign is not followed by two
/// hexadecimal digits.
func percentDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
  var bytes: [UInt8] = []
  var digits = 0
  var value: UInt8 = 0
  for byte in text {
    if digits > 0 {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x41 + 10
      case 0x61...0x66: digit = byte - 0x61 + 10
      default: return nil
      }
      value = value << 4 | digit
      digits -= 1
      if digits == 0 { bytes.append(value) }
    } else if byte == 0x25 {
      digits = 2
      value = 0
    } else {
      bytes.append(byte)
    }
  }
  return digits == 0 ? bytes : nil
}
