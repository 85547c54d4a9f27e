import WayTransport

/// Who comes in, besides programs of this machine and the pages that the server itself serves.
package struct AccessRules: Hashable, Sendable {
  package var hosts: [AllowedHost] = []
  package var origins: [OriginPattern] = []
  package var trustedProxies: [TrustedProxy] = []

  /// Nobody else.
  package init() {}

  /// Reads the rules; throws the first that is none, with what it must be.
  package init(
    hosts: [String] = [], origins: [String] = [], trustedProxies: [String] = []
  ) throws(SocketError) {
    self.hosts = try Self.read(hosts, "an allowed host", AllowedHost.form, AllowedHost.init)
    self.origins = try Self.read(
      origins, "an allowed origin", OriginPattern.form, OriginPattern.init)
    self.trustedProxies = try Self.read(
      trustedProxies, "a trusted proxy", TrustedProxy.form, TrustedProxy.init)
  }

  /// These rules, and those of a policy besides. Throws as the reading does.
  package func adding(
    hosts: [String], origins: [String]
  ) throws(SocketError) -> AccessRules {
    let more = try AccessRules(hosts: hosts, origins: origins)
    var rules = self
    rules.hosts += more.hosts
    rules.origins += more.origins
    return rules
  }

  private static func read<Rule>(
    _ texts: [String], _ what: String, _ form: String, _ make: (String) -> Rule?
  ) throws(SocketError) -> [Rule] {
    var rules: [Rule] = []
    for text in texts {
      guard let rule = make(text) else {
        throw SocketError(.invalid, "\(what) must be \(form), not \(quoted(text))")
      }
      rules.append(rule)
    }
    return rules
  }
}
