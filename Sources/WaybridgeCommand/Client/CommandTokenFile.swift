import Waybridge

/// A file that holds a secret on one line.
enum CommandTokenFile {
  /// The token, without the end of its line.
  ///
  /// A file that others than its owner have access to is refused; pipes are not, such as those of a
  /// shell's `<(…)`.
  static func read(_ path: String) throws(CommandError) -> String {
    let file = BoundedFile(path, limit: 16 << 10, isPrivate: true)
    do throws(FileFault) {
      return try token(in: try file.read().bytes, of: path)
    } catch {
      throw CommandError("The token file \(error)")
    }
  }

  private static func token(in bytes: [UInt8], of path: String) throws(FileFault) -> String {
    var bytes = bytes[...]
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty else { throw FileFault(path: path, reason: "is empty") }
    guard let token = String(validating: bytes, as: UTF8.self),
      token.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw FileFault(path: path, reason: "must hold one line of text, in UTF-8") }
    return token
  }
}
