import Testing
import WayTransport

@testable import WaySockets

@Suite struct DrainTests {
  @Test func `While connections close, requests are told so and no new ones are taken`()
    async throws
  {
    let responder: HTTPResponder = { request in
      .answer(
        HTTPResponse(
          status: 200, contentType: "text/plain",
          body: Array((request.isDraining ? "draining" : "serving").utf8)))
    }
    try await withServer(responder: responder) { server in
      // It never answers the close frame, and so holds up the end.
      let slow = try RawSocket(port: server.port)
      slow.upgrade(port: server.port)
      #expect(try ask(server).hasSuffix("serving"))
      let stopped = Task { await server.server.stop(grace: .seconds(60)) }
      #expect(slow.readCloseCode() == 4200)
      #expect(try ask(server).hasSuffix("draining"))
      let late = try RawSocket(port: server.port)
      #expect(late.upgrade(port: server.port).hasPrefix("HTTP/1.1 503"))
      slow.send(RawSocket.frame(0x88, [0x10, 0x68]))
      await stopped.value
      #expect(throws: SocketError.self) { try RawSocket(port: server.port) }
    }
  }

  private func ask(_ server: TestServer) throws -> String {
    let socket = try RawSocket(port: server.port)
    socket.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n")
    return socket.readToEnd()
  }
}
