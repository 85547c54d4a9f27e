import WayTransport

/// Rules that allow hosts, origins and proxies, in addition to local programs and the server's own
/// pages.
package struct AccessRules: Hashable, Sendable {
  package var hosts: [AllowedHost] = []
  package var origins: [OriginPattern] = []
  package var trustedProxies: [TrustedProxy] = []

  /// Allows nothing else.
  package init() {}

  /// Reads the rules. Throws at the first invalid one, with the expected format.
  package init(
    hosts: [String] = [], origins: [String] = [], trustedProxies: [String] = []
  ) throws(SocketError) {
    self.hosts = try Self.read(
      hosts, "an allowed host", AllowedHost.expectedFormat, AllowedHost.init)
    self.origins = try Self.read(
      origins, "an allowed origin", OriginPattern.expectedFormat, OriginPattern.init)
    self.trustedProxies = try Self.read(
      trustedProxies, "a trusted proxy", TrustedProxy.expectedFormat, TrustedProxy.init)
  }

  /// These rules together with those of a policy. Throws if one of them is invalid.
  package func adding(
    hosts: [String], origins: [String]
  ) throws(SocketError) -> AccessRules {
    let more = try AccessRules(hosts: hosts, origins: origins)
    var rules = self
    rules.hosts += more.hosts
    rules.origins += more.origins
    return rules
  }

  private static func read<ParsedRule>(
    _ texts: [String], _ what: String, _ form: String, _ make: (String) -> ParsedRule?
  ) throws(SocketError) -> [ParsedRule] {
    var rules: [ParsedRule] = []
    for text in texts {
      guard let rule = make(text) else {
        throw SocketError(.invalid, "\(what) must be \(form), not \(quoted(text))")
      }
      rules.append(rule)
    }
    return rules
  }
}
