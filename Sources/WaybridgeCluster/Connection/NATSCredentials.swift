import WayCrypto
import Waybridge

/// The credentials of a NATS user: a JWT, and the key that signs what the nats-server sends.
///
/// Source: https://docs.nats.io/using-nats/developer/connecting/creds
struct NATSCredentials: Sendable {
  let token: String
  let key: SigningKey

  /// Parses the text of a `.creds` file: two parts, each between two header lines, whose texts do not
  /// matter. Like NATS's own tools, it ignores everything else.
  init(_ text: String) throws(InvalidCredentials) {
    var parts: [Substring] = []
    var isInPart = false
    for line in text.split(whereSeparator: \.isNewline) {
      if Self.isHeader(line) {
        isInPart = !isInPart
      } else if isInPart, let part = line.split(separator: " ").first {
        parts.append(part)
      }
    }
    guard let token = parts.first, token.split(separator: ".").count == 3 else {
      throw InvalidCredentials(reason: "contains no JWT of a NATS user")
    }
    guard parts.count >= 2, let key = NATSKeySeed.userKey(parts[1]) else {
      throw InvalidCredentials(reason: "contains no valid seed of a NATS user's key")
    }
    self.token = String(token)
    self.key = key
  }

  /// Whether a line begins or ends a part: it has three dashes at its end, and three before.
  private static func isHeader(_ line: Substring) -> Bool {
    let trimmed = line.drop { $0 == " " || $0 == "\u{FEFF}" }
    return trimmed.utf8.count >= 6 && trimmed.hasPrefix("---") && trimmed.hasSuffix("---")
  }

  /// The reason why a file does not contain credentials.
  struct InvalidCredentials: Error {
    let reason: String
  }
}

/// The textual form of a seed of NATS's keys.
///
/// Source: https://github.com/nats-io/nkeys
private enum NATSKeySeed {
  /// The first bits of a seed, and of the key of a user.
  private static let seedPrefix: UInt8 = 18 << 3
  private static let userPrefix: UInt8 = 20 << 3

  /// Returns the key of a user; nil if the text is not its seed.
  static func userKey(_ text: some StringProtocol) -> SigningKey? {
    guard let bytes = decode(text), bytes.count == SigningKey.seedLength + 4,
      bytes[0] & 0xF8 == seedPrefix, bytes[0] << 5 | bytes[1] >> 3 == userPrefix
    else { return nil }
    let checksum = UInt16(bytes[bytes.count - 2]) | UInt16(bytes[bytes.count - 1]) << 8
    let content = bytes.dropLast(2)
    guard crc(of: content) == checksum else { return nil }
    return SigningKey(seed: Array(content.dropFirst(2)))
  }

  /// Decodes base 32 without padding (RFC 4648 §6).
  private static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt16 = 0
    var bitCount = 0
    for character in text.utf8 {
      let value: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
      case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
      default: return nil
      }
      buffer = buffer << 5 | UInt16(value)
      bitCount += 5
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> bitCount))
      }
    }
    // The last character has no other bits, so that each seed has one spelling.
    return bitCount < 5 && buffer & (1 << bitCount - 1) == 0 ? bytes : nil
  }

  /// The checksum CRC-16/XMODEM.
  private static func crc(of bytes: some Sequence<UInt8>) -> UInt16 {
    bytes.reduce(0) { checksum, byte in
      (0..<8).reduce(checksum ^ UInt16(byte) << 8) { checksum, _ in
        checksum & 0x8000 == 0 ? checksum << 1 : checksum << 1 ^ 0x1021
      }
    }
  }
}
