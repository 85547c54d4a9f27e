import WayTransport

/// The client that a proxy names (`node` of RFC 7239 §6).
enum SocketForwardedNode: Hashable, Sendable {
  case address(IPAddress)
  /// `unknown`, or a name that the proxy generated (`_…`).
  case obfuscated(String)

  /// Parses a node; a port is ignored.
  ///
  /// - Parameter mayBeBare: Whether an IPv6 address may be without brackets, as in
  ///   X-Forwarded-For.
  init?(_ text: String, mayBeBare: Bool) {
    if mayBeBare, let address = IPAddress(text) {
      self = .address(address)
      return
    }
    var name = text[...]
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      name = text[..<text.index(after: end)]
    } else if let colon = text.firstIndex(of: ":") {
      name = text[..<colon]
    }
    let rest = text[name.endIndex...]
    guard rest.isEmpty || rest.hasPrefix(":") && Self.isPort(rest.dropFirst()) else { return nil }
    if name.hasPrefix("[") {
      guard let address = IPAddress(String(name.dropFirst().dropLast())), name.contains(":") else {
        return nil
      }
      self = .address(address)
    } else if name.lowercased() == "unknown" || Self.isObfuscated(name) {
      self = .obfuscated(String(name))
    } else if let address = IPAddress(String(name)) {
      self = .address(address)
    } else {
      return nil
    }
  }

  /// The address or name in a ``Handshake``.
  var text: String {
    switch self {
    case .address(let address): address.description
    case .obfuscated(let name): name
    }
  }

  private static func isPort(_ text: Substring) -> Bool {
    isObfuscated(text)
      || (1...5).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Whether the text is an obfnode or obfport (RFC 7239 §6).
  private static func isObfuscated(_ text: Substring) -> Bool {
    (2...64).contains(text.utf8.count) && text.hasPrefix("_")
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
          || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
      }
  }
}
