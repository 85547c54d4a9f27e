import Testing
import WayTransport

@testable import WaySockets

@Suite(.timeLimit(.minutes(1))) struct ServerDrainTests {
  @Test func `Draining server reports its state and rejects new connections`()
    async throws
  {
    let responder: HTTPResponder = { request in
      .respond(
        HTTPResponse(
          status: 200, contentType: "text/plain",
          body: Array((request.isDraining ? "draining" : "serving").utf8)))
    }
    try await withServer(
      responder: responder, configure: .init { $0.lingerTimeout = .seconds(60) }
    ) { server in
      // It never responds to the close frame and so delays the end.
      let slow = try RawSocket(port: server.port)
      slow.upgrade(port: server.port)
      #expect(try get(server).hasSuffix("serving"))
      let stopped = Task { await server.server.stop(grace: .seconds(60)) }
      #expect(slow.readCloseCode() == 4200)
      #expect(try get(server).hasSuffix("draining"))
      do {
        // Its connection ends with this scope, and the server need not wait for it.
        let late = try RawSocket(port: server.port)
        #expect(late.upgrade(port: server.port).hasPrefix("HTTP/1.1 503"))
      }
      slow.send(RawSocket.frame(0x88, [0x10, 0x68]))
      await stopped.value
      #expect(throws: SocketError.self) { try RawSocket(port: server.port) }
    }
  }

  @Test func `Silent clients do not delay the end`() async throws {
    try await withServer(
      configure: .init {
        $0.lingerTimeout = .milliseconds(100)
        $0.connection.closeTimeout = .seconds(600)
      }
    ) { server in
      var silent: [RawSocket] = []
      for _ in 0..<20 {
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port)
        silent.append(socket)
      }
      await server.server.stop(grace: .seconds(600))
      for socket in silent {
        #expect(socket.readCloseCode() == 4200)
        #expect(socket.readFrame() == nil)
      }
    }
  }

  @Test func `Messages for a slow client are sent before the end`() async throws {
    let block = [UInt8](repeating: 7, count: 1 << 20)
    try await withServer(
      echoes: false,
      configure: .init {
        $0.lingerTimeout = .milliseconds(100)
        $0.connection.closeTimeout = .seconds(600)
      }
    ) { server in
      let slow = try RawSocket(port: server.port, receiveBuffer: 4096)
      slow.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let silent = try RawSocket(port: server.port)
      silent.upgrade(port: server.port)
      await server.onLoop { for _ in 0..<7 { accepted.channel.send(bytes: block) } }
      let stopped = Task { await server.server.stop(grace: .seconds(600)) }
      // The connection of the silent client ends with the linger timeout.
      #expect(silent.readCloseCode() == 4200)
      #expect(silent.readFrame() == nil)
      for _ in 0..<7 { #expect(slow.readFrame()?.payload == block) }
      #expect(slow.readCloseCode() == 4200)
      #expect(slow.readFrame() == nil)
      await stopped.value
    }
  }

  @Test func `Clients that do not close HTTP connections hardly delay the end`() async throws {
    let responder: HTTPResponder = { request in
      guard request.method == "POST" else { return .respond(HTTPResponse(status: 200)) }
      return .readBody(
        HTTPBodyHandler(contentType: "application/json", limit: 1000) { _, _ in
          preconditionFailure("the body is incomplete")
        })
    }
    try await withServer(
      responder: responder, configure: .init { $0.lingerTimeout = .milliseconds(100) }
    ) { server in
      let idle = try RawSocket(port: server.port)
      idle.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      #expect(idle.readHead().hasPrefix("HTTP/1.1 200 "))
      let uploading = try RawSocket(port: server.port)
      uploading.send(
        "POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nExpect: 100-continue\r\n"
          + "Content-Type: application/json\r\nContent-Length: 4\r\n\r\n")
      #expect(uploading.readHead().hasPrefix("HTTP/1.1 100 "))
      await server.server.stop(grace: .seconds(600))
      #expect(uploading.readToEnd().hasPrefix("HTTP/1.1 503 "))
      #expect(idle.readToEnd() == "")
    }
  }

  private func get(_ server: TestServer) throws -> String {
    let socket = try RawSocket(port: server.port)
    socket.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n")
    return socket.readToEnd()
  }
}
