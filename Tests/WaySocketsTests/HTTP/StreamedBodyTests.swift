import TestSupport
import Testing
import WayTransport

@testable import WaySockets

/// Records the parts of a body, and holds each until the test continues.
private final class HoldingReceiver: HTTPBodyReceiver {
  typealias HeldPart = (part: [UInt8], done: @Sendable (HTTPResponse?) -> Void)

  let parts = Mailbox<HeldPart>()
  let cancelled = Mailbox<Void>()
  private let total = Locked(0)

  func receive(_ part: [UInt8], _ done: @escaping @Sendable (HTTPResponse?) -> Void) {
    total.withLock { $0 += part.count }
    parts.put((part, done))
  }

  func finish(_ respond: @escaping @Sendable (HTTPResponse) -> Void) {
    let count = total.withLock { $0 }
    respond(HTTPResponse(status: 200, contentType: "text/plain", body: Array("\(count)".utf8)))
  }

  func cancel() { cancelled.put(()) }

  func next() async throws -> HeldPart {
    try #require(await parts.next(within: .seconds(10)))
  }

  /// Continues until the body has so many bytes.
  func consume(_ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let held = try await next()
      bytes += held.part
      held.done(nil)
    }
    return bytes
  }

  func responder(limit: Int = 100 << 20) -> HTTPResponder {
    { [self] request in
      request.path == "/stream"
        ? .streamBody(HTTPBodyStream(limit: limit, receiver: self)) : nil
    }
  }
}

@Suite struct StreamedBodyTests {
  private func head(_ server: TestServer, _ fields: String) -> String {
    "POST /stream HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\(fields)\r\n\r\n"
  }

  private func readResponse(_ socket: RawSocket) -> String {
    let head = socket.readHead()
    let line = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
    let length = line.flatMap { Int($0.dropFirst(16)) } ?? 0
    return head.dropFirst(9).prefix(3) + " " + String(decoding: socket.read(length), as: UTF8.self)
  }

  @Test func `Passes on bodies with a length and in chunks, and keeps the connection`()
    async throws
  {
    let receiver = HoldingReceiver()
    try await withServer(responder: receiver.responder()) { server in
      let socket = try RawSocket(port: server.port)
      let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      socket.send(head(server, "Content-Length: 5"))
      socket.send("Hello" + head(server, "Transfer-Encoding: chunked") + "3\r\nabc\r\n")
      #expect(try await receiver.consume(5) == Array("Hello".utf8))
      #expect(readResponse(socket) == "200 5")
      #expect(try await receiver.consume(3) == Array("abc".utf8))
      socket.send("2\r\nde\r\n0\r\n\r\n")
      #expect(try await receiver.consume(2) == Array("de".utf8))
      #expect(readResponse(socket) == "200 10")
      socket.send(head(server, "Content-Length: 0"))
      #expect(readResponse(socket) == "200 10")
      socket.send(head(server, "Content-Length: \(body.count)"))
      socket.send(Array(body[..<100_000]))
      let first = try await receiver.consume(100_000)
      socket.send(Array(body[100_000...]))
      #expect(first + (try await receiver.consume(100_000)) == body)
      #expect(readResponse(socket) == "200 200010")
    }
  }

  @Test func `A receiver that is busy holds back the client`() async throws {
    let receiver = HoldingReceiver()
    try await withServer(responder: receiver.responder()) { server in
      let socket = try RawSocket(port: server.port)
      let size = 64 << 20
      socket.send(head(server, "Content-Length: \(size)"))
      // The buffers of the sockets take some megabytes, and the server one part.
      let sent = socket.sendUntilBlocked([UInt8](repeating: 1, count: size))
      #expect(sent < size / 2)
      let held = try await receiver.next()
      #expect(held.part.count <= 64 << 10)
      #expect(await receiver.parts.next(within: .milliseconds(50)) == nil)
      held.done(HTTPResponse(status: 409, contentType: "text/plain", body: Array("no".utf8)))
      #expect(readResponse(socket) == "409 no")
      #expect(await receiver.cancelled.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test func `A body that is cut, too long or malformed cancels its receiver`() async throws {
    let receiver = HoldingReceiver()
    try await withServer(responder: receiver.responder(limit: 100)) { server in
      do {
        let socket = try RawSocket(port: server.port)
        socket.send(head(server, "Content-Length: 5") + "He")
        _ = try await receiver.consume(2)
      }
      #expect(await receiver.cancelled.next(within: .seconds(10)) != nil)
      for (fields, body, response) in [
        ("Transfer-Encoding: chunked", "5\r\nHello\r\n60\r\n", "413 the body is longer than 100"),
        ("Transfer-Encoding: chunked", "5\r\nHello!\r\n", "400 the chunked body is malformed"),
      ] {
        let socket = try RawSocket(port: server.port)
        socket.send(head(server, fields) + body)
        #expect(readResponse(socket).hasPrefix(response))
        #expect(await receiver.cancelled.next(within: .seconds(10)) != nil)
      }
      let socket = try RawSocket(port: server.port)
      socket.send(head(server, "Content-Length: 101"))
      #expect(readResponse(socket).hasPrefix("413 the body is longer than 100"))
      let compressed = try RawSocket(port: server.port)
      compressed.send(head(server, "Content-Length: 1\r\nContent-Encoding: gzip"))
      #expect(readResponse(compressed).hasPrefix("415"))
    }
  }

  @Test func `All bodies together have a budget of memory`() async throws {
    let receiver = HoldingReceiver()
    try await withServer(
      responder: receiver.responder(),
      configure: ConfigurationChange { $0.maximumBodies = 2 * StreamedBody.partSize }
    ) { server in
      let sockets = try (0..<2).map { _ in try RawSocket(port: server.port) }
      for socket in sockets {
        socket.send(head(server, "Content-Length: 2") + "H")
        _ = try await receiver.consume(1)
      }
      let third = try RawSocket(port: server.port)
      third.send(head(server, "Content-Length: 2"))
      #expect(readResponse(third).hasPrefix("503"))
      sockets[0].send("i")
      _ = try await receiver.consume(1)
      #expect(readResponse(sockets[0]) == "200 3")
      let fourth = try RawSocket(port: server.port)
      fourth.send(head(server, "Content-Length: 1") + "x")
      _ = try await receiver.consume(1)
      #expect(readResponse(fourth) == "200 4")
    }
  }

  @Test func `A client that sends nothing more gets 408`() async throws {
    let receiver = HoldingReceiver()
    try await withServer(
      responder: receiver.responder(),
      configure: ConfigurationChange { $0.bodyTimeout = .milliseconds(50) }
    ) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(head(server, "Content-Length: 5") + "He")
      _ = try await receiver.consume(2)
      #expect(readResponse(socket).hasPrefix("408"))
      #expect(await receiver.cancelled.next(within: .seconds(10)) != nil)
    }
  }
}
