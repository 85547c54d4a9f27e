import Testing
import WayTransport

@testable import WaySockets

@Suite struct ConnectionLimitTests {
  static let responder: HTTPResponder = { request in
    switch request.path {
    case "/health":
      .respond(
        HTTPResponse(
          status: 200, contentType: "text/plain", body: Array("well".utf8), isServedWhenFull: true))
    case "/page":
      .respond(HTTPResponse(status: 200, contentType: "text/plain", body: Array("page".utf8)))
    default: nil
    }
  }

  private func get(_ path: String, _ server: TestServer) throws -> String {
    let socket = try RawSocket(port: server.port)
    socket.send("GET \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
    return socket.readToEnd()
  }

  @Test func `Full server serves only exempt paths`() async throws {
    try await withServer(
      responder: Self.responder, configure: .init { $0.limits.maxConnections = 2 }
    ) { server in
      let first = try RawSocket(port: server.port)
      first.upgrade(port: server.port)
      let second = try RawSocket(port: server.port)
      second.upgrade(port: server.port)
      for _ in 0..<3 {
        let health = try get("/health", server)
        #expect(health.hasPrefix("HTTP/1.1 200 ") && health.hasSuffix("well"))
        #expect(health.contains("Connection: close\r\n"))
        #expect(try get("/page", server).hasPrefix("HTTP/1.1 503 "))
        #expect(try get("/nowhere", server).hasPrefix("HTTP/1.1 503 "))
        let third = try RawSocket(port: server.port)
        #expect(third.upgrade(port: server.port).hasPrefix("HTTP/1.1 503 "))
      }
      #expect(server.loop.traffic.rejections == [.full: 9])
      first.send(RawSocket.frame(0x88, [3, 0xE8]))
      #expect(first.readCloseCode() == 1000)
      #expect(await server.acceptor.next()?.0.next() == .closed(1000))
      let fourth = try RawSocket(port: server.port)
      #expect(fourth.upgrade(port: server.port).hasPrefix("HTTP/1.1 101 "))
    }
  }

  @Test func `Waiting connection is accepted when another one closes`() async throws {
    try await withServer(
      responder: Self.responder, configure: .init { $0.limits.maxConnections = 1 }
    ) { server in
      let first = try RawSocket(port: server.port)
      first.upgrade(port: server.port)
      let second = try RawSocket(port: server.port)
      // The second one is connected before the first one disconnects.
      #expect(try get("/health", server).hasPrefix("HTTP/1.1 200 "))
      first.send(RawSocket.frame(0x88, [3, 0xE8]))
      #expect(await server.acceptor.next()?.0.next() == .closed(1000))
      #expect(second.upgrade(port: server.port).hasPrefix("HTTP/1.1 101 "))
    }
  }

  @Test func `Idle connections do not block a full server`() async throws {
    try await withServer(
      responder: Self.responder,
      configure: .init {
        $0.limits.maxConnections = 1
        $0.maximumOverflowConnections = 3
        $0.headTimeout = .seconds(60)
      }
    ) { server in
      let first = try RawSocket(port: server.port)
      first.upgrade(port: server.port)
      let silent = try (0..<10).map { _ in try RawSocket(port: server.port) }
      #expect(try get("/health", server).hasPrefix("HTTP/1.1 200 "))
      #expect(silent[0].readToEnd().hasPrefix("HTTP/1.1 503 "))
    }
  }

  @Test func `Counts rejections by kind`() async throws {
    try await withServer { server in
      let host = "Host: localhost:\(server.port)\r\n"
      for (lines, kind) in [
        ("GET /a HTTP/1.1\r\nHost: evil.example\r\n", .host),
        ("GET /a HTTP/1.1\r\n", .host),
        ("GET /a HTTP/1.1\r\n\(host)Origin: null\r\n", .origin),
        ("GET /a HTTP/1.1\r\n\(host)Via: a\r\n", .proxy),
        ("GET /echo HTTP/1.1\r\n\(host)", .handshake),
        ("GET /echo HTTP/1.1\r\n\(host)Upgrade: websocket\r\n", .handshake),
        ("GET /a HTTP/1.1\r\n\(host)Content-Length: 1\r\n", .request),
        ("GET /a HTTP/3\r\n", .request),
      ] as [(String, HTTPRejectionKind)] {
        let before = server.loop.traffic.rejections
        let socket = try RawSocket(port: server.port)
        socket.send(lines + "\r\n")
        #expect(socket.readToEnd().hasPrefix("HTTP/1.1 4") || lines.contains("HTTP/3"))
        var expected = before
        expected[kind, default: 0] += 1
        #expect(server.loop.traffic.rejections == expected, "\(lines)")
      }
    }
  }
}
