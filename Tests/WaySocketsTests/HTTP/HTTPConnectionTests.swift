import Testing
import WayTransport

@testable import WaySockets

@Suite struct HTTPConnectionTests {
  static let healthResponder: HTTPResponder = { request in
    guard request.path == "/health" else { return nil }
    return .respond(
      HTTPResponse(
        status: 200, contentType: "application/json",
        body: Array("{\"\(request.method)\":1}".utf8)))
  }

  @Test func `BridgeResponder handles its path for every method`() async throws {
    try await withServer(responder: Self.healthResponder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send("GET /h%65alth?x HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
      let head = socket.readHead()
      #expect(
        head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("Content-Type: application/json"))
      #expect(socket.read(9) == Array("{\"GET\":1}".utf8))
      // Two at once on the same connection.
      let head2 = "HEAD /health HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n"
      let last =
        "POST /health HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n"
      socket.send(head2 + last)
      #expect(socket.readHead().contains("Content-Length: 10"))
      #expect(socket.readHead().contains("Connection: close"))
      #expect(socket.readToEnd() == "{\"POST\":1}")
    }
  }

  /// A request without Host, the start of its response, and part of the response's text.
  static let rejectionCases: [(String, String, String)] = [
    ("GET /nowhere HTTP/1.1", "404", "there is nothing at \"/nowhere\""),
    ("GET /echo HTTP/1.1", "426", "WebSocket endpoint"),
    ("POST / HTTP/1.1", "405", "GET and HEAD only"),
    ("DELETE / HTTP/1.1", "405", "GET and HEAD only"),
    ("GET /%zz HTTP/1.1", "400", "percent-encoded"),
    ("GET / HTTP/1.1\r\nContent-Length: 5", "413", "body"),
    ("POST /health HTTP/1.1\r\nContent-Length: 99999999999999999999", "400", "Content-Length"),
    ("POST /health HTTP/1.1\r\nContent-Length: -1", "400", "Content-Length"),
    ("POST /health HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0", "400", "Content-Length"),
    ("POST /health HTTP/1.1\r\nTransfer-Encoding: chunked", "413", "body"),
    ("POST /health HTTP/1.1\r\nTransfer-Encoding: gzip", "501", "chunked"),
    ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0", "400", "both"),
    ("GET / HTTP/1.1\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked", "413", "body"),
    ("GET / HTTP/1.1\r\nUpgrade: websoc\u{212A}et", "404", "nothing at \"/\""),
    ("GET / HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", "404", "nothing at \"/\""),
    ("GET / HTTP/1.1\r\nUpgrade: h2c, websocket", "404", "no WebSocket endpoint"),
    (
      "GET /nowhere HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade", "404",
      "no WebSocket endpoint"
    ),
    ("GET / HTTP/1.1\r\nOrigin: http://evil.example", "403", "are not allowed"),
    ("GET /health HTTP/1.1\r\nOrigin: http://evil.example", "403", "are not allowed"),
    ("GET / HTTP/1.1\r\nForwarded: for=192.0.2.1", "403", "forwarded\" shows a proxy"),
    ("GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1", "403", "x-forwarded-for\" shows a proxy"),
    ("GET / HTTP/1.1\r\nx-forwarded-anything:", "403", "x-forwarded-anything\" shows a proxy"),
    ("GET /health HTTP/1.1\r\nX-Real-IP: 192.0.2.1", "403", "x-real-ip\" shows a proxy"),
    ("GET /health HTTP/1.1\r\nVia: 1.1 gate", "403", "via\" shows a proxy"),
    ("GET / HTTP/1.1\r\nA: " + String(repeating: "b", count: 33_000), "431", "32768"),
  ]

  @Test(arguments: rejectionCases)
  func `Rejections have a status and an explanation`(
    request: String, status: String, text: String
  ) async throws {
    try await withServer(responder: Self.healthResponder) { server in
      let socket = try RawSocket(port: server.port)
      let host = "\r\nHost: localhost:\(server.port)"
      socket.send(request + host + "\r\nConnection: close\r\n\r\n")
      let head = socket.readHead()
      #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
      #expect(head.contains("Content-Type: text/plain"))
      #expect(socket.readToEnd().contains(text))
    }
  }

