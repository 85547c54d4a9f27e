import Testing
import WayTransport

@testable import WaySockets

@Suite struct AccessCheckTests {
  private func admit(
    _ lines: String, _ rules: AccessRules = AccessRules(), port: Int = 8080,
    host: String = "127.0.0.1",
    from peer: SocketPeer = .address(IPAddress(bytes: [127, 0, 0, 1])), isOpen: Bool = false,
    line: String = "GET / HTTP/1.1", handshakeHeaders: [String] = []
  ) throws -> AccessGrant {
    let head = try RequestHead(parsing: Array("\(line)\r\n\(lines)\r\n\r\n".utf8)[...])
    let address =
      port == 0 ? SocketListenAddress(unixPath: "/s") : SocketListenAddress(host: host, port: port)
    return try AccessCheck(rules: rules, address: address, handshakeHeaders: handshakeHeaders)
      .admit(head, from: peer, isOpen: isOpen)
  }

  private func status(_ body: () throws -> AccessGrant) -> Int? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? HTTPRequestRejection)?.status ?? -1
    }
  }

  /// Peers, and whether the connections of their address are limited.
  @Test(arguments: [
    ("127.0.0.1", false), ("127.9.9.9", false), ("::1", false), ("::ffff:127.0.0.1", false),
    ("10.0.0.1", false), ("10.0.0.2", true), ("192.0.2.1", true), ("2001:db8::1", true),
  ])
  func connectionsOfOtherMachinesAreCounted(address: String, isCounted: Bool) throws {
    let address = try #require(IPAddress(address))
    let rules = try AccessRules(trustedProxies: ["10.0.0.1"])
    let check = AccessCheck(
      rules: rules, address: SocketListenAddress(host: "0.0.0.0", port: 8080), handshakeHeaders: [])
    let client = check.countedClient(of: SocketPeer.address(address))
    #expect(client == (isCounted ? SocketForwardedNode.address(address) : nil))
    #expect(check.countedClient(of: SocketPeer.unix) == nil)
  }

  /// Header lines and the status with which they are rejected; `nil` if they are accepted.
  static let defaultRuleCases: [(String, Int?)] = [
    ("Host: 127.0.0.1:8080", nil),
    ("Host: localhost:8080", nil),
    ("Host: LocalHost:8080", nil),
    ("Host: [::1]:8080", nil),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080", nil),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://localhost:8080", nil),
    ("Host: localhost:8080\r\nOrigin: http://[::1]:8080", nil),
    ("Accept: */*", 400),
    ("Host: 127.0.0.1:8080\r\nHost: 127.0.0.1:8080", 400),
    ("Host:", 403),
    ("Host: 127.0.0.1", 403),
    ("Host: localhost", 403),
    ("Host: 127.0.0.1:80801", 403),
    ("Host: 127.0.0.1:808", 403),
    ("Host: 127.0.0.1:08080", 403),
    ("Host: 127.0.0.1:", 403),
    ("Host: 127.0.0.1:8080.evil.example", 403),
    ("Host: evil.example:8080", 403),
    ("Host: 127.0.0.1.evil.example:8080", 403),
    ("Host: 127.0.0.2:8080", 403),
    ("Host: 0.0.0.0:8080", 403),
    ("Host: ::1:8080", 403),
    ("Host: user@127.0.0.1:8080", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: null", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin:", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: https://127.0.0.1:8080", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8081", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080/", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://127.0.0.1:8080.evil.example", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://evil.example", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: file://", 403),
    ("Host: 127.0.0.1:8080\r\nOrigin: http://localhost:8080\r\nOrigin: http://localhost:8080", 400),
  ]

  @Test(arguments: defaultRuleCases)
  func `Default rules accept only local hosts and origins`(lines: String, status: Int?) {
    #expect(self.status { try admit(lines) } == status)
  }

  @Test func `Accepts a Host without a port on port 80`() throws {
    let lines = "Host: localhost\r\nOrigin: http://localhost"
    #expect(status { try admit(lines, port: 80) } == nil)
    #expect(status { try admit(lines, port: 81) } == 403)
  }

  /// Hosts that `--allow-host` adds, on port 8080.
  static let allowedHostCases: [(allowed: String, lines: String, status: Int?)] = [
    ("app.example.org", "Host: app.example.org", nil),
    ("app.example.org", "Host: APP.Example.org:8080", nil),
    ("App.Example.Org", "Host: app.example.org", nil),
    ("app.example.org", "Host: app.example.org:443", 403),
    ("app.example.org", "Host: app.example.org.", 403),
    ("app.example.org", "Host: example.org", 403),
    ("app.example.org", "Host: a.app.example.org", 403),
    ("app.example.org:8443", "Host: app.example.org:8443", nil),
    ("app.example.org:8443", "Host: app.example.org", 403),
    ("app.example.org:8443", "Host: app.example.org:8080", 403),
    ("[2001:DB8::1]", "Host: [2001:db8::1]:8080", nil),
    ("app.example.org", "Host: app.example.org\r\nOrigin: https://app.example.org", nil),
    ("app.example.org", "Host: app.example.org\r\nOrigin: https://app.example.org:443", nil),
    ("app.example.org", "Host: app.example.org\r\nOrigin: http://app.example.org:8080", nil),
    ("app.example.org", "Host: localhost:8080\r\nOrigin: https://app.example.org", nil),
    ("app.example.org", "Host: app.example.org\r\nOrigin: https://app.example.org:8443", 403),
    ("app.example.org", "Host: app.example.org\r\nOrigin: ws://app.example.org", 403),
    ("a.example:8443", "Host: a.example:8443\r\nOrigin: https://a.example:8443", nil),
    ("a.example:8443", "Host: a.example:8443\r\nOrigin: https://a.example", 403),
  ]

  @Test(arguments: allowedHostCases)
  func `Accepts an allowed host and its origins`(
    allowed: String, lines: String, status: Int?
  ) throws {
    let rules = try AccessRules(hosts: [allowed])
    #expect(self.status { try admit(lines, rules) } == status)
  }

  /// On a Unix socket.
  static let unixSocketCases: [(lines: String, status: Int?)] = [
    ("Host: localhost", nil), ("Host: localhost:1234", nil), ("Host: app.example.org", nil),
    ("Host: app.example.org:4443", nil), ("Host: other.example:1", nil),
    ("Host: other.example", 403),
    ("Host: 127.0.0.1", 403), ("Host: evil.example", 403), ("Accept: */*", 400),
    ("Host: localhost\r\nOrigin: https://app.example.org", nil),
    ("Host: localhost\r\nOrigin: https://app.example.org:1", 403),
    ("Host: localhost\r\nOrigin: http://other.example:1", nil),
    ("Host: localhost\r\nOrigin: http://localhost", 403),
  ]

  @Test(arguments: unixSocketCases)
  func `Ignores the host port on a Unix socket`(lines: String, status: Int?) throws {
    let rules = try AccessRules(hosts: ["app.example.org", "other.example:1"])
    #expect(self.status { try admit(lines, rules, port: 0, from: .unix) } == status)
  }

  @Test func `Accepts the bound address but rejects wildcard addresses`() {
    #expect(status { try admit("Host: 192.0.2.1:8080", host: "192.0.2.1") } == nil)
    #expect(status { try admit("Host: 0.0.0.0:8080", host: "0.0.0.0") } == 403)
    #expect(status { try admit("Host: [::]:8080", host: "[::]") } == 403)
  }

  @Test func `Open path accepts any host and reports allowed origins`() throws {
    let rules = try AccessRules(origins: ["https://page.example", "null"])
    let lines = "Host: evil.example\r\nOrigin: "
    #expect(try admit(lines + "https://evil.example", rules, isOpen: true).allowedOrigin == nil)
    #expect(try admit(lines + "no origin", rules, isOpen: true).allowedOrigin == nil)
    #expect(try admit("Host: x", rules, isOpen: true).allowedOrigin == nil)
    #expect(try admit(lines + "null", rules, isOpen: true).allowedOrigin == "null")
    let page = try admit(lines + "https://page.example", rules, isOpen: true)
    #expect(page.allowedOrigin == "https://page.example")
    #expect(status { try admit("A: b", isOpen: true) } == 400)
    #expect(status { try admit("A: b", isOpen: true, line: "GET / HTTP/1.0") } == nil)
    #expect(status { try admit("A: b", line: "GET / HTTP/1.0") } == 400)
  }

  @Test func `Handshake contains only the configured headers`() throws {
    let lines =
      "Host: localhost:8080\r\nX-Tenant: a\r\nAuthorization: Basic x\r\nCookie: c\r\nx-tenant: b"
    let named = try admit(lines, handshakeHeaders: ["x-tenant"]).handshake
    #expect(named.headers.map { "\($0.name)=\($0.value)" } == ["x-tenant=a", "x-tenant=b"])
    #expect(named.token == nil && named.address == "127.0.0.1" && named.origin == nil)
    #expect(try admit(lines).handshake.headers.isEmpty)
    #expect(try admit(lines, handshakeHeaders: ["cookie"]).handshake.headers.count == 1)
  }

  /// Header lines, the reason in the response, and the additional hint in the log.
  static let rejectionCases: [(lines: String, reason: String, hint: String?)] = [
    (
      "Host: evil.example", "the Host header names another server: \"evil.example\"",
      "allow it with --allow-host evil.example"
    ),
    (
      "Host: localhost:8080\r\nOrigin: https://a.example:1",
      "pages of \"https://a.example:1\" are not allowed",
      "allow them with --allow-origin https://a.example:1"
    ),
    (
      "Host: localhost:8080\r\nOrigin: null", "pages without an origin (\"null\") are not allowed",
      "allow them, which are sandboxed frames and files, with --allow-origin null"
    ),
    (
      "Host: localhost:8080\r\nX-Forwarded-For: 192.0.2.1",
      "the header \"x-forwarded-for\" shows a proxy that the server does not trust",
      "trust it with --trusted-proxy 127.0.0.1"
    ),
    ("Host: me:SECRET@a.example", "the Host header is not of the form NAME or NAME:PORT", nil),
    ("Host: a.example/SECRET?SECRET", "the Host header is not of the form NAME or NAME:PORT", nil),
    (
      "Host: localhost:8080\r\nOrigin: http://a.example/SECRET",
      "the Origin header does not contain an origin",
      nil
    ),
    (
      "Host: localhost:8080\r\nAuthorization: Bearer SECRET,",
      "a token must have 1 to 4096 letters, digits and -._~+/, with = only at its end", nil
    ),
  ]

  @Test(arguments: rejectionCases)
  func `Rejection states reason and hint without secrets`(
    lines: String, reason: String, hint: String?
  ) {
    do {
      _ = try admit(lines)
      Issue.record("let in: \(lines)")
    } catch {
      let fault = error as? HTTPRequestRejection
      #expect(fault?.reason == reason && fault?.hint == hint)
      #expect(fault?.text == reason + (hint.map { "; \($0)" } ?? ""))
      #expect(fault?.text.contains("SECRET") == false)
    }
  }

  @Test func `Rejection quotes long header values shortened and printable`() throws {
    let long = "https://" + String(repeating: "a.", count: 120) + "example"
    for lines in ["Host: \(long.dropFirst(8))", "Host: localhost:8080\r\nOrigin: \(long)"] {
      do {
        _ = try admit(lines)
        Issue.record("let in: \(lines)")
      } catch {
        let text = (error as? HTTPRequestRejection)?.text ?? ""
        #expect(text.utf8.count < 280 && text.contains("\"…"))
      }
    }
    #expect(quoted("ä\"\u{7}x") == "\"????x\"")
  }

  /// Invalid rules and their error messages.
  @Test func `Invalid access rules report the expected format`() {
    for host in [
      "", "a b", "http://a.example", "a.example/x", "a.example.", "u@a.example", "1.2.3", "a:0",
      "*.a.example", "ä.example", "[::1", "a..b",
    ] {
      let error = #expect(throws: SocketError.self) { try AccessRules(hosts: [host]) }
      #expect(
        error?.description.contains("an allowed host must be NAME or NAME:PORT") == true, "\(host)")
    }
    for origin in [
      "", "*", "a.example", "https://a.example/", "https://a.example/x", "https://*",
      "https://a.*.example", "https://*.*.example", "https://*.127.0.0.1", "https://",
      "https://a:b", "https://a:1:*", "http://u@a", "NULL", "https://a https://b", "://a", "1a://b",
    ] {
      let error = #expect(throws: SocketError.self) { try AccessRules(origins: [origin]) }
      #expect(
        error?.description.contains("an allowed origin must be SCHEME://HOST") == true, "\(origin)")
    }
    for proxy in [
      "", "localhost", "10.0.0.0/33", "10.0.0.1/8", "::/129", "10.0.0.0/08", "10.1", "Unix",
      "1.2.3.4:5", "10.0.0.0/-1", "10.0.0.0/",
    ] {
      let error = #expect(throws: SocketError.self) { try AccessRules(trustedProxies: [proxy]) }
      #expect(
        error?.description.contains("a trusted proxy must be an IPv4 or IPv6 address") == true,
        "\(proxy)")
    }
  }
}
