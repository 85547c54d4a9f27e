import Glibc
import Testing
import WayTransport

@testable import WaySockets

/// The addresses and base paths of a server.
@Suite struct ListenAddressTests {
  private func sendRequest(
    _ socket: RawSocket, _ target: String, host: String = "localhost", method: String = "GET",
    more: String = ""
  ) -> String {
    socket.send(
      "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(more)\r\n")
    return socket.readToEnd()
  }

  /// Calls `body` with a socket path in a temporary folder, and removes both afterwards.
  private func withSocketPath(_ body: (String) async throws -> Void) async throws {
    var template = Array("/tmp/way-unix-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SocketError.errno("mkdtemp", errno) }
    let folder = String(cString: made)
    defer {
      unlink(folder + "/socket")
      rmdir(folder)
    }
    try await body(folder + "/socket")
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode : nil
  }

  @Test func `Serves on a Unix socket and removes its file`()
    async throws
  {
    try await withSocketPath { path in
      let responder: HTTPResponder = { request in
        guard request.path == "/who" else { return nil }
        let who = "\(request.isLocal) \(request.handshake.address ?? "nil")"
        return .respond(HTTPResponse(status: 200, body: Array(who.utf8)))
      }
      try await withServer(responder: responder, configure: .init { $0.network.unixPath = path }) {
        server in
        #expect(mode(path) == S_IFSOCK | 0o600)
        #expect(server.port == 0)
        #expect(try sendRequest(RawSocket(unixPath: path), "/who").hasSuffix("\r\n\r\ntrue unix"))
        let foreign = sendRequest(try RawSocket(unixPath: path), "/who", host: "evil.example")
        #expect(foreign.hasPrefix("HTTP/1.1 403 "))
        let proxied = sendRequest(
          try RawSocket(unixPath: path), "/who", more: "X-Forwarded-For: 192.0.2.1\r\n")
        #expect(proxied.hasPrefix("HTTP/1.1 403 "))
        let socket = try RawSocket(unixPath: path)
        socket.send(RawSocket.handshake(host: "localhost"))
        try #require(socket.readHead().hasPrefix("HTTP/1.1 101 "))
        let handshake = await server.acceptor.next()?.1
        #expect(handshake?.address == "unix" && handshake?.origin == nil)
        socket.send(RawSocket.frame(0x81, Array("hello".utf8)))
        #expect(socket.readFrame()?.payload == Array("hello".utf8))
      }
      #expect(mode(path) == nil)
    }
  }

  @Test func `Trusts proxies on a Unix socket when configured`() async throws {
    try await withSocketPath { path in
      let rules = try AccessRules(hosts: ["app.example.org"], trustedProxies: ["unix"])
      try await withServer(
        configure: .init {
          $0.network.unixPath = path
          $0.access = rules
        }
      ) { server in
        let socket = try RawSocket(unixPath: path)
        socket.send(
          RawSocket.handshake(
            host: "app.example.org",
            more: "X-Forwarded-For: 192.0.2.1\r\nOrigin: https://app.example.org\r\n"))
        try #require(socket.readHead().hasPrefix("HTTP/1.1 101 "))
        #expect(await server.acceptor.next()?.1.address == "192.0.2.1")
      }
    }
  }

  @Test func `Replaces only a stale socket file`() async throws {
    try await withSocketPath { path in
      let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = try #require(SystemSocketAddress(unixPath: path))
      #expect(address.withPointer { bind(dead, $0, $1) } == 0)
      close(dead)
      #expect(mode(path) != nil)
      try await withServer(configure: .init { $0.network.unixPath = path }) { _ in
        let error = await #expect(throws: SocketError.self) {
          try await withServer(configure: .init { $0.network.unixPath = path }) { _ in }
        }
        #expect(error?.kind == .addressInUse && error?.description.contains(path) == true)
        let response = sendRequest(try RawSocket(unixPath: path), "/")
        #expect(response.hasPrefix("HTTP/1.1 404 "))
      }
    }
  }