  @Test(arguments: ["/nowhere", "/echo", "/%zz"])
  func `Response to HEAD has no body, even when rejected`(path: String) async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.send(
        "HEAD \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\r\n")
      #expect(socket.readHead().hasPrefix("HTTP/1.1 4"))
      #expect(socket.readToEnd() == "")
    }
  }

  @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "evil.example"])
  func `Checks the Host of a handshake`(name: String) async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.send(RawSocket.handshake(host: "\(name):\(server.port)"))
      let status = name == "evil.example" ? "403" : "101"
      #expect(socket.readHead().hasPrefix("HTTP/1.1 \(status) "))
    }
  }

  @Test func `Checks the Origin of a handshake`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      let head = socket.upgrade(port: server.port, more: "Origin: http://evil.example\r\n")
      #expect(head.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
      #expect(socket.readToEnd().hasPrefix("pages of \"http://evil.example\" are not"))
      let other = try RawSocket(port: server.port)
      let origin = "Origin: http://localhost:\(server.port)\r\n"
      #expect(other.upgrade(port: server.port, more: origin).hasPrefix("HTTP/1.1 101 "))
    }
  }

  /// Targets in absolute form, and the start of the response.
  static let absoluteTargets: [(String, String)] = [
    ("http://127.0.0.1:PORT/health?x", "200"), ("HTTP://localhost:PORT/health", "200"),
    ("http://localhost:PORT", "404"), ("http://localhost:PORT?x", "404"),
    ("http://evil.example:PORT/health", "403"), ("http://user@localhost:PORT/health", "403"),
    ("http:///health", "403"), ("https://localhost:PORT/health", "400"),
    ("http:/health", "400"), ("localhost:PORT/health", "400"),
  ]

  @Test(arguments: absoluteTargets)
  func `Host of an absolute target overrides the Host header`(
    target: String, status: String
  ) async throws {
    try await withServer(responder: Self.healthResponder) { server in
      for host in ["localhost:\(server.port)", "evil.example"] {
        let socket = try RawSocket(port: server.port)
        let target = target.replacing("PORT", with: "\(server.port)")
        socket.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        let head = socket.readHead()
        #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(host): \(head)")
      }
    }
  }

  @Test func `Skips a few empty lines before a request`() async throws {
    try await withServer(
      responder: Self.healthResponder, configure: .init { $0.headTimeout = .seconds(60) }
    ) { server in
      let request = "GET /health HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n"
      let some = try RawSocket(port: server.port)
      some.send("\r\n\r\n" + request)
      #expect(some.readHead().hasPrefix("HTTP/1.1 200 "))
      #expect(some.read(9).count == 9)
      some.send("\r")
      some.send("\n" + request)
      #expect(some.readHead().hasPrefix("HTTP/1.1 200 "))
      let many = try RawSocket(port: server.port)
      many.send(String(repeating: "\r\n", count: 20_000))
      many.send(request)
      #expect(many.readToEnd() == "")
    }
  }

  @Test func `Reports the chosen subprotocol`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      // `c` is a known subprotocol here, but not of this endpoint.
      let head = socket.upgrade(
        port: server.port, more: "Sec-WebSocket-Protocol: c, b\r\nSec-WebSocket-Protocol: a\r\n")
      #expect(head.contains("Sec-WebSocket-Protocol: b\r\n"))
      #expect(await server.acceptor.next()?.1.subprotocol == "b")
    }
  }

  @Test func `Ignores offered extensions`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      let head = socket.upgrade(
        port: server.port, more: "Sec-WebSocket-Extensions: permessage-deflate\r\n")
      #expect(head.hasPrefix("HTTP/1.1 101 ") && !head.contains("Sec-WebSocket-Extensions"))
    }
  }

  @Test func `Adds configured headers to every response`() async throws {
    try await withServer(configure: .init { $0.headers = [("X-One", "1")] }) { server in
      let socket = try RawSocket(port: server.port)
      socket.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      #expect(socket.readHead().contains("\r\nX-One: 1\r\n"))
    }
    await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.headers = [("X-One", "1\r\nX-Two: 2")] }) { _ in }
    }
  }

  /// Input that is not HTTP, and whether the server responds before it closes the connection.
  static let invalidInputs: [(String, [UInt8], Bool)] = [
    ("zeros", [0, 0, 0, 0], false),
    ("TLS", [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3], false),
    ("HTTP/2", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), true),
    ("text", Array("hello\r\n\r\n".utf8), false),
    ("a word without end", [UInt8](repeating: 0x41, count: 100), false),
    ("nothing", [], false),
    ("half a head", Array("GET / HTTP/1.1\r\nHost:".utf8), false),
    ("half a handshake", Array(RawSocket.handshake(host: "localhost").utf8.dropLast(2)), false),
    ("an early frame", Array(RawSocket.handshake(host: "localhost").utf8) + [0x81], true),
  ]

  @Test(arguments: invalidInputs.indices)
  func `Drops peers that do not speak HTTP`(index: Int) async throws {
    let (name, bytes, getsResponse) = Self.invalidInputs[index]
    try await withServer(
      configure: .init {
        $0.headTimeout = getsResponse ? .seconds(60) : .milliseconds(200)
      }
    ) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(bytes)
      let response = socket.readToEnd()
      #expect(response.hasPrefix("HTTP/1.1 ") == getsResponse, "\(name): \(response)")
      let next = try await server.connect()
      await server.onLoop { next.channel.send(text: "served") }
      #expect(await next.next() == .text("served"))
    }
  }

  @Test func `Survives a client reset during a response`() async throws {
    let body = [UInt8](repeating: 0x61, count: 8 << 20)
    let responder: HTTPResponder = { _ in
      .respond(HTTPResponse(status: 200, contentType: "text/plain", body: body))
    }
    try await withServer(responder: responder) { server in
      for _ in 0..<5 {
        let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
        socket.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
        #expect(socket.read(10).count == 10)
      }
      let socket = try RawSocket(port: server.port)
      #expect(socket.upgrade(port: server.port).hasPrefix("HTTP/1.1 101 "))
    }
  }
}
