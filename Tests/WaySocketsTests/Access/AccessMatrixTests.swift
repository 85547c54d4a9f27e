import Testing
import WayTransport

@testable import WaySockets

/// Every combination of Host, Origin, token and proxy header, on raw sockets. A connection that one
/// of them rejects is not accepted because of another.
@Suite struct AccessMatrixTests {
  /// Header lines and the status with which they are rejected; `nil` if they are accepted. `PORT`
  /// stands for the server's port.
  typealias HeaderCase = (lines: [String], status: Int?)

  static let hosts: [HeaderCase] = [
    ([], 400),
    (["Host: 127.0.0.1:PORT"], nil),
    (["Host: localhost:PORT"], nil),
    (["Host: LOCALHOST:PORT"], nil),
    (["Host: [::1]:PORT"], nil),
    (["Host: app.example.org"], nil),
    (["Host: App.Example.ORG:PORT"], nil),
    (["Host: tls.example.org:8443"], nil),
    (["Host: localhost"], 403),
    (["Host: localhost:1"], 403),
    (["Host: localhost.:PORT"], 403),
    (["Host: app.example.org."], 403),
    (["Host: user@app.example.org"], 403),
    (["Host: user:app.example.org@evil.example"], 403),
    (["Host: sub.app.example.org"], 403),
    (["Host: app.example.org.evil.example"], 403),
    (["Host: evilapp.example.org"], 403),
    (["Host: tls.example.org"], 403),
    (["Host: 127.1:PORT"], 403),
    (["Host: 0x7f.1:PORT"], 403),
    (["Host: 2130706433:PORT"], 403),
    (["Host: 0177.0.0.1:PORT"], 403),
    (["Host: 127.0.0.2:PORT"], 403),
    (["Host: [0:0:0:0:0:0:0:1]:PORT"], 403),
    (["Host: [::ffff:127.0.0.1]:PORT"], 403),
    (["Host: null"], 403),
    (["Host: localhost:PORT", "Host: localhost:PORT"], 400),
    (["Host: localhost:PORT", "Host: evil.example"], 400),
  ]

  static let origins: [HeaderCase] = [
    ([], nil),
    (["Origin: http://127.0.0.1:PORT"], nil),
    (["Origin: http://[::1]:PORT"], nil),
    (["Origin: HTTP://LocalHost:PORT"], nil),
    (["Origin: https://app.example.org"], nil),
    (["Origin: https://tls.example.org:8443"], nil),
    (["Origin: https://page.example.com"], nil),
    (["Origin: https://page.example.com:443"], nil),
    (["Origin: http://dev.example.com:4321"], nil),
    (["Origin: https://one.example.net"], nil),
    (["Origin: null"], 403),
    (["Origin: http://evil.example"], 403),
    (["Origin: http://page.example.com"], 403),
    (["Origin: https://page.example.com:8443"], 403),
    (["Origin: https://page.example.com."], 403),
    (["Origin: https://user@page.example.com"], 403),
    (["Origin: https://sub.page.example.com"], 403),
    (["Origin: https://page.example.com.evil.example"], 403),
    (["Origin: https://evilpage.example.com"], 403),
    (["Origin: https://page.example.com/"], 403),
    (["Origin: https://example.net"], 403),
    (["Origin: https://two.one.example.net"], 403),
    (["Origin: http://127.1:PORT"], 403),
    (["Origin: http://2130706433:PORT"], 403),
    (["Origin: http://0x7f000001:PORT"], 403),
    (["Origin: http://[::ffff:127.0.0.1]:PORT"], 403),
    (["Origin: http://localhost:PORT", "Origin: http://localhost:PORT"], 400),
    (["Origin: https://page.example.com", "Origin: null"], 400),
  ]

  /// Header lines, the status, and the token that the acceptor receives.
  static let tokens: [(lines: [String], status: Int?, token: String?)] = [
    ([], nil, nil),
    (["Authorization: Bearer a.B-c_~+/9=="], nil, "a.B-c_~+/9=="),
    (["Sec-WebSocket-Protocol: bearer.x.Y-z, a"], nil, "x.Y-z"),
    (["Authorization: Bearer one", "Sec-WebSocket-Protocol: a, bearer.one"], 400, nil),
  ]

  static let proxies: [HeaderCase] = [
    ([], nil),
    (["X-Forwarded-For: 192.0.2.1"], 403),
  ]

