import Waybridge

/// One encapsulated text of a PEM file (RFC 7468 §2).
struct PEMBlock {
  /// `PUBLIC KEY` of `-----BEGIN PUBLIC KEY-----`.
  let label: String
  /// What a line `kid: NAME` before it names it.
  let id: String?
  /// The block with its first and its last line.
  private(set) var text: String

  var isPrivate: Bool { label.hasSuffix("PRIVATE KEY") }

  /// The blocks of a file, in order. Lines outside of them are ignored, as the RFC asks, but those
  /// that name a key.
  static func all(in bytes: [UInt8], of path: String) throws(FileFault) -> [PEMBlock] {
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
        guard Token.isTaken(String(name)) else {
          throw FileFault(
            path: path, reason: "names a key (kid:) with no or more than \(Token.maxText) bytes")
        }
        id = String(name)
      }
    }
    guard open == nil else {
      throw FileFault(path: path, reason: "ends within a key: a line -----END … is missing")
    }
    return blocks
  }
}
