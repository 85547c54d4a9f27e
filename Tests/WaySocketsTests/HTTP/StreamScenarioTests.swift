import TestSupport
import Testing
import WayTransport

@testable import WaySockets

/// A client of one response, inside the process or at a server.
private protocol ScenarioClient: Sendable {
  /// The status of the response, and its content type.
  func head() async throws -> String
  /// The next part of the body; `nil` at its end, or if the connection has ended before.
  func part() async throws -> String?
  func close() async
  func drain() async
}

private final class MemoryClient: ScenarioClient {
  private let exchange: MemoryHTTPExchange
  private let loop: MemoryLoop

  init(_ request: HTTPRequest, _ body: [UInt8], _ responder: @escaping HTTPResponder) {
    loop = MemoryLoop()
    exchange = MemoryHTTPExchange(request, body: body, to: responder, on: loop)
  }

  func head() async throws -> String {
    guard case .response(let response) = try await exchange.events.receive() else { return "" }
    if response.stream == nil {
      exchange.events.put(.part(response.body))
      exchange.events.put(.end(.completed))
    }
    return "\(response.status) \(response.contentType ?? "")"
  }

  func part() async throws -> String? {
    guard case .part(let part) = try await exchange.events.receive() else { return nil }
    return String(decoding: part, as: UTF8.self)
  }

  func close() async { exchange.close() }
  func drain() async { exchange.drain() }
}

private final class LiveClient: ScenarioClient, @unchecked Sendable {  // used by one task
  private var socket: RawSocket?
  private let server: TestServer
  private var length: Int?

  init(_ request: HTTPRequest, _ body: [UInt8], _ server: TestServer) throws {
    self.server = server
    let fields = request.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    socket = try RawSocket(port: server.port)
    socket?.send(
      StreamedResponseTests.request(
        request.path, server, method: request.method,
        fields: fields + "Content-Length: \(body.count)\r\n"))
    socket?.send(body)
  }