  @Test func `Keeps a file that is not a socket`() async throws {
    try await withSocketPath { path in
      close(open(path, O_CREAT | O_WRONLY, 0o644))
      let error = await #expect(throws: SocketError.self) {
        try await withServer(configure: .init { $0.network.unixPath = path }) { _ in }
      }
      #expect(error?.description.contains("not a socket") == true)
      #expect(mode(path) == S_IFREG | 0o644)
    }
  }

  @Test func `Keeps a file that replaced its socket`()
    async throws
  {
    try await withSocketPath { path in
      try await withServer(configure: .init { $0.network.unixPath = path }) { _ in
        unlink(path)
        close(open(path, O_CREAT | O_WRONLY, 0o644))
      }
      #expect(mode(path) == S_IFREG | 0o644)
    }
  }

  @Test(arguments: ["", "/nowhere/at/all/socket", "/tmp/" + String(repeating: "a", count: 200)])
  func `Rejects an invalid socket path at startup`(path: String) async throws {
    let error = await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.network.unixPath = path }) { _ in }
    }
    #expect(error?.description.contains(path.isEmpty ? "\"\"" : path.prefix(60)) == true)
  }

  @Test func `Serves paths only below the prefix`() async throws {
    let responder: HTTPResponder = { request in
      guard request.path == "/health" else { return nil }
      return .respond(HTTPResponse(status: 200, body: Array(request.path.utf8)))
    }
    let file = HTTPEmbeddedFile(name: "x.js", bytes: Array("text".utf8))
    try await withServer(
      responder: responder,
      configure: .init {
        $0.network.prefix = "/app/x"
        $0.embeddedFiles = ["/a/x.js": file]
        $0.web.root = "/usr/share"
        $0.openPaths = ["/health"]
      }
    ) { server in
      let host = "localhost:\(server.port)"
      func get(_ target: String, host: String = host, method: String = "GET") throws -> String {
        sendRequest(try RawSocket(port: server.port), target, host: host, method: method)
      }
      for (target, start, part) in [
        ("/app/x/health", "200", "\r\n\r\n/health"),
        ("/app/x/h%65alth?a", "200", "\r\n\r\n/health"),
        ("/app/x/a/x.js", "200", "\r\n\r\ntext"),
        ("/app/x", "301", "\r\nLocation: /app/x/\r\n"),
        ("/app/x?a=b", "301", "\r\nLocation: /app/x/?a=b\r\n"),
        ("/app/x/doc?a", "301", "\r\nLocation: /app/x/doc/?a\r\n"),
        ("/app/x/echo", "426", "WebSocket endpoint"),
        ("/health", "404", "nothing"), ("/app/health", "404", "nothing"),
        ("/app/xhealth", "404", "nothing"), ("/app/xxdoc", "404", "nothing"),
        ("/App/x/health", "404", "nothing"),
        ("/app/%78/health", "404", "nothing"), ("//app/x/health", "404", "nothing"),
        ("/app/x//health", "404", "nothing"), ("/a/x.js", "404", "nothing"),
        ("/app/x/../x/health", "404", "nothing"), ("/echo", "404", "nothing"),
        ("/", "404", "nothing"),
      ] {
        let response = try get(target)
        #expect(
          response.hasPrefix("HTTP/1.1 \(start) ") && response.contains(part),
          "\(target): \(response)")
      }
      #expect(try get("/app/x/health", host: "evil.example").hasPrefix("HTTP/1.1 200 "))
      #expect(try get("/health", host: "evil.example").hasPrefix("HTTP/1.1 403 "))
      for (path, status) in [
        ("/app/x/echo", "101"), ("/echo", "404"), ("/app/x/app/x/echo", "404"),
      ] {
        let socket = try RawSocket(port: server.port)
        #expect(
          socket.upgrade(port: server.port, path: path).hasPrefix("HTTP/1.1 \(status) "), "\(path)")
      }
    }
  }

  @Test(arguments: [
    "/", "app", "/app/", "//app", "/a//b", "/./a", "/a/..", "/a b", "/a%20b", "/ä", "/a?b", "/a#b",
    "/" + String(repeating: "a", count: 256),
  ])
  func `Rejects an invalid prefix at startup`(prefix: String) async throws {
    let error = await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.network.prefix = prefix }) { _ in }
    }
    #expect(error?.description.contains("the prefix must be a path such as /app") == true)
  }

  @Test func `Listens on remote addresses only when allowed`() throws {
    for host in ["0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.", "127.1", ""] {
      let error = #expect(throws: SocketError.self) { try ListenSocket(host: host, port: 0) }
      #expect(error?.description.contains("only 127.0.0.1, localhost and ::1") == true, "\(host)")
    }
    for (host, shown) in [("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "127.0.0.1")] {
      let socket = try ListenSocket(host: host, port: 0, allowsRemoteClients: true)
      #expect(socket.address.host == shown && socket.address.port > 0)
      socket.close()
    }
    for host in ["example.org", "localhost.", "127.1", ""] {
      #expect(throws: SocketError.self) {
        try ListenSocket(host: host, port: 0, allowsRemoteClients: true)
      }
    }
  }

  /// The host of a server, the addresses that it binds, those at which local clients reach it, and
  /// the host that it reports.
  static let hosts: [(String, [String], [String], String)] = [
    ("127.0.0.1", ["127.0.0.1"], ["127.0.0.1"], "127.0.0.1"),
    ("::1", ["[::1]"], ["::1"], "[::1]"), ("[::1]", ["[::1]"], ["::1"], "[::1]"),
    ("localhost", ["127.0.0.1", "[::1]"], ["127.0.0.1", "::1"], "localhost"),
    ("0.0.0.0", ["0.0.0.0"], ["127.0.0.1"], "0.0.0.0"),
    ("::", ["[::]"], ["127.0.0.1", "::1"], "[::]"),
  ]

  private func configuration(_ host: String, port: Int = 0) -> SocketServerConfiguration {
    var configuration = SocketServerConfiguration()
    configuration.network.host = host
    configuration.network.port = port
    configuration.allowsRemoteClients = true
    return configuration
  }

  @Test(.enabled(if: ListenSockets.isPresent("::1")), arguments: hosts)
  func `Is reached at every address of its host`(
    host: String, bound: [String], reached: [String], shown: String
  ) async throws {
    let sockets = try ListenSockets(configuration(host))
    #expect(sockets.all.map { $0.address.host } == bound)
    #expect(Set(sockets.all.map { $0.address.port }) == [sockets.address.port])
    for socket in sockets.all { socket.close() }
    let responder: HTTPResponder = { request in
      let client = "\(request.isLocal) \(request.handshake.address ?? "nil")"
      return .respond(HTTPResponse(status: 200, body: Array(client.utf8)))
    }
    try await withServer(
      responder: responder,
      configure: .init {
        $0.network.host = host
        $0.allowsRemoteClients = true
      }
    ) { server in
      #expect(server.address.host == shown && server.port > 0)
      for client in reached {
        let address = try #require(IPAddress(client))
        // Each of the server's names is valid at each of its addresses.
        for name in ["127.0.0.1", "localhost", "[::1]"] {
          let socket = try RawSocket(address: address, port: server.port)
          let origin = "Origin: http://\(name):\(server.port)\r\n"
          let response = sendRequest(socket, "/", host: "\(name):\(server.port)", more: origin)
          #expect(response.hasSuffix("\r\n\r\ntrue \(client)"), "\(client): \(response)")
        }
        let socket = try RawSocket(address: address, port: server.port)
        socket.send(RawSocket.handshake(host: "localhost:\(server.port)"))
        #expect(socket.readHead().hasPrefix("HTTP/1.1 101 "), "\(client)")
      }
    }
  }

  @Test func `Listens on localhost without IPv6 or without IPv4`() throws {
    for (missing, shown) in [("::1", "127.0.0.1"), ("127.0.0.1", "[::1]")]
    where ListenSockets.isPresent("::1") {
      let sockets = try ListenSockets(configuration("localhost"), isPresent: { $0 != missing })
      #expect(sockets.all.map { $0.address.host } == [shown])
      #expect(sockets.address.host == shown && sockets.address.port > 0)
      for socket in sockets.all { socket.close() }
    }
    #expect(ListenSockets.isPresent("127.0.0.1"))
    #expect(!ListenSockets.isPresent("192.0.2.1") && !ListenSockets.isPresent("2001:db8::1"))
    let onlyIPv4 = try ListenSockets(configuration("localhost"), isPresent: { $0 == "127.0.0.1" })
    #expect(onlyIPv4.address.host == "127.0.0.1")
    for socket in onlyIPv4.all { socket.close() }
  }

  @Test(.enabled(if: ListenSockets.isPresent("::1")))
  func `Finds a port that is free at both loopback addresses`() throws {
    var all: [ListenSocket] = []
    defer { for socket in all { socket.close() } }
    for _ in 0..<50 {
      let sockets = try ListenSockets(configuration("localhost")).all
      all += sockets
      #expect(sockets.count == 2 && sockets[0].address.port == sockets[1].address.port)
    }
  }

  @Test(.enabled(if: ListenSockets.isPresent("::1")), arguments: ["127.0.0.1", "::1"])
  func `Reports a port of localhost that is in use at one address`(used: String) throws {
    let other = try ListenSocket(host: used, port: 0)
    defer { other.close() }
    let port = other.address.port
    let error = #expect(throws: SocketError.self) {
      try ListenSockets(configuration("localhost", port: port))
    }
    #expect(error?.kind == .addressInUse)
    #expect(error?.description.contains(":\(port) is in use by another program") == true)
  }

  @Test func `Open paths send CORS headers only to allowed origins`()
    async throws
  {
    let responder: HTTPResponder = { request in
      ["/health", "/other"].contains(request.path)
        ? .respond(HTTPResponse(status: request.path == "/other" ? 200 : 503, body: [])) : nil
    }
    let rules = try AccessRules(origins: ["https://page.example", "null"])
    let file = HTTPEmbeddedFile(name: "x.js", bytes: [])
    try await withServer(
      responder: responder,
      configure: .init {
        $0.access = rules
        $0.openPaths = ["/health"]
        $0.embeddedFiles = ["/x.js": file]
      }
    ) { server in
      func get(_ path: String, _ origin: String?) throws -> String {
        sendRequest(
          try RawSocket(port: server.port), path, host: "localhost:\(server.port)",
          more: origin.map { "Origin: \($0)\r\n" } ?? "")
      }
      for origin in ["https://page.example", "null", "http://localhost:\(server.port)"] {
        let response = try get("/health", origin)
        #expect(response.hasPrefix("HTTP/1.1 503 "))
        #expect(response.contains("\r\nAccess-Control-Allow-Origin: \(origin)\r\nVary: Origin\r\n"))
        for path in ["/other", "/x.js", "/nowhere"] {
          let other = try get(path, origin)
          #expect(!other.contains("Access-Control") && !other.hasPrefix("HTTP/1.1 403 "), "\(path)")
        }
      }
      for origin in ["https://evil.example", "https://page.example.evil.example", "x", nil] {
        let response = try get("/health", origin)
        #expect(response.hasPrefix("HTTP/1.1 503 ") && !response.contains("Access-Control"))
        if let origin { #expect(try get("/other", origin).hasPrefix("HTTP/1.1 403 ")) }
      }
      let socket = try RawSocket(port: server.port)
      let upgrade = socket.upgrade(
        port: server.port, path: "/health", more: "Origin: https://evil.example\r\n")
      #expect(upgrade.hasPrefix("HTTP/1.1 403 "))
    }
  }
}
