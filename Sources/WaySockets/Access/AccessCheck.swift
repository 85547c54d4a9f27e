import WayTransport

/// Decides which requests may reach a server, by its access rules.
///
/// A page of another origin can send requests to the server, and can use a host name that resolves
/// to loopback. Both show in the Origin and Host headers, which the page cannot forge. The check
/// compares them exactly.
struct AccessCheck: Sendable {
  let rules: AccessRules
  private let isUnix: Bool
  private let port: Int
  /// Names that the server always accepts with its port, regardless of the rules.
  private let ownHosts: [String]
  private let ownOrigins: Set<WebOrigin>
  private let handshakeHeaders: [String]

  /// - Parameter handshakeHeaders: The header fields that a ``Handshake`` contains, in lower
  ///   case.
  init(rules: AccessRules, address: SocketListenAddress, handshakeHeaders: [String] = []) {
    self.rules = rules
    self.handshakeHeaders = handshakeHeaders
    isUnix = address.unixPath != nil
    port = address.port
    let serverPort = isUnix ? nil : address.port
    var names = ["127.0.0.1", "localhost", "[::1]"]
    // The addresses of all interfaces are no server names.
    if !(names + ["0.0.0.0", "[::]"]).contains(address.host) { names.append(address.host) }
    ownHosts = isUnix ? ["localhost"] : names
    let own =
      isUnix
      ? []
      : names.compactMap { HandshakeAuthority("\($0):\(address.port)") }.map {
        WebOrigin(scheme: "http", $0)
      }
    ownOrigins = Set(own + rules.hosts.flatMap { $0.origins(serverPort: serverPort) })
  }

  /// Checks a request and describes its client. Throws if the client may not send it.
  ///
  /// - Parameter isOpen: Whether the Host and Origin headers are ignored.
  func admit(
    _ head: RequestHead, from peer: SocketPeer, isOpen: Bool = false
  ) throws(HTTPRequestRejection) -> AccessGrant {
    let forwarded = try ForwardedHeaders(head)
    if let forwarded { try checkProxy(peer, forwarded) }
    try checkHost(head, isOpen: isOpen)
    let origin = try origin(of: head, isOpen: isOpen)
    let client = forwarded?.client(trusting: rules.trustedProxies)
    let handshake = Handshake(
      origin: origin.sent, address: client?.text ?? peer.text,
      token: try AccessBearerToken.read(head),
      headers: head.fields.filter { handshakeHeaders.contains($0.name) })
    return AccessGrant(
      handshake: handshake, forwardedClient: client, isLocal: forwarded == nil && peer.isLocal,
      allowedOrigin: origin.isAccepted ? origin.sent : nil)
  }

  /// The client's address, as far as it is known; for requests that may be rejected.
  func address(of head: RequestHead, from peer: SocketPeer) -> String {
    guard rules.trustedProxies.includes(peer), let forwarded = try? ForwardedHeaders(head) else {
      return peer.text
    }
    return forwarded.client(trusting: rules.trustedProxies)?.text ?? peer.text
  }

  /// The client whose connections are limited, if it is the peer itself; `nil` for a program of this
  /// machine, and for a trusted proxy, whose clients count instead.
  func countedClient(of peer: SocketPeer) -> SocketForwardedNode? {
    guard case .address(let address) = peer, !address.isLoopback,
      !rules.trustedProxies.includes(peer)
    else { return nil }
    return .address(address)
  }

  /// Rejects a proxy that is not trusted: its clients would look like local programs.
  private func checkProxy(
    _ peer: SocketPeer, _ forwarded: ForwardedHeaders
  ) throws(HTTPRequestRejection) {
    guard !rules.trustedProxies.includes(peer) else { return }
    throw HTTPRequestRejection(
      403,
      "the header \(quoted(forwarded.firstFieldName)) shows a proxy that the server does not trust",
      .proxy, hint: "trust it with --trusted-proxy \(peer.text)")
  }

  private func checkHost(_ head: RequestHead, isOpen: Bool) throws(HTTPRequestRejection) {
    let named = head.values("host")
    guard named.count <= 1 else {
      throw HTTPRequestRejection(400, "there is more than one Host header", .host)
    }
    guard let host = named.first ?? (isOpen && head.minorVersion == 0 ? "" : nil) else {
      throw HTTPRequestRejection(400, "the Host header is missing", .host)
    }
    if isOpen { return }
    let source = head.authority == nil ? "the Host header" : "the host of the request target"
    guard let authority = HandshakeAuthority(head.authority ?? host) else {
      throw HTTPRequestRejection(403, "\(source) is not of the form NAME or NAME:PORT", .host)
    }
    guard isServerName(authority) else {
      throw HTTPRequestRejection(
        403, "\(source) names another server: \(quoted(authority.description))", .host,
        hint: "allow it with --allow-host \(printable(authority.description))")
    }
  }

  /// Whether a host name is one of this server's names.
  private func isServerName(_ authority: HandshakeAuthority) -> Bool {
    if ownHosts.contains(authority.host) {
      // A browser omits the default port of the scheme.
      if isUnix || (authority.port ?? 80) == port { return true }
    }
    return rules.hosts.contains { $0.matches(authority, serverPort: isUnix ? nil : port) }
  }

  private func origin(
    of head: RequestHead, isOpen: Bool
  ) throws(HTTPRequestRejection) -> (sent: String?, isAccepted: Bool) {
    let sent = head.values("origin")
    guard sent.count <= 1 else {
      throw HTTPRequestRejection(400, "there is more than one Origin header", .origin)
    }
    guard let text = sent.first else { return (nil, false) }
    let origin = WebOrigin(text)
    let isAccepted = origin.map(isAllowed) ?? false
    guard !isAccepted, !isOpen else { return (text, isAccepted) }
    guard let origin else {
      throw HTTPRequestRejection(403, "the Origin header does not contain an origin", .origin)
    }
    if origin == .opaque {
      throw HTTPRequestRejection(
        403, "pages without an origin (\"null\") are not allowed", .origin,
        hint: "allow them, which are sandboxed frames and files, with --allow-origin null")
    }
    throw HTTPRequestRejection(
      403, "pages of \(quoted(text)) are not allowed", .origin,
      hint: "allow them with --allow-origin \(printable(text))")
  }

  private func isAllowed(_ origin: WebOrigin) -> Bool {
    ownOrigins.contains(origin) || rules.origins.contains { $0.matches(origin) }
  }
}

/// The result of an access check that allowed the request.
struct AccessGrant: Sendable {
  /// Has no subprotocol yet.
  var handshake: Handshake
  /// The client that a trusted proxy names; `nil` without a proxy.
  var forwardedClient: SocketForwardedNode?
  /// Whether a local program sent the request, without a proxy.
  var isLocal: Bool
  /// The Origin header of an allowed page.
  var allowedOrigin: String?
}

/// A peer's string for use in a response: shortened, printable and in double quotes.
func quoted(_ text: String) -> String {
  "\"\(printable(text))\"" + (text.utf8.count > 80 ? "…" : "")
}

/// At most 80 bytes of a peer's string, with question marks instead of unprintable bytes.
private func printable(_ text: String) -> String {
  let bytes = text.utf8.prefix(80).map { (0x20..<0x7F).contains($0) && $0 != 0x22 ? $0 : 0x3F }
  return String(decoding: bytes, as: UTF8.self)
}
