import WayTransport

/// A name of the server besides its own.
package struct AllowedHost: Hashable, Sendable {
  let authority: Authority

  /// What a text must be, for a message.
  package static let form =
    "NAME or NAME:PORT, such as app.example.org, without a scheme, a path or a dot at the end"

  /// Nil for what is not of the form.
  package init?(_ text: String) {
    guard let authority = Authority(text) else { return nil }
    self.authority = authority
  }

  /// Whether `named` is this name: with the port that it was given with; else without one or, over
  /// TCP, with that of the server. Over a Unix socket (nil) any port will do.
  func isNamed(_ named: Authority, serverPort: Int?) -> Bool {
    guard named.host == authority.host else { return false }
    if let port = authority.port { return named.port == port }
    guard let port = named.port, let serverPort else { return true }
    return port == serverPort
  }

  /// The origins of the pages that this host serves.
  func origins(serverPort: Int?) -> [WebOrigin] {
    let authorities: [Authority?] =
      authority.port != nil
      ? [authority]
      : [authority, serverPort.flatMap { Authority("\(authority.host):\($0)") }]
    return authorities.compactMap(\.self).flatMap { authority in
      ["http", "https"].map { WebOrigin(scheme: $0, authority) }
    }
  }
}