  /// Runs all combinations. The first rejection decides, in the order proxy, Host, Origin, token.
  private func run(trusting proxy: String?) async throws {
    let rules = try AccessRules(
      hosts: ["app.example.org", "tls.example.org:8443"],
      origins: ["https://page.example.com", "http://dev.example.com:*", "https://*.example.net"],
      trustedProxies: proxy.map { [$0] } ?? [])
    try await withServer(configure: .init { $0.access = rules }) { server in
      var letIn = 0
      for proxied in Self.proxies {
        for host in Self.hosts {
          for origin in Self.origins {
            for token in Self.tokens {
              let lines = (proxied.lines + host.lines + origin.lines + token.lines).map {
                $0.replacing("PORT", with: "\(server.port)")
              }
              let expected =
                [proxy == nil ? proxied.status : nil, host.status, origin.status, token.status]
                .compactMap(\.self).first ?? 101
              let socket = try RawSocket(port: server.port)
              socket.send(Self.request(lines))
              let head = socket.readHead()
              #expect(head.hasPrefix("HTTP/1.1 \(expected) "), "\(lines): \(head)")
              guard head.hasPrefix("HTTP/1.1 101 ") else { continue }
              letIn += 1
              guard let shown = await server.acceptor.next()?.1 else { continue }
              #expect(shown.token == token.token, "\(lines)")
              #expect(
                shown.origin == lines.first { $0.hasPrefix("Origin: ") }?.dropFirst(8).description)
              let isNamed = proxied.lines.contains { $0.contains("192.0.2.1") }
              #expect(shown.address == (isNamed ? "192.0.2.1" : "127.0.0.1"), "\(lines)")
            }
          }
        }
      }
      let good = { (cells: [Int?]) in cells.filter { $0 == nil }.count }
      let expected =
        good(Self.hosts.map(\.status)) * good(Self.origins.map(\.status))
        * good(Self.tokens.map(\.status)) * (proxy == nil ? 1 : Self.proxies.count)
      #expect(letIn == expected)
    }
  }

  private static func request(_ lines: [String]) -> String {
    let upgrade = [
      "GET /echo HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    return (upgrade + lines).map { $0 + "\r\n" }.joined() + "\r\n"
  }

  @Test func `Direct connections follow host, origin and token rules`() async throws {
    try await run(trusting: nil)
  }

  @Test func `Trusted proxy connections follow host, origin and token rules`() async throws {
    try await run(trusting: "127.0.0.1")
  }

  /// The offered subprotocols, the chosen one or the status, and the token.
  static let subprotocolOffers: [(offered: String, picked: String?, status: Int, token: String?)] =
    [
      ("a, bearer.T", "a", 101, "T"), ("bearer.T, b", "b", 101, "T"),
      ("bearer.T", nil, 400, nil), ("bearer.", nil, 400, nil), ("a, bearer.", nil, 400, nil),
      ("x, bearer.T", nil, 400, nil), ("a, bearer.T, bearer.U", nil, 400, nil),
      ("a, bearer.T, bearer.T", nil, 400, nil), ("a, Bearer.T", "a", 101, nil),
      ("a, bearer.T\"", nil, 400, nil), ("a, bearer.ä", nil, 400, nil),
      (
        "a, bearer." + String(repeating: "T", count: 4096), "a", 101,
        String(repeating: "T", count: 4096)
      ),
      ("a, bearer." + String(repeating: "T", count: 4097), nil, 400, nil),
    ]

  @Test func `Accepts a token among the offered subprotocols`()
    async throws
  {
    try await withServer { server in
      for (offered, picked, status, token) in Self.subprotocolOffers {
        let socket = try RawSocket(port: server.port)
        let head = socket.upgrade(
          port: server.port, more: "Sec-WebSocket-Protocol: \(offered)\r\n")
        #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(offered.prefix(40)): \(head)")
        #expect(!head.contains("bearer"))
        guard let picked, head.hasPrefix("HTTP/1.1 101 ") else { continue }
        #expect(head.contains("\r\nSec-WebSocket-Protocol: \(picked)\r\n"))
        #expect(await server.acceptor.next()?.1.token == token)
      }
    }
  }

  @Test func `Reads the token only from the Authorization header`() async throws {
    let responder: HTTPResponder = { request in
      .respond(HTTPResponse(status: 200, body: Array((request.handshake.token ?? "none").utf8)))
    }
    try await withServer(responder: responder) { server in
      for (lines, response) in [
        ("Authorization: Bearer T", "T"), ("authorization: bEARER   T ", "T"),
        ("Authorization: Basic T", "none"), ("Sec-WebSocket-Protocol: bearer.T", "none"),
        ("Cookie: token=T", "none"),
      ] {
        let socket = try RawSocket(port: server.port)
        socket.send(
          "GET /?token=T&access_token=T HTTP/1.1\r\nHost: localhost:\(server.port)\r\n"
            + "Connection: close\r\n\(lines)\r\n\r\n")
        #expect(socket.readToEnd().hasSuffix("\r\n\r\n\(response)"), "\(lines)")
      }
      for lines in ["Bearer", "Bearer ", "Bearer =", "Bearer T\r\nAuthorization: Basic T"] {
        let socket = try RawSocket(port: server.port)
        socket.send(
          "GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nAuthorization: \(lines)\r\n\r\n")
        #expect(socket.readToEnd().hasPrefix("HTTP/1.1 400 "), "\(lines)")
      }
    }
  }
}