  private func field(_ name: String, _ head: String) -> String? {
    head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  func head() async throws -> String {
    let head = socket?.readHead() ?? ""
    length = field("Content-Length", head).flatMap { Int($0) }
    return head.dropFirst(9).prefix(4) + (field("Content-Type", head) ?? "")
  }

  func part() async throws -> String? {
    guard let socket else { return nil }
    if let length {
      self.length = 0
      return length > 0 ? String(decoding: socket.read(length), as: UTF8.self) : nil
    }
    guard let size = socket.readLine().flatMap({ Int($0, radix: 16) }), size > 0 else { return nil }
    let part = socket.read(size)
    _ = socket.readLine()
    return String(decoding: part, as: UTF8.self)
  }

  func close() async { socket = nil }

  func drain() async {
    let stopped = server
    Task { await stopped.server.stop(grace: .seconds(60)) }
  }
}

/// The same scenarios inside the process and at a server.
@Suite(.timeLimit(.minutes(1))) struct StreamScenarioTests {
  private func withClient(
    isLive: Bool, _ request: HTTPRequest, body: [UInt8] = [],
    _ responder: @escaping HTTPResponder, _ work: (any ScenarioClient) async throws -> Void
  ) async throws {
    guard isLive else { return try await work(MemoryClient(request, body, responder)) }
    try await withServer(
      responder: responder, configure: .init { $0.lingerTimeout = .milliseconds(100) }
    ) { server in
      try await work(LiveClient(request, body, server))
    }
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test(arguments: [false, true], ["/events", "/later", "/body"])
  func `Producer sends parts and ends`(isLive: Bool, path: String) async throws {
    let producer = RecordingProducer()
    var request = HTTPRequest(method: "GET", path: path)
    if path == "/body" {
      request.method = "POST"
      request.fields = [("content-type", "application/json")]
    }
    let responder = StreamedResponseTests.responder([producer])
    try await withClient(
      isLive: isLive, request, body: path == "/body" ? Self.text("{}") : [], responder
    ) { (client) async throws in
      #expect(try await client.head() == "200 text/event-stream")
      let writer = try await producer.writer()
      for text in ["one", "two", "three"] {
        writer.send([])
        writer.send(Self.text(text))
        #expect(try await client.part() == text)
      }
      writer.end()
      writer.send(Self.text("four"))
      #expect(try await client.part() == nil)
      #expect(try await producer.end() == .completed)
      #expect(writer.heldBytes == 0)
      await client.close()
      #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test(arguments: [false, true])
  func `Client closes in the middle`(isLive: Bool) async throws {
    let producer = RecordingProducer()
    try await withClient(
      isLive: isLive, HTTPRequest(method: "GET", path: "/events"),
      StreamedResponseTests.responder([producer])
    ) { (client) async throws in
      _ = try await client.head()
      let writer = try await producer.writer()
      writer.send(Self.text("one"))
      #expect(try await client.part() == "one")
      await client.close()
      #expect(try await producer.end() == .disconnected)
      writer.send(Self.text("two"))
      writer.end()
      #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test(arguments: [false, true])
  func `Server drains`(isLive: Bool) async throws {
    let producer = RecordingProducer(endsAtDrain: false)
    try await withClient(
      isLive: isLive, HTTPRequest(method: "GET", path: "/events"),
      StreamedResponseTests.responder([producer])
    ) { (client) async throws in
      _ = try await client.head()
      _ = try await producer.writer()
      await client.drain()
      let writer = try await producer.drained.receive()
      writer.send(Self.text("last"))
      writer.end()
      #expect(try await client.part() == "last")
      #expect(try await client.part() == nil)
      #expect(try await producer.end() == .completed)
    }
  }

  @Test(arguments: [false, true])
  func `Response to HEAD has no stream`(isLive: Bool) async throws {
    let producer = RecordingProducer()
    try await withClient(
      isLive: isLive, HTTPRequest(method: "HEAD", path: "/events"),
      StreamedResponseTests.responder([producer])
    ) { (client) async throws in
      #expect(try await client.head() == "200 text/event-stream")
      #expect(try await producer.end() == .notStarted)
      #expect(await producer.writers.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test(arguments: [false, true])
  func `Response without a stream`(isLive: Bool) async throws {
    try await withClient(
      isLive: isLive, HTTPRequest(method: "GET", path: "/plain"),
      StreamedResponseTests.responder([])
    ) { (client) async throws in
      #expect(try await client.head() == "200 text/plain")
      #expect(try await client.part() == "plain")
      #expect(try await client.part() == nil)
    }
  }

  @Test func `Client in memory that does not read`() async throws {
    let loop = MemoryLoop()
    let producer = RecordingProducer()
    let exchange = MemoryHTTPExchange(
      HTTPRequest(method: "GET", path: "/events"),
      to: StreamedResponseTests.responder([producer], maxHeldBytes: 10), on: loop)
    let writer = try await producer.writer()
    exchange.pause()
    writer.send(Self.text("12345"))
    await loop.settle()
    #expect(writer.heldBytes == 5)
    exchange.resume()
    await loop.settle()
    #expect(writer.heldBytes == 0)
    exchange.pause()
    writer.send(Self.text("1234567890"))
    writer.send(Self.text("1"))
    #expect(try await producer.end() == .slowConsumer)
    #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
  }

  @Test func `Client in memory that has closed before the response`() async throws {
    let loop = MemoryLoop()
    let producer = RecordingProducer()
    let responses = Mailbox<@Sendable (HTTPResponse) -> Void>()
    let exchange = MemoryHTTPExchange(
      HTTPRequest(method: "GET", path: "/"),
      to: { _ in
        .respondLater { respond in
          responses.put(respond)
          return StreamedResponseTests.NoWork()
        }
      }, on: loop)
    let respond = try await responses.receive()
    exchange.close()
    await loop.settle()
    loop.execute { respond(.events(from: producer)) }
    #expect(try await producer.end() == .notStarted)
  }

  @Test func `Silent stream in memory is kept alive`() async throws {
    let loop = MemoryLoop()
    let producer = RecordingProducer()
    let exchange = MemoryHTTPExchange(
      HTTPRequest(method: "GET", path: "/events"), to: StreamedResponseTests.responder([producer]),
      on: loop)
    let writer = try await producer.writer()
    await loop.advance(by: .seconds(19))
    writer.send(Self.text("one"))
    await loop.advance(by: .seconds(20))
    await loop.advance(by: .seconds(20))
    writer.end()
    await loop.settle()
    var parts: [String] = []
    while let event = await exchange.events.next(within: .milliseconds(20)) {
      if case .part(let part) = event { parts.append(String(decoding: part, as: UTF8.self)) }
    }
    #expect(parts == ["one", ":\n\n"])
    #expect(try await producer.end() == .completed)
  }
}
