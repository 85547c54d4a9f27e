import FoundationEssentials

/// base64url without padding (RFC 7515 §2).
enum Base64URL {
  static func text(of bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Decodes a string; nil unless ``text(of:)`` of the bytes returns the same string, so that no
  /// bytes have two encodings (RFC 4648 §3.5).
  static func bytes(of text: Substring) -> [UInt8]? {
    let standard = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: standard + padding) else { return nil }
    let bytes = Array(data)
    return self.text(of: bytes) == text ? bytes : nil
  }
}
