/// Which origins are meant: one, one with any port (`http://localhost:*`), those with one label more
/// (`https://*.example.org`), or `null`.
package struct OriginPattern: Hashable, Sendable, CustomStringConvertible {
  private enum Port: Hashable {
    case any
    /// Nil where a scheme other than `http` and `https` leaves it out.
    case exactly(Int?)
  }

  private enum Form: Hashable {
    case opaque
    /// With `hasLabel`, `host` is what follows one label and a dot.
    case named(scheme: String, host: String, hasLabel: Bool, port: Port)
  }

  private let form: Form

  /// What a text must be, for a message.
  package static let form =
    "SCHEME://HOST or SCHEME://HOST:PORT without a path, such as https://app.example.org, with * "
    + "for any port or for the first label of the host, or null"

  /// Nil for what is not of the form.
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
    if name.isEmpty, !hasLabel, !hasAnyPort, WebOrigin.usualPort(scheme) == nil {
      form = .named(scheme: scheme, host: "", hasLabel: false, port: .exactly(nil))
      return
    }
    guard let authority = Authority(String(name)), !(hasLabel && authority.isAddress),
      !(hasAnyPort && authority.port != nil)
    else { return nil }
    form = .named(
      scheme: scheme, host: authority.host, hasLabel: hasLabel,
      port: hasAnyPort ? .any : .exactly(authority.port ?? WebOrigin.usualPort(scheme)))
  }

  /// Whether an origin is one of those that are meant.
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

  /// In lower case, without a port that goes without saying.
  package var description: String {
    guard case .named(let scheme, let host, let hasLabel, let port) = form else { return "null" }
    let suffix =
      switch port {
      case .any: ":*"
      case .exactly(let port):
        port == WebOrigin.usualPort(scheme) ? "" : port.map { ":\($0)" } ?? ""
      }
    return scheme + "://" + (hasLabel ? "*." : "") + host + suffix
  }
}
