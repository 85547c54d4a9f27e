import Testing
import WayTransport

@testable import WaySockets

@Suite struct ForwardedHeadersTests {
  static let trustedProxies = ["127.0.0.1", "10.0.0.0/8", "fd00::/8", "unix"]

  /// Header lines of a trusted proxy, and the client's address; `nil` if they are rejected with
  /// 400.
  static let chains: [(lines: [String], client: String?)] = [
    (["X-Forwarded-For: 192.0.2.7"], "192.0.2.7"),
    (["X-Forwarded-For: 203.0.113.1, 192.0.2.7"], "192.0.2.7"),
    (["X-Forwarded-For: 203.0.113.1, 192.0.2.7, 10.1.2.3"], "192.0.2.7"),
    (["X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 192.0.2.7"], "192.0.2.7"),
    (["X-Forwarded-For: 10.1.1.1, 10.2.2.2"], "10.1.1.1"),
    (["X-Forwarded-For: 2001:db8::7"], "2001:db8::7"),
    (["X-Forwarded-For: 2001:DB8:0::7"], "2001:db8::7"),
    (["X-Forwarded-For: [2001:db8::7]:1234"], "2001:db8::7"),
    (["X-Forwarded-For: 192.0.2.7:1234"], "192.0.2.7"),
    (["X-Forwarded-For: ::ffff:192.0.2.7"], "192.0.2.7"),
    (["X-Forwarded-For: 192.0.2.7, ::ffff:10.0.0.1"], "192.0.2.7"),
    (["X-Forwarded-For: unknown, 10.0.0.1"], "unknown"),
    (["Forwarded: for=192.0.2.7"], "192.0.2.7"),
    (["Forwarded: For=\"[2001:db8::7]\""], "2001:db8::7"),
    (["Forwarded: for=\"[2001:db8::7]:4711\";proto=https;by=10.0.0.1"], "2001:db8::7"),
    (
      ["Forwarded: for=203.0.113.1, for=\"192.0.2.7:80\" ; host=\"a,b;c\", for=10.0.0.1"],
      "192.0.2.7"
    ),
    (["Forwarded: for=203.0.113.1", "Forwarded: for=192.0.2.7"], "192.0.2.7"),
    (["Forwarded: for=_secret, for=10.0.0.1"], "_secret"),
    (["Forwarded: for=unknown"], "unknown"),
    (["Forwarded: for=192.0.2.7, proto=https"], "unknown"),
    (["Forwarded: for=192.0.2.7;"], "192.0.2.7"),
    (["Forwarded: for=\"192.0\\.2.7\""], "192.0.2.7"),
    (["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7"], "192.0.2.7"),
    (["X-Real-IP: 192.0.2.7"], "127.0.0.1"),
    (["X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example", "Via: 1.1 gate"], "127.0.0.1"),
    (["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.8"], nil),
    (["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7, 10.0.0.1"], nil),
    (["X-Forwarded-For:"], nil),
    (["X-Forwarded-For: ,192.0.2.7"], nil),
    (["X-Forwarded-For: evil.example"], nil),
    (["X-Forwarded-For: 192.0.2.7 10.0.0.1"], nil),
    (["X-Forwarded-For: 192.0.2.7:x"], nil),
    (["X-Forwarded-For: 192.0.2.256"], nil),
    (["X-Forwarded-For: [::1"], nil),
    (["X-Forwarded-For: [192.0.2.7]"], nil),
    (["Forwarded:"], nil),
    (["Forwarded: 192.0.2.7"], nil),
    (["Forwarded: for"], nil),
    (["Forwarded: for="], nil),
    (["Forwarded: for=2001:db8::7"], nil),
    (["Forwarded: for=\"2001:db8::7\""], nil),
    (["Forwarded: for=[2001:db8::7]"], nil),
    (["Forwarded: for=\"192.0.2.7"], nil),
    (["Forwarded: for=\"192.0.2.7\"x"], nil),
    (["Forwarded: for=192.0.2.7;for=192.0.2.8"], nil),
    (["Forwarded: for=192.0.2.7,,for=10.0.0.1"], nil),
    (["Forwarded: for=_"], nil),
    (["Forwarded: f or=192.0.2.7"], nil),
  ]

  @Test func `Client address is the last untrusted address`() async throws {
    let rules = try AccessRules(trustedProxies: Self.trustedProxies)
    try await withServer(configure: .init { $0.access = rules }) { server in
      for (lines, client) in Self.chains {
        let socket = try RawSocket(port: server.port)
        let more = lines.map { $0 + "\r\n" }.joined()
        let head = socket.upgrade(port: server.port, more: more)
        #expect(head.hasPrefix("HTTP/1.1 \(client == nil ? 400 : 101) "), "\(lines): \(head)")
        guard head.hasPrefix("HTTP/1.1 101 ") else { continue }
        #expect(await server.acceptor.next()?.1.address == client, "\(lines)")
      }
    }
  }

  @Test func `Proxied requests are not local`() async throws {
    let responder: HTTPResponder = { request in
      .respond(
        HTTPResponse(
          status: 200,
          body: Array("\(request.isLocal) \(request.handshake.address ?? "nil")".utf8)))
    }
    let rules = try AccessRules(trustedProxies: ["127.0.0.1"])
    try await withServer(responder: responder, configure: .init { $0.access = rules }) { server in
      for (line, response) in [
        ("", "true 127.0.0.1"), ("X-Forwarded-For: 127.0.0.1\r\n", "false 127.0.0.1"),
        ("Forwarded: for=192.0.2.1\r\n", "false 192.0.2.1"), ("Via: 1.1 a\r\n", "false 127.0.0.1"),
        ("X-Real-IP: 127.0.0.1\r\n", "false 127.0.0.1"),
      ] {
        let socket = try RawSocket(port: server.port)
        socket.send(
          "GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\(line)\r\n")
        #expect(socket.readToEnd().hasSuffix("\r\n\r\n\(response)"), "\(line)")
      }
    }
  }

  @Test func `Changed access rules apply to the next request`() async throws {
    try await withServer { server in
      let more = "X-Forwarded-For: 192.0.2.1\r\nOrigin: https://a.example\r\n"
      func status() throws -> String {
        let socket = try RawSocket(port: server.port)
        return String(socket.upgrade(port: server.port, more: more).dropFirst(9).prefix(3))
      }
      #expect(try status() == "403")
      server.server.apply(
        try AccessRules(origins: ["https://a.example"], trustedProxies: ["127.0.0.0/8"]))
      #expect(try status() == "101")
      server.server.apply(AccessRules())
      #expect(try status() == "403")
    }
  }
}
