extension RouteURI {
  /// The default ports of the schemes whose URLs have a network host (URL Standard, special schemes).
  private static let defaultPorts: [String: Int32] = [
    "http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21,
  ]

  /// The default port of a scheme whose URLs have a network host; `nil` for another scheme.
  static func defaultPort(of scheme: String) -> Int32? {
    scheme.utf8.count <= 5 ? defaultPorts[scheme.lowercased()] : nil
  }

  /// Whether browsers parse URIs of a scheme (URL Standard, special schemes).
  static func isBrowserScheme(_ scheme: String) -> Bool {
    defaultPort(of: scheme) != nil || scheme.lowercased() == "file"
  }

  /// Returns the one spelling that stands for all URLs of a network host that open the same: without
  /// a default or empty port (RFC 3986 §6.2.3) and the dots after the host, with a path, and with
  /// the host as ``WebHost`` writes it. A URI of another scheme stays unchanged.
  ///
  /// Throws ``RouteURIError/URIErrorReason/noHost`` without a host, as in `https:bank.example`,
  /// which browsers read as `https://bank.example`. Throws
  /// ``RouteURIError/URIErrorReason/badHost`` for a host that browsers read as another one.
  func webNormalForm() throws(RouteURIError) -> RouteURI {
    guard let scheme, let defaultPort = Self.defaultPort(of: scheme) else { return self }
    guard let host, !host.isEmpty else {
      throw RouteURIError(.noHost, at: Int(parts.schemeEnd) + 1)
    }
    guard let name = WebHost.normalForm(of: host) else {
      throw RouteURIError(.badHost, at: Int(parts.hostStart))
    }
    let port = parts.port < 0 || parts.port == defaultPort ? "" : ":\(parts.port)"
    let start = slice(0, Int(parts.hostStart))
    let path = parts.pathStart == parts.pathEnd ? "/" : ""
    let normal = start + name + port + path + slice(Int(parts.pathStart), text.utf8.count)
    return normal == text ? self : try RouteURI(normal)
  }
}

/// The host of a URL (URL Standard, host parsing), restricted to hosts that need no table of Unicode:
/// names beyond ASCII are rejected, because browsers map them to other names.
enum WebHost {
  /// Returns a host without triplets and without dots at its end, an IPv6 address as in RFC 5952;
  /// `nil` for a host that is no name and no address in its usual form, such as `0x7f.1`.
  static func normalForm(of host: String) -> String? {
    if host.utf8.first == UInt8(ascii: "[") { return ipv6(host) }
    guard var name = decoded(host) else { return nil }
    while name.utf8.last == .dot { name.removeLast() }
    guard !name.isEmpty else { return nil }
    let label =
      name.utf8.lastIndex(of: .dot).map { name[name.utf8.index(after: $0)...] } ?? name[...]
    guard isNumber(label) else { return name }
    let bytes = name.utf8.span
    return URIHostLiteral.ipv4(bytes, 0, bytes.count) == nil ? nil : name
  }

  /// Returns a name without triplets; `nil` if it has bytes that a name has not.
  private static func decoded(_ host: String) -> String? {
    let bytes = host.utf8.span
    var result: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let isTriplet = bytes[position] == .percent
      let byte = isTriplet ? bytes.percentDecodedByte(at: position) : bytes[position]
      guard URIByteSet.name.contains(byte) else { return nil }
      result.append(byte)
      position += isTriplet ? 3 : 1
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether browsers read a name that ends with this label as an IPv4 address.
  private static func isNumber(_ label: Substring) -> Bool {
    let bytes = label.utf8
    if !bytes.isEmpty, bytes.allSatisfy(\.isDigit) { return true }
    return label.lowercased().hasPrefix("0x")
      && bytes.dropFirst(2).allSatisfy { $0.hexValue != nil }
  }

  private static func ipv6(_ host: String) -> String? {
    let bytes = host.utf8.span
    guard let groups = URIHostLiteral.ipv6Groups(bytes, 1, bytes.count - 1) else { return nil }
    // The longest run of at least two zeros, the first of several.
    var longest = 0..<0
    var start = 0
    for end in 1...groups.count
    where end == groups.count || groups[end] != 0 || groups[end - 1] != 0 {
      if groups[start] == 0, end - start > max(longest.count, 1) { longest = start..<end }
      start = end
    }
    func text(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    if longest.isEmpty { return "[\(text(0..<groups.count))]" }
    return "[\(text(0..<longest.lowerBound))::\(text(longest.upperBound..<groups.count))]"
  }
}
