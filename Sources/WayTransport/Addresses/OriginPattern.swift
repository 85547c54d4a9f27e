/// A pattern of origins: one origin, one with any port (`http://localhost:*`), one with any first
/// label (`https://*.example.org`), or `null`.
package struct OriginPattern: Hashable, Sendable, CustomStringConvertible {
  private enum PortPattern: Hashable {
    case any
    /// `nil` if there is none and the scheme is neither `http` nor `https`.
    case exactly(Int?)
  }

  private enum OriginForm: Hashable {
    case opaque
    /// If `hasLabel` is set, `host` is the part after one label and a dot.
    case named(scheme: String, host: String, hasLabel: Bool, port: PortPattern)
  }

  private let form: OriginForm

  /// The expected format, for error messages.
  package static let expectedFormat =
    "SCHEME://HOST or SCHEME://HOST:PORT without a path, such as https://app.example.org, with * "
    + "for any port or for the first label of the host, or null"

  /// Returns `nil` if the text does not have the expected format.
  package init?(_ text: String) {
    if text == "null" {
      form = .opaque
      return
    }
    guard let (scheme, rest) = WebOrigin.scheme(of: text) else { return nil }
    var name = rest
    let hasLabel = name.hasPrefix("*.")
    if hasLabel { name = name.dropFirst(2) }
    let hasAnyPort = name.hasSuffix(":*")
    if hasAnyPort { name = name.dropLast(2) }
    if name.isEmpty, !hasLabel, !hasAnyPort, WebOrigin.defaultPort(scheme) == nil {
      form = .named(scheme: scheme, host: "", hasLabel: false, port: .exactly(nil))
      return
    }
    guard let authority = HandshakeAuthority(String(name)), !(hasLabel && authority.isAddress),
      !(hasAnyPort && authority.port != nil)
    else { return nil }
    form = .named(
      scheme: scheme, host: authority.host, hasLabel: hasLabel,
      port: hasAnyPort ? .any : .exactly(authority.port ?? WebOrigin.defaultPort(scheme)))
  }

  /// Whether the pattern matches an origin.
  package func matches(_ origin: WebOrigin) -> Bool {
    switch (form, origin) {
    case (.opaque, .opaque): return true
    case (
      .named(let scheme, let host, let hasLabel, let port),
      .named(let itsScheme, let itsHost, let itsPort)
    ):
      guard scheme == itsScheme, port == .any || port == .exactly(itsPort) else { return false }
      guard hasLabel else { return host == itsHost }
      guard let dot = itsHost.firstIndex(of: "."), dot > itsHost.startIndex else { return false }
      return itsHost[itsHost.index(after: dot)...] == host
    default: return false
    }
  }

  /// The pattern in lower case, without a default port.
  package var description: String {
    guard case .named(let scheme, let host, let hasLabel, let port) = form else { return "null" }
    let suffix =
      switch port {
      case .any: ":*"
      case .exactly(let port):
        port == WebOrigin.defaultPort(scheme) ? "" : port.map { ":\($0)" } ?? ""
      }
    return scheme + "://" + (hasLabel ? "*." : "") + host + suffix
  }
}
