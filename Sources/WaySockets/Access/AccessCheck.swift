import WayTransport

/// Who may ask a server that listens somewhere, by the rules that it was given.
///
/// A page of another origin can send requests here, and name a host that resolves to loopback; both
/// show in Origin and Host, which it cannot forge. They are compared exactly.
struct AccessCheck: Sendable {
  let rules: AccessRules
  private let isUnix: Bool
  private let port: Int
  /// Names by which the server goes with its port, whatever the rules are.
  private let ownHosts: [String]
  private let ownOrigins: Set<WebOrigin>
  private let handshakeHeaders: [String]

  /// - Parameter handshakeHeaders: the header fields that a ``Handshake`` hands on, in lower case.
  init(rules: AccessRules, address: ListenAddress, handshakeHeaders: [String] = []) {
    self.rules = rules
    self.handshakeHeaders = handshakeHeaders
    isUnix = address.unixPath != nil
    port = address.port
    let serverPort = isUnix ? nil : address.port
    var names = ["127.0.0.1", "localhost", "[::1]"]
    // Those that stand for all addresses name no server.
    if !(names + ["0.0.0.0", "[::]"]).contains(address.host) { names.append(address.host) }
    ownHosts = isUnix ? ["localhost"] : names
    let own =
      isUnix
      ? []
      : names.compactMap { Authority("\($0):\(address.port)") }.map {
        WebOrigin(scheme: "http", $0)
      }
    ownOrigins = Set(own + rules.hosts.flatMap { $0.origins(serverPort: serverPort) })
  }

  /// Finds out who asks. Throws where he may not.
  ///
  /// - Parameter isOpen: whether Host and Origin do not matter.
  func examine(
    _ head: RequestHead, from peer: SocketPeer, isOpen: Bool = false
  ) throws(RequestFault) -> Asker {
    let forwarded = try ForwardedHeaders(head)
    if let forwarded { try checkProxy(peer, forwarded) }
    try checkHost(head, isOpen: isOpen)
    let origin = try origin(of: head, isOpen: isOpen)
    let client = forwarded?.client(trusting: rules.trustedProxies)
    let handshake = Handshake(
      origin: origin.sent, address: client?.text ?? peer.text,
      token: try AccessBearerToken.read(head),
      headers: head.fields.filter { handshakeHeaders.contains($0.name) })
    return Asker(
      handshake: handshake, isLocal: forwarded == nil && peer.isLocal,
      letInOrigin: origin.isLetIn ? origin.sent : nil)
  }

  /// Who asks, as far as that can be said of a request that may be refused.
  func address(of head: RequestHead, from peer: SocketPeer) -> String {
    guard rules.trustedProxies.trust(peer), let forwarded = try? ForwardedHeaders(head) else {
      return peer.text
    }
    return forwarded.client(trusting: rules.trustedProxies)?.text ?? peer.text
  }

  /// A proxy that is not known makes all who come through it look like programs of this machine.
  private func checkProxy(
    _ peer: SocketPeer, _ forwarded: ForwardedHeaders
  ) throws(RequestFault) {
    guard !rules.trustedProxies.trust(peer) else { return }
    throw RequestFault(
      403, "the header \(quoted(forwarded.firstName)) shows a proxy, and it is not trusted here",
      .proxy, hint: "--trusted-proxy \(peer.text) would trust it")
  }

  private func checkHost(_ head: RequestHead, isOpen: Bool) throws(RequestFault) {
    let named = head.values("host")
    guard named.count <= 1 else {
      throw RequestFault(400, "there is more than one Host header", .host)
    }
    guard let host = named.first ?? (isOpen && head.minorVersion == 0 ? "" : nil) else {
      throw RequestFault(400, "the Host header is missing", .host)
    }
    if isOpen { return }
    let place = head.authority == nil ? "the Host header" : "the host of the request target"
    guard let authority = Authority(head.authority ?? host) else {
      throw RequestFault(403, "\(place) is not of the form NAME or NAME:PORT", .host)
    }
    guard names(authority) else {
      throw RequestFault(
        403, "\(place) names another server: \(quoted(authority.description))", .host,
        hint: "--allow-host \(shown(authority.description)) would let it in")
    }
  }

  /// Whether a host is this server.
  private func names(_ authority: Authority) -> Bool {
    if ownHosts.contains(authority.host) {
      // A browser leaves out the port that is its scheme's own.
      if isUnix || (authority.port ?? 80) == port { return true }
    }
    return rules.hosts.contains { $0.isNamed(authority, serverPort: isUnix ? nil : port) }
  }

  private func origin(
    of head: RequestHead, isOpen: Bool
  ) throws(RequestFault) -> (sent: String?, isLetIn: Bool) {
    let sent = head.values("origin")
    guard sent.count <= 1 else {
      throw RequestFault(400, "there is more than one Origin header", .origin)
    }
    guard let text = sent.first else { return (nil, false) }
    let origin = WebOrigin(text)
    let isLetIn = origin.map(isLetIn) ?? false
    guard !isLetIn, !isOpen else { return (text, isLetIn) }
    guard let origin else {
      throw RequestFault(403, "the Origin header is no origin", .origin)
    }
    if origin == .opaque {
      throw RequestFault(
        403, "pages without an origin (null) are not let in", .origin,
        hint: "--allow-origin null would let them in: frames in a sandbox, and files")
    }
    throw RequestFault(
      403, "pages of \(quoted(text)) are not let in", .origin,
      hint: "--allow-origin \(shown(text)) would let them in")
  }

  private func isLetIn(_ origin: WebOrigin) -> Bool {
    ownOrigins.contains(origin) || rules.origins.contains { $0.matches(origin) }
  }
}

/// Who asks, and may.
struct Asker: Sendable {
  /// Without a subprotocol.
  var handshake: Handshake
  /// Whether a program of this machine asks, by no proxy.
  var isLocal: Bool
  /// The Origin header of a page that is let in.
  var letInOrigin: String?
}

/// A peer's text as it may stand in an answer: short and printable.
func quoted(_ text: String) -> String { "\"\(shown(text))\"" + (text.utf8.count > 80 ? "…" : "") }

/// At most 80 bytes of a peer's text, what is not printable as question marks.
private func shown(_ text: String) -> String {
  let bytes = text.utf8.prefix(80).map { (0x20..<0x7F).contains($0) && $0 != 0x22 ? $0 : 0x3F }
  return String(decoding: bytes, as: UTF8.self)
}
