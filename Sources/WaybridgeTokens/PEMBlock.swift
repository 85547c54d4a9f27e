import Waybridge

/// One encapsulated block of a PEM file (RFC 7468 §2).
struct PEMBlock {
  /// The label, for example `PUBLIC KEY` of `-----BEGIN PUBLIC KEY-----`.
  let label: String
  /// The key id from a line `kid: NAME` before the block.
  let id: String?
  /// The block, including its first and its last line.
  private(set) var text: String

  var isPrivate: Bool { label.hasSuffix("PRIVATE KEY") }

  /// The blocks of a file, in order. Other lines are ignored, as the RFC requires, except those
  /// with a key id.
  static func all(in bytes: [UInt8], of path: String) throws(FileError) -> [PEMBlock] {
    var blocks: [PEMBlock] = []
    var open: PEMBlock?
    var id: String?
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      if open != nil {
        open?.text += "\(line)\n"
        guard let block = open, line == "-----END \(block.label)-----" else { continue }
        blocks.append(block)
        open = nil
      } else if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
        let label = String(line.dropFirst(11).dropLast(5))
        open = PEMBlock(label: label, id: id, text: "\(line)\n")
        id = nil
      } else if line.hasPrefix("kid:") {
        let name = line.dropFirst(4).drop(while: \.isWhitespace)
        guard Token.isValidText(String(name)) else {
          throw FileError(
            path: path,
            reason: "has a key name (kid:) that is empty or longer than \(Token.maxTextBytes) bytes"
          )
        }
        id = String(name)
      }
    }
    guard open == nil else {
      throw FileError(path: path, reason: "ends within a key; a line -----END … is missing")
    }
    return blocks
  }
}
