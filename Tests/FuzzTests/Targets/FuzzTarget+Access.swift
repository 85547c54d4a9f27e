import WayTransport

@testable import WaySockets

extension FuzzTarget {
  /// The header fields of a request, checked against access rules: only a client with an allowed host
  /// and origin passes, and only a trusted proxy may name another client.
  static let access = FuzzTarget("access") { bytes throws(FuzzFailure) in
    let request = Array("GET /bridge HTTP/1.1\r\n".utf8) + bytes + Array("\r\n\r\n".utf8)
    guard let end = RequestHead.end(in: request, from: 0),
      let head = try? RequestHead(parsing: request[..<end]),
      let check = AccessFixture.check
    else { return }
    let showsProxy = head.fields.contains { name, _ in
      name == "via" || name == "forwarded" || name == "x-real-ip" || name.hasPrefix("x-forwarded-")
    }
    for peer in AccessFixture.peers {
      guard let grant = try? check.admit(head, from: peer.peer) else { continue }
      let host = (head.values("host").first ?? "").lowercased()
      try FuzzFailure.unless(AccessFixture.hosts.contains(host), "the host \(host) was accepted")
      if let origin = head.values("origin").first {
        try FuzzFailure.unless(
          AccessFixture.mayAccept(origin: origin), "the origin \(origin) was accepted")
        try FuzzFailure.unless(
          grant.allowedOrigin == origin, "the allowed origin is \(grant.allowedOrigin ?? "none")")
      }
      try FuzzFailure.unless(
        peer.isTrusted || !showsProxy, "the proxy \(peer.peer) was accepted")
      try FuzzFailure.unless(
        !grant.isLocal || (peer.peer.isLocal && !showsProxy), "a remote client counts as local")
      try FuzzFailure.unless(
        (grant.handshake.token?.utf8.count ?? 1) <= AccessBearerToken.maximumLength, "a long token")
    }
    let open = try? check.admit(head, from: .address(AccessFixture.remote), isOpen: true)
    if let origin = open?.allowedOrigin {
      try FuzzFailure.unless(
        AccessFixture.mayAccept(origin: origin), "an open path allows the origin \(origin)")
    }
  }

  /// The values of forwarding headers: addresses that a client puts before those of a trusted proxy do
  /// not change the client that the server sees.
  static let forwarded = FuzzTarget("forwarded") { bytes throws(FuzzFailure) in
    let value = bytes.text
    let proxies = AccessFixture.rules?.trustedProxies ?? []
    for (name, appended) in [
      ("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=203.0.113.9"),
    ] {
      for value in [value, value + ", " + appended] {
        let head = RequestHead(
          method: "GET", path: "/", minorVersion: 1, fields: [(name: name, value: value)])
        guard let forwarded = try? ForwardedHeaders(head) else { continue }
        let client = forwarded.client(trusting: proxies)
        try FuzzFailure.unless(
          client == nil ? forwarded.nodes.isEmpty : client.map(forwarded.nodes.contains) == true,
          "the client \(client?.text ?? "nil") is none of the nodes")
        // A quoted string may contain what looks like another element.
        if value.hasSuffix(appended), forwarded.nodes.last?.text == "203.0.113.9" {
          try FuzzFailure.unless(
            client?.text == "203.0.113.9", "the client is \(client?.text ?? "")")
        }
      }
    }
  }

  /// Hosts, origins, their patterns, addresses and networks: each is read back from its description.
  static let addresses = FuzzTarget("addresses") { bytes throws(FuzzFailure) in
    let text = bytes.text
    if let authority = HandshakeAuthority(text) {
      try FuzzFailure.unless(
        HandshakeAuthority(authority.description) == authority, "\(authority) is another authority")
    }
    if let pattern = OriginPattern(text) {
      try FuzzFailure.unless(
        OriginPattern(pattern.description) == pattern, "\(pattern) is another pattern")
    }
    if let origin = WebOrigin(text) {
      try FuzzFailure.unless(
        OriginPattern(text)?.matches(origin) == true, "an origin does not match its own pattern")
      let other = OriginPattern("https://allowed.example")
      let isSame = text.lowercased() == "https://allowed.example"
      let hasPort = text.lowercased() == "https://allowed.example:443"
      try FuzzFailure.unless(
        other?.matches(origin) == (isSame || hasPort), "another origin matches a pattern")
    }
    if let address = IPAddress(text) {
      try FuzzFailure.unless(
        IPAddress(address.description) == address, "\(address) is another address")
      try FuzzFailure.unless(
        SocketAddressRange(address.description)?.contains(address) == true,
        "an address is not in its own network")
    }
    _ = TrustedProxy(text)
    _ = AllowedHost(text)
    _ = SocketForwardedNode(text, mayBeBare: true)
  }
}

/// The access rules of the targets, and what they accept, in other words.
private struct AccessFixture {
  static let rules = try? AccessRules(
    hosts: ["a.example.org"], origins: ["https://*.shop.example"], trustedProxies: ["10.0.0.0/8"])
  static let check = rules.map {
    AccessCheck(rules: $0, address: SocketListenAddress(host: "127.0.0.1", port: 8080))
  }
  static let remote = IPAddress(bytes: [192, 0, 2, 1])
  static let peers: [(peer: SocketPeer, isTrusted: Bool)] = [
    (.address(IPAddress(bytes: [127, 0, 0, 1])), false),
    (.address(remote), false),
    (.address(IPAddress(bytes: [10, 0, 0, 1])), true),
    (.unix, false),
  ]
  static let hosts = [
    "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "a.example.org", "a.example.org:8080",
  ]

  private static let origins =
    ["localhost", "127.0.0.1", "[::1]"].map { "http://\($0):8080" }
    + ["http", "https"].flatMap { scheme in
      ["", ":8080", scheme == "http" ? ":80" : ":443"].map { "\(scheme)://a.example.org\($0)" }
    }

  static func mayAccept(origin: String) -> Bool {
    let origin = origin.lowercased()
    if origins.contains(origin) { return true }
    return origin.hasPrefix("https://")
      && (origin.hasSuffix(".shop.example") || origin.hasSuffix(".shop.example:443"))
  }
}
