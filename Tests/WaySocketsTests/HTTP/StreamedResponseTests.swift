import TestSupport
import Testing
import WayTransport

@testable import WaySockets

@Suite(.timeLimit(.minutes(1))) struct StreamedResponseTests {
  /// Responds at `/events` at once, at `/later` after a while and at `/body` after the body, always
  /// with the producer's stream; at `/plain` without one.
  static func responder(
    _ producers: [RecordingProducer], maxHeldBytes: Int? = nil, isAuthenticated: Bool = false
  ) -> HTTPResponder {
    let rest = Locked(producers[...])
    return { request in
      let response: @Sendable () -> HTTPResponse = {
        guard let producer = rest.withLock({ $0.popFirst() }) else {
          return HTTPResponse(status: 500)
        }
        return .events(
          from: producer, maxHeldBytes: maxHeldBytes, isAuthenticated: isAuthenticated)
      }
      switch request.path {
      case "/events": return .respond(response())
      case "/later":
        return .respondLater { respond in
          respond(response())
          return NoWork()
        }
      case "/body":
        return .readBody(
          HTTPBodyHandler(contentType: "application/json", limit: 10_000) { _, respond in
            respond(response())
            return NoWork()
          })
      case "/plain":
        return .respond(
          HTTPResponse(status: 200, contentType: "text/plain", body: Array("plain".utf8)))
      default: return nil
      }
    }
  }

  final class NoWork: ScheduledWork {
    func cancel() {}
  }

  static func request(
    _ path: String, _ server: TestServer, method: String = "GET", version: String = "1.1",
    fields: String = ""
  ) -> String {
    "\(method) \(path) HTTP/\(version)\r\nHost: localhost:\(server.port)\r\n\(fields)\r\n"
  }

  static let postFields = "Content-Type: application/json\r\nContent-Length: 2\r\n"

  @Test(arguments: ["/events", "/later", "/body"])
  func `Parts arrive as they are sent, and the connection continues`(path: String) async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Self.responder([producer])) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(
        path == "/body"
          ? Self.request(path, server, method: "POST", fields: Self.postFields) + "{}"
          : Self.request(path, server))
      let head = socket.readHead()
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
      for field in [
        "Content-Type: text/event-stream", "Cache-Control: no-store", "X-Accel-Buffering: no",
        "Transfer-Encoding: chunked", "X-Content-Type-Options: nosniff",
      ] {
        #expect(head.contains("\r\n\(field)\r\n"), "\(field)")
      }
      #expect(!head.contains("Content-Length") && !head.contains("Connection"))
      let writer = try await producer.writer()
      // From another thread, and from the loop.
      writer.send(Array("data: 1\n\n".utf8))
      #expect(socket.readText("9\r\ndata: 1\n\n\r\n"))
      await server.onLoop {
        writer.send([])
        writer.send(Array("data: 2\n\n".utf8))
      }
      #expect(socket.readText("9\r\ndata: 2\n\n\r\n"))
      // The next request waits until the end.
      socket.send(Self.request("/plain", server))
      let large = [UInt8](repeating: 0x61, count: 0x54321)
      writer.send(large)
      writer.end()
      writer.send([1])
      writer.end()
      #expect(socket.readText("54321\r\n"))
      #expect(socket.read(large.count) == large)
      #expect(socket.readText("\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"))
      _ = socket.readHead()
      #expect(socket.readText("plain"))
      #expect(try await producer.end() == .completed)
      #expect(writer.heldBytes == 0)
      await server.onLoop { writer.send([1]) }
      #expect(!socket.hasInput)
      #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
      #expect(server.loop.traffic.streamEnds == [.completed: 1])
    }
  }

  @Test func `Clients of HTTP 1.0 get a body that ends with the connection`() async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Self.responder([producer])) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(Self.request("/events", server, version: "1.0"))
      let head = socket.readHead()
      #expect(head.contains("\r\nConnection: close\r\n") && !head.contains("Transfer-Encoding"))
      let writer = try await producer.writer()
      writer.send(Array("data: 1\n\n".utf8))
      #expect(socket.readText("data: 1\n\n"))
      writer.send(Array("data: 2\n\n".utf8))
      writer.end()
      #expect(socket.readToEnd() == "data: 2\n\n")
      #expect(try await producer.end() == .completed)
    }
  }

  @Test func `Connection ends with the stream if the client asks for it`() async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Self.responder([producer])) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(Self.request("/events", server, fields: "Connection: close\r\n"))
      #expect(socket.readHead().contains("Transfer-Encoding: chunked\r\nConnection: close\r\n"))
      try await producer.writer().end()
      #expect(socket.readToEnd() == "0\r\n\r\n")
    }
  }

  @Test(arguments: ["/events", "/later"])
  func `Response to HEAD has no body and starts no producer`(path: String) async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Self.responder([producer])) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(
        Self.request(path, server, method: "HEAD") + Self.request("/plain", server))
      #expect(socket.readHead().contains("Content-Type: text/event-stream"))
      #expect(socket.readHead().contains("Content-Type: text/plain"))
      #expect(try await producer.end() == .notStarted)
      #expect(await producer.writers.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test func `Response without a body starts no producer`() async throws {
    let producer = RecordingProducer()
    let responder: HTTPResponder = { _ in
      var response = HTTPResponse.events(from: producer)
      response.status = 204
      return .respond(response)
    }
    try await withServer(responder: responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(Self.request("/", server, fields: "Connection: close\r\n"))
      let head = socket.readHead()
      #expect(head.hasPrefix("HTTP/1.1 204 ") && !head.contains("Transfer-Encoding"))
      #expect(socket.readToEnd() == "")
      #expect(try await producer.end() == .notStarted)
    }
  }

  @Test func `Response to HEAD that is made later has no body`() async throws {
    let responder: HTTPResponder = { _ in
      .respondLater { respond in
        respond(HTTPResponse(status: 200, contentType: "text/plain", body: Array("body".utf8)))
        return NoWork()
      }
    }
    try await withServer(responder: responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(Self.request("/", server, method: "HEAD") + Self.request("/", server))
      #expect(socket.readHead().contains("Content-Length: 4\r\n"))
      #expect(socket.readHead().hasPrefix("HTTP/1.1 200 "))
      #expect(socket.readText("body"))
    }
  }

  @Test func `Producer is notified once that the client has disconnected`() async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Self.responder([producer])) { server in
      do {
        let socket = try RawSocket(port: server.port)
        socket.send(Self.request("/events", server))
        let writer = try await producer.writer()
        writer.send(Array("data: 1\n\n".utf8))
        _ = socket.readHead()
        #expect(socket.readText("9\r\ndata: 1\n\n\r\n"))
      }
      #expect(try await producer.end() == .disconnected)
      #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
      #expect(server.loop.traffic.streamEnds == [.disconnected: 1])
    }
  }

  @Test func `Stream of a client that has disconnected before is not started`() async throws {
    let producer = RecordingProducer()
    let responses = Mailbox<@Sendable (HTTPResponse) -> Void>()
    let cancelled = Mailbox<Void>()
    final class CancelledWork: ScheduledWork {
      let cancelled: Mailbox<Void>
      init(_ cancelled: Mailbox<Void>) { self.cancelled = cancelled }
      func cancel() { cancelled.put(()) }
    }
    let responder: HTTPResponder = { _ in
      .respondLater { respond in
        responses.put(respond)
        return CancelledWork(cancelled)
      }
    }
    try await withServer(responder: responder) { server in
      let respond: @Sendable (HTTPResponse) -> Void
      do {
        let socket = try RawSocket(port: server.port)
        socket.send(Self.request("/", server))
        respond = try #require(await responses.next(within: .seconds(10)))
      }
      #expect(await cancelled.next(within: .seconds(10)) != nil)
      await server.onLoop { respond(.events(from: producer)) }
      #expect(try await producer.end() == .notStarted)
      #expect(await producer.writers.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test func `Client that reads too slowly is disconnected at the limit`() async throws {
    let producer = RecordingProducer()
    try await withServer(
      responder: Self.responder([producer], maxHeldBytes: 1 << 20)
    ) { server in
      let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
      socket.send(Self.request("/events", server))
      let writer = try await producer.writer()
      let part = [UInt8](repeating: 0x61, count: 64 << 10)
      let most = Locked(0)
      await server.onLoop {
        for _ in 0..<1000 {
          writer.send(part)
          most.withLock { $0 = max($0, writer.heldBytes) }
        }
      }
      #expect(try await producer.end() == .slowConsumer)
      #expect(writer.heldBytes == 0)
      let held = most.withLock { $0 }
      #expect(held > 900 << 10 && held <= 1 << 20, "\(held)")
      #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
      #expect(!socket.readToEnd().hasSuffix("\r\n0\r\n\r\n"))
      #expect(await server.server.statistics().map(\.queuedBytes) == [0])
    }
  }

  @Test func `Slow clients share the memory budget with WebSocket connections`() async throws {
    let producers = (0..<3).map { _ in RecordingProducer() }
    try await withServer(
      responder: Self.responder(producers), configure: .init { $0.limits.maxServerBytes = 4 << 20 }
    ) { server in
      var sockets: [RawSocket] = []
      var writers: [any HTTPStreamWriter] = []
      for producer in producers {
        let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
        socket.send(Self.request("/events", server))
        sockets.append(socket)
        writers.append(try await producer.writer())
      }
      let part = [UInt8](repeating: 0x61, count: 1 << 20)
      let (first, second, third) = (writers[0], writers[1], writers[2])
      await server.onLoop {
        // The system's buffers have some megabytes.
        for _ in 0..<5 { first.send(part) }
        while second.heldBytes < 2 << 20 { second.send(part) }
      }
      await server.onLoop {
        for _ in 0..<40 where third.heldBytes < 3 << 20 { third.send(part) }
      }
      let end = await producers[0].ends.next(within: .milliseconds(20))
      let other = await producers[1].ends.next(within: .milliseconds(20))
      #expect(end == .slowConsumer || other == .slowConsumer)
      let statistics = await server.server.statistics()[0]
      #expect(statistics.queuedBytes <= 4 << 20)
      #expect(statistics.streams < 3)
    }
  }

  @Test func `Requests that wait behind a stream are few`() async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Self.responder([producer])) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(Self.request("/events", server))
      _ = socket.readHead()
      let writer = try await producer.writer()
      let request = Array(Self.request("/plain", server).utf8)
      // The buffers of the sockets take some megabytes, and the server a few kilobytes.
      let size = 64 << 20
      let count = size / request.count
      let sent = socket.sendUntilBlocked(RawSocket.frames(request, count: count))
      #expect(sent < size / 2)
      writer.send(Array("data: 1\n\n".utf8))
      #expect(socket.readText("9\r\ndata: 1\n\n\r\n"))
      writer.end()
      #expect(socket.readText("0\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }
  }
}

extension RawSocket {
  /// Whether the next bytes are those of the text.
  func readText(_ text: String) -> Bool {
    let found = String(decoding: read(text.utf8.count), as: UTF8.self)
    if found != text { Issue.record("\(found) instead of \(text)") }
    return found == text
  }
}
