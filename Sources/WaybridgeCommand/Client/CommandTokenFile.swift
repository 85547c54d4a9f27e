import Waybridge

/// A file with a secret on one line.
enum CommandTokenFile {
  /// Reads the token, without the line ending.
  ///
  /// A file that users other than its owner can access is rejected. Pipes are accepted, such as
  /// those of a shell's `<(…)`.
  static func read(_ path: String) throws(CommandError) -> String {
    let file = BoundedServerFile(path, limit: 16 << 10, isPrivate: true)
    do throws(FileError) {
      return try token(in: try file.read().bytes, of: path)
    } catch {
      throw CommandError("the token file \(error)")
    }
  }

  private static func token(in bytes: [UInt8], of path: String) throws(FileError) -> String {
    var bytes = bytes[...]
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else { throw FileError(path: path, reason: "is empty") }
    guard let token = String(validating: bytes, as: UTF8.self),
      token.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw FileError(path: path, reason: "must contain one line of text, in UTF-8") }
    return token
  }
}
