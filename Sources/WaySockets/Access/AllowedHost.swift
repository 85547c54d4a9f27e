import WayTransport

/// A host name of the server, in addition to its default ones.
package struct AllowedHost: Hashable, Sendable {
  let authority: HandshakeAuthority

  /// The expected format, for error messages.
  package static let expectedFormat =
    "NAME or NAME:PORT, such as app.example.org, without a scheme, a path or a dot at the end"

  /// Returns `nil` if the text does not have the expected format.
  package init?(_ text: String) {
    guard let authority = HandshakeAuthority(text) else { return nil }
    self.authority = authority
  }

  /// Whether `named` is this name. A name with a port matches only that port. A name without one
  /// matches no port or, over TCP, the server's port. Over a Unix socket (`serverPort` is `nil`) it
  /// matches any port.
  func matches(_ named: HandshakeAuthority, serverPort: Int?) -> Bool {
    guard named.host == authority.host else { return false }
    if let port = authority.port { return named.port == port }
    guard let port = named.port, let serverPort else { return true }
    return port == serverPort
  }

  /// The origins of the pages on this host.
  func origins(serverPort: Int?) -> [WebOrigin] {
    let authorities: [HandshakeAuthority?] =
      authority.port != nil
      ? [authority]
      : [authority, serverPort.flatMap { HandshakeAuthority("\(authority.host):\($0)") }]
    return authorities.compactMap(\.self).flatMap { authority in
      ["http", "https"].map { WebOrigin(scheme: $0, authority) }
    }
  }
}
