/// The subject of a session's log. A name in it has letters, digits and `-`, `_` only; any other
/// byte of an id is `=` and two hex digits.
enum Subject {
  private static let prefix = "waybridge.session."
  /// Those of all sessions.
  static let all = prefix + "*"

  static func of(_ session: String) -> String {
    var text = prefix
    for byte in session.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text
  }

  /// The id of a session; nil for another subject.
  static func session(_ subject: String) -> String? {
    guard subject.hasPrefix(prefix) else { return nil }
    var bytes: [UInt8] = []
    var rest = subject.utf8.dropFirst(prefix.utf8.count)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "=") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
