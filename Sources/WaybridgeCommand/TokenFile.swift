import Foundation
import Glibc

/// A file that holds a secret on one line.
enum TokenFile {
  private static let maxLength = 16 << 10

  /// The token, without the end of its line.
  ///
  /// As with ssh's keys, a file that others than its owner have access to is refused; pipes are
  /// not, such as those of a shell's `<(…)`.
  static func read(_ path: String) throws(CommandError) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      throw CommandError(
        "The token file \(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    if status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw CommandError(
        "The token file \(path) is open to others than its owner (mode \(mode)): chmod 600 \(path)")
    }
    let data: Data
    do {
      data = try file.read(upToCount: maxLength + 1) ?? Data()
    } catch {
      throw CommandError("The token file \(path) cannot be read: \(error.localizedDescription)")
    }
    return try token(in: data, of: path)
  }

  private static func token(in data: Data, of path: String) throws(CommandError) -> String {
    guard data.count <= maxLength else {
      throw CommandError("The token file \(path) is longer than \(maxLength) bytes")
    }
    var bytes = data[...]
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else { throw CommandError("The token file \(path) is empty") }
    guard let token = String(validating: bytes, as: UTF8.self),
      token.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else {
      throw CommandError("The token file \(path) must hold one line of text, in UTF-8")
    }
    return token
  }
}
