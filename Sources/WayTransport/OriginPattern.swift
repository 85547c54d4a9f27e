/// Origins of web pages (RFC 6454), told as `scheme://host[:port]`: one, those with any port
/// (`http://localhost:*`), or those of one more label in front (`https://*.example.org`).
package struct OriginPattern: Sendable, Hashable {
  /// What an origin has to look like, for people.
  package static let expected =
    "give scheme://host or scheme://host:port, without a path; * stands for any port, or for one "
    + "label in front of the host; null for pages without an origin"

  private enum Port: Hashable {
    case any
    case number(Int)
  }

  private let scheme: String
  /// Without the label that stands for any.
  private let host: String
  private let hasAnyLabel: Bool
  private let port: Port

  /// Nil for what is no origin.
  package init?(_ text: String) {
    if text == "null" {
      (scheme, host, hasAnyLabel, port) = ("null", "", false, .any)
      return
    }
    guard let parts = Self.parts(of: text, allowingAny: true) else { return nil }
    scheme = parts.scheme
    port = parts.port
    hasAnyLabel = parts.host.hasPrefix("*.")
    host = hasAnyLabel ? String(parts.host.dropFirst()) : parts.host
    guard host != ".", !host.utf8.contains(UInt8(ascii: "*")) else { return nil }
  }

  /// Whether an origin is one of these, as the header Origin has it.
  package func covers(_ origin: String) -> Bool {
    if scheme == "null" || origin == "null" { return scheme == origin }
    guard let asked = Self.parts(of: origin, allowingAny: false), asked.scheme == scheme,
      port == .any || port == asked.port
    else { return false }
    guard hasAnyLabel else { return asked.host == host }
    guard asked.host.hasSuffix(host) else { return false }
    let label = asked.host.utf8.dropLast(host.utf8.count)
    return !label.isEmpty && !label.contains(UInt8(ascii: "."))
  }

  /// Scheme and host in lower case, and the port, also where it is the scheme's own.
  private static func parts(
    of text: String, allowingAny: Bool
  ) -> (scheme: String, host: String, port: Port)? {
    let bytes = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard text.utf8.count <= 512, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      bytes[colon...].starts(with: "://".utf8), !bytes[..<colon].isEmpty,
      bytes[..<colon].allSatisfy({ $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || isAlphanumeric($0) })
    else { return nil }
    let scheme = String(decoding: bytes[..<colon], as: UTF8.self)
    let rest = bytes[(colon + 3)...]
    let hostEnd: Int
    if rest.first == UInt8(ascii: "[") {
      guard let close = rest.firstIndex(of: UInt8(ascii: "]")),
        rest[(rest.startIndex + 1)..<close].allSatisfy({
          $0 == 0x3A || $0 == 0x2E || isAlphanumeric($0)
        })
      else { return nil }
      hostEnd = close + 1
    } else {
      hostEnd = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
      let isHost = rest[..<hostEnd].allSatisfy {
        $0 == 0x2D || $0 == 0x2E || $0 == 0x5F || isAlphanumeric($0)
          || (allowingAny && $0 == UInt8(ascii: "*"))
      }
      guard isHost else { return nil }
    }
    let host = String(decoding: rest[..<hostEnd], as: UTF8.self)
    guard !host.isEmpty else { return nil }
    let after = rest[hostEnd...]
    if after.isEmpty {
      let own = ["http": 80, "https": 443, "ws": 80, "wss": 443][scheme]
      return (scheme, host, .number(own ?? 0))
    }
    let digits = after.dropFirst()
    if allowingAny, digits.elementsEqual("*".utf8) { return (scheme, host, .any) }
    guard after.first == UInt8(ascii: ":"), (1...5).contains(digits.count),
      digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(String(decoding: digits, as: UTF8.self)), number <= 65_535
    else { return nil }
    return (scheme, host, .number(number))
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
