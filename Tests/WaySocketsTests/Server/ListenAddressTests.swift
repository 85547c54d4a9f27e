import Glibc
import Testing
import WayTransport

@testable import WaySockets

/// Where a server listens, and below which path.
@Suite struct ListenAddressTests {
  private func ask(
    _ socket: RawSocket, _ target: String, host: String = "localhost", method: String = "GET",
    more: String = ""
  ) -> String {
    socket.send(
      "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(more)\r\n")
    return socket.readToEnd()
  }

  /// A path in a folder of its own, both removed after `body`.
  private func withPath(_ body: (String) async throws -> Void) async throws {
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

  @Test func `At a Unix socket programs of the same user are served, and it is gone at the end`()
    async throws
  {
    try await withPath { path in
      let responder: HTTPResponder = { request in
        guard request.path == "/who" else { return nil }
        let who = "\(request.isLocal) \(request.handshake.address ?? "nil")"
        return .answer(HTTPResponse(status: 200, body: Array(who.utf8)))
      }
      try await withServer(responder: responder, configure: .init { $0.unixPath = path }) {
        server in
        #expect(mode(path) == S_IFSOCK | 0o600)
        #expect(server.port == 0)
        #expect(try ask(RawSocket(unixPath: path), "/who").hasSuffix("\r\n\r\ntrue unix"))
        let foreign = ask(try RawSocket(unixPath: path), "/who", host: "evil.example")
        #expect(foreign.hasPrefix("HTTP/1.1 403 "))
        let proxied = ask(
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

  @Test func `Whoever comes by a Unix socket may be a trusted proxy`() async throws {
    try await withPath { path in
      let rules = try AccessRules(hosts: ["app.example.org"], trustedProxies: ["unix"])
      try await withServer(
        configure: .init {
          $0.unixPath = path
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

  @Test func `The socket of a dead server is taken over, that of a live one is not`() async throws {
    try await withPath { path in
      let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = try #require(SystemSocketAddress(unixPath: path))
      #expect(address.withPointer { bind(dead, $0, $1) } == 0)
      close(dead)
      #expect(mode(path) != nil)
      try await withServer(configure: .init { $0.unixPath = path }) { _ in
        let error = await #expect(throws: SocketError.self) {
          try await withServer(configure: .init { $0.unixPath = path }) { _ in }
        }
        #expect(error?.kind == .addressInUse && error?.description.contains(path) == true)
        let answer = ask(try RawSocket(unixPath: path), "/")
        #expect(answer.hasPrefix("HTTP/1.1 404 "))
      }
    }
  }

  @Test func `A file that is no socket is left alone`() async throws {
    try await withPath { path in
      close(open(path, O_CREAT | O_WRONLY, 0o644))
      let error = await #expect(throws: SocketError.self) {
        try await withServer(configure: .init { $0.unixPath = path }) { _ in }
      }
      #expect(error?.description.contains("no socket") == true)
      #expect(mode(path) == S_IFREG | 0o644)
    }
  }

  @Test func `A server that ends leaves what another has put in the place of its socket`()
    async throws
  {
    try await withPath { path in
      try await withServer(configure: .init { $0.unixPath = path }) { _ in
        unlink(path)
        close(open(path, O_CREAT | O_WRONLY, 0o644))
      }
      #expect(mode(path) == S_IFREG | 0o644)
    }
  }

  @Test(arguments: ["", "/nowhere/at/all/socket", "/tmp/" + String(repeating: "a", count: 200)])
  func `A path at which nothing can listen is said at the start`(path: String) async throws {
    let error = await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.unixPath = path }) { _ in }
    }
    #expect(error?.description.contains(path.isEmpty ? "\"\"" : path.prefix(60)) == true)
  }

  @Test func `Everything is served below the prefix, and nothing outside`() async throws {
    let responder: HTTPResponder = { request in
      guard request.path == "/health" else { return nil }
      return .answer(HTTPResponse(status: 200, body: Array(request.path.utf8)))
    }
    let file = HTTPEmbeddedFile(name: "x.js", bytes: Array("text".utf8))
    try await withServer(
      responder: responder,
      configure: .init {
        $0.prefix = "/app/x"
        $0.embeddedFiles = ["/a/x.js": file]
        $0.webRoot = "/usr/share"
        $0.openPaths = ["/health"]
      }
    ) { server in
      let host = "localhost:\(server.port)"
      func get(_ target: String, host: String = host, method: String = "GET") throws -> String {
        ask(try RawSocket(port: server.port), target, host: host, method: method)
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
        let answer = try get(target)
        #expect(
          answer.hasPrefix("HTTP/1.1 \(start) ") && answer.contains(part), "\(target): \(answer)")
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
  func `A prefix that is none is said at the start`(prefix: String) async throws {
    let error = await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.prefix = prefix }) { _ in }
    }
    #expect(error?.description.contains("the prefix must be a path such as /app") == true)
  }

  @Test func `Other machines get in only where that is said`() throws {
    for host in ["0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.", "127.1", ""] {
      let error = #expect(throws: SocketError.self) { try ListenSocket(host: host, port: 0) }
      #expect(error?.description.contains("only 127.0.0.1, localhost and ::1") == true, "\(host)")
    }
    for (host, shown) in [("0.0.0.0", "0.0.0.0"), ("localhost", "127.0.0.1")] {
      let socket = try ListenSocket(host: host, port: 0, allowsOthers: true)
      #expect(socket.address.host == shown && socket.address.port > 0)
      socket.close()
    }
    for host in ["example.org", "localhost.", "127.1", ""] {
      #expect(throws: SocketError.self) {
        try ListenSocket(host: host, port: 0, allowsOthers: true)
      }
    }
  }

  @Test func `Scripts of a page that is let in may read an open path, those of others nothing`()
    async throws
  {
    let responder: HTTPResponder = { request in
      ["/health", "/other"].contains(request.path)
        ? .answer(HTTPResponse(status: request.path == "/other" ? 200 : 503, body: [])) : nil
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
        ask(
          try RawSocket(port: server.port), path, host: "localhost:\(server.port)",
          more: origin.map { "Origin: \($0)\r\n" } ?? "")
      }
      for origin in ["https://page.example", "null", "http://localhost:\(server.port)"] {
        let answer = try get("/health", origin)
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.contains("\r\nAccess-Control-Allow-Origin: \(origin)\r\nVary: Origin\r\n"))
        for path in ["/other", "/x.js", "/nowhere"] {
          let other = try get(path, origin)
          #expect(!other.contains("Access-Control") && !other.hasPrefix("HTTP/1.1 403 "), "\(path)")
        }
      }
      for origin in ["https://evil.example", "https://page.example.evil.example", "x", nil] {
        let answer = try get("/health", origin)
        #expect(answer.hasPrefix("HTTP/1.1 503 ") && !answer.contains("Access-Control"))
        if let origin { #expect(try get("/other", origin).hasPrefix("HTTP/1.1 403 ")) }
      }
      let socket = try RawSocket(port: server.port)
      let upgrade = socket.upgrade(
        port: server.port, path: "/health", more: "Origin: https://evil.example\r\n")
      #expect(upgrade.hasPrefix("HTTP/1.1 403 "))
    }
  }
}
