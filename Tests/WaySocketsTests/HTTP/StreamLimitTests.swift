import TestSupport
import Testing
import WayTransport

@testable import WaySockets

/// Streamed responses as connections: liveness, drain and the limits of connections.
@Suite(.timeLimit(.minutes(1))) struct StreamLimitTests {
  private typealias Streams = StreamedResponseTests

  /// A client whose response has begun.
  private func open(
    _ server: TestServer, _ producer: RecordingProducer, path: String = "/events",
    fields: String = "", receiveBuffer: Int32? = nil
  ) async throws -> (RawSocket, any HTTPStreamWriter) {
    let socket = try RawSocket(port: server.port, receiveBuffer: receiveBuffer)
    socket.send(Streams.request(path, server, fields: fields))
    #expect(socket.readHead().hasPrefix("HTTP/1.1 200 "))
    return (socket, try await producer.writer())
  }

  private func response(_ path: String, _ server: TestServer, fields: String = "") throws -> String
  {
    let socket = try RawSocket(port: server.port)
    socket.send(Streams.request(path, server, fields: fields + "Connection: close\r\n"))
    return socket.readToEnd()
  }

  @Test func `Silent streams are kept alive`() async throws {
    let producer = RecordingProducer()
    try await withServer(
      responder: Streams.responder([producer]),
      configure: .init {
        $0.limits.ping = .milliseconds(20)
        // Not even the timeouts of requests apply.
        $0.headTimeout = .milliseconds(30)
        $0.writeTimeout = .milliseconds(30)
      }
    ) { server in
      let (socket, writer) = try await open(server, producer)
      for _ in 0..<5 { #expect(socket.readText("3\r\n:\n\n\r\n")) }
      writer.end()
      #expect(socket.readLine("0"))
      #expect(try await producer.end() == .completed)
    }
  }

  /// How many bytes wait: more than the system holds for the client, or fewer.
  @Test(arguments: [(16 << 20, HTTPStreamEnd.slowConsumer), (128 << 10, .disconnected)])
  func `Clients that accept nothing are disconnected`(
    size: Int, expected: HTTPStreamEnd
  ) async throws {
    let producer = RecordingProducer()
    try await withServer(
      responder: Streams.responder([producer]),
      configure: .init {
        $0.limits.ping = .milliseconds(20)
        $0.limits.silence = .milliseconds(100)
        $0.limits.maxQueueBytes = 64 << 20
        $0.connection.highWater = 64 << 20
      }
    ) { server in
      let (socket, writer) = try await open(server, producer, receiveBuffer: 4096)
      writer.send([UInt8](repeating: 0x61, count: size))
      #expect(try await producer.end() == expected)
      withExtendedLifetime(socket) {}
    }
  }

  @Test func `Congested streams have less time`() async throws {
    let producer = RecordingProducer()
    try await withServer(
      responder: Streams.responder([producer]),
      configure: .init {
        $0.limits.ping = .milliseconds(20)
        $0.limits.silence = .seconds(600)
        $0.limits.maxQueueBytes = 64 << 20
        $0.connection.stallTimeout = .milliseconds(100)
      }
    ) { server in
      let (socket, writer) = try await open(server, producer, receiveBuffer: 4096)
      writer.send([UInt8](repeating: 0x61, count: 16 << 20))
      #expect(try await producer.end() == .slowConsumer)
      withExtendedLifetime(socket) {}
    }
  }

  @Test func `Streams end properly when the server drains`() async throws {
    let producers = (0..<20).map { _ in RecordingProducer() }
    try await withServer(
      responder: Streams.responder(producers),
      configure: .init { $0.lingerTimeout = .milliseconds(100) }
    ) { server in
      var sockets: [RawSocket] = []
      for producer in producers { sockets.append(try await open(server, producer).0) }
      await server.server.stop(grace: .seconds(600))
      for (socket, producer) in zip(sockets, producers) {
        #expect(socket.readToEnd() == "0\r\n\r\n")
        #expect(try await producer.end() == .completed)
      }
      #expect(throws: SocketError.self) { try RawSocket(port: server.port) }
    }
  }

  @Test func `Producer may finish its work when the server drains`() async throws {
    let working = RecordingProducer(endsAtDrain: false)
    let late = RecordingProducer()
    let deferred = RecordingProducer()
    let responses = Mailbox<@Sendable (HTTPResponse) -> Void>()
    let events = Streams.responder([working, late])
    let responder: HTTPResponder = { request in
      guard request.path == "/wait" else { return events(request) }
      return .respondLater { respond in
        responses.put(respond)
        return Streams.NoWork()
      }
    }
    try await withServer(
      responder: responder, configure: .init { $0.lingerTimeout = .seconds(60) }
    ) { server in
      // It delays the end.
      let slow = try RawSocket(port: server.port)
      slow.upgrade(port: server.port)
      let stopped: Task<Void, Never>
      do {
        let (socket, writer) = try await open(server, working)
        let awaiting = try RawSocket(port: server.port)
        awaiting.send(Streams.request("/wait", server))
        let respond = try await responses.receive()
        stopped = Task { await server.server.stop(grace: .seconds(60)) }
        #expect(slow.readCloseCode() == 4200)
        _ = try await working.drained.receive()
        #expect(try response("/events", server).hasPrefix("HTTP/1.1 503 "))
        #expect(try await late.end() == .notStarted)
        // The response to a request from before may still become a stream.
        await server.onLoop { respond(.events(from: deferred)) }
        #expect(try await deferred.end() == .completed)
        #expect(awaiting.readToEnd().hasSuffix("\r\n\r\n0\r\n\r\n"))
        writer.send(Array("data: done\n\n".utf8))
        writer.end()
        #expect(socket.readToEnd() == "c\r\ndata: done\n\n\r\n0\r\n\r\n")
        #expect(try await working.end() == .completed)
      }
      slow.send(RawSocket.frame(0x88, [0x10, 0x68]))
      await stopped.value
    }
  }

  @Test func `Stream ends with the grace period`() async throws {
    let producer = RecordingProducer(endsAtDrain: false)
    try await withServer(responder: Streams.responder([producer])) { server in
      let (socket, _) = try await open(server, producer)
      await server.server.stop(grace: .milliseconds(50))
      #expect(try await producer.end() == .closedByServer)
      #expect(socket.readToEnd() == "")
      #expect(await producer.drained.next(within: .milliseconds(20)) != nil)
      #expect(await producer.drained.next(within: .milliseconds(20)) == nil)
      #expect(await producer.ends.next(within: .milliseconds(20)) == nil)
    }
  }

  @Test func `Stream ends with its loop`() async throws {
    let producer = RecordingProducer()
    try await withServer(responder: Streams.responder([producer])) { server in
      let (socket, writer) = try await open(server, producer)
      await server.loop.shutdown()
      #expect(try await producer.end() == .closedByServer)
      writer.send([1])
      writer.end()
      #expect(socket.readToEnd() == "")
    }
  }

  @Test func `Stream counts as a connection, and needs one`() async throws {
    let producers = (0..<4).map { _ in RecordingProducer() }
    let events = Streams.responder(producers)
    let responder: HTTPResponder = { request in
      let decision = events(request)
      guard case .respondLater(let start, _) = decision else { return decision }
      return .respondLater(start, isServedWhenFull: true)
    }
    try await withServer(
      responder: responder, configure: .init { $0.limits.maxConnections = 1 }
    ) { server in
      let (socket, writer) = try await open(server, producers[0], path: "/later")
      #expect(try response("/plain", server).hasPrefix("HTTP/1.1 503 "))
      for index in 1...2 {
        // A response that would be served when the server is full, and one that would not.
        let path = index == 1 ? "/later" : "/events"
        #expect(try response(path, server).hasPrefix("HTTP/1.1 503 "))
        #expect(try await producers[index].end() == .notStarted)
      }
      let webSocket = try RawSocket(port: server.port)
      #expect(webSocket.upgrade(port: server.port).hasPrefix("HTTP/1.1 503 "))
      writer.end()
      #expect(try await producers[0].end() == .completed)
      socket.send(Streams.request("/later", server, fields: "Connection: close\r\n"))
      #expect(socket.readText("0\r\n\r\nHTTP/1.1 200 OK\r\n"))
      try await producers[3].writer().end()
      _ = socket.readToEnd()
      #expect(try await producers[3].end() == .completed)
    }
  }

  @Test(arguments: [true, false])
  func `Streams of authenticated clients are not replaced`(isAuthenticated: Bool) async throws {
    let producers = (0..<2).map { _ in RecordingProducer() }
    try await withServer(
      responder: Streams.responder(producers, isAuthenticated: isAuthenticated),
      configure: .init {
        $0.authenticatesClients = true
        $0.limits.maxUnauthenticated = 1
      }
    ) { server in
      let (socket, writer) = try await open(server, producers[0])
      var expected = isAuthenticated ? 0 : 1
      #expect(await server.server.admissionStatistics().unadmitted == expected)
      let (second, _) = try await open(server, producers[1])
      #expect(await server.server.admissionStatistics().unadmitted == expected)
      guard isAuthenticated else {
        #expect(try await producers[0].end() == .closedByServer)
        #expect(socket.readToEnd() == "")
        return
      }
      // The next request on the connection may be that of any client.
      writer.end()
      #expect(socket.readText("0\r\n\r\n"))
      expected = 1
      #expect(await server.server.admissionStatistics().unadmitted == expected)
      socket.send(Streams.request("/plain", server))
      #expect(socket.readHead().hasPrefix("HTTP/1.1 200 "))
      withExtendedLifetime(second) {}
    }
  }

  @Test func `Stream behind a proxy uses the address that it names`() async throws {
    let rules = try AccessRules(trustedProxies: ["127.0.0.1"])
    let producers = (0..<4).map { _ in RecordingProducer() }
    try await withServer(
      responder: Streams.responder(producers),
      configure: .init {
        $0.access = rules
        $0.limits.maxAddressConnections = 1
        $0.limits.maxAddressRate = 0
      }
    ) { server in
      let first = "X-Forwarded-For: 192.0.2.1\r\n"
      let (socket, writer) = try await open(server, producers[0], fields: first)
      let rejected = try response("/events", server, fields: first)
      #expect(rejected.hasPrefix("HTTP/1.1 429 "))
      #expect(try await producers[1].end() == .notStarted)
      let other = "X-Forwarded-For: 192.0.2.2\r\n"
      let second = try await open(server, producers[2], fields: other)
      // Without a stream, requests do not count.
      #expect(try response("/plain", server, fields: first).hasPrefix("HTTP/1.1 200 "))
      writer.end()
      #expect(try await producers[0].end() == .completed)
      socket.send(Streams.request("/events", server, fields: first))
      #expect(socket.readText("0\r\n\r\nHTTP/1.1 200 OK\r\n"))
      withExtendedLifetime(second) {}
    }
  }

  @Test func `Connection that is added again is behind all others`() {
    var connections = UnadmittedConnections()
    for id in 1...3 as ClosedRange<UInt64> { connections.insert(id) }
    for _ in 0..<100_000 {
      connections.remove(1)
      connections.insert(1)
    }
    #expect(connections.count == 3)
    #expect(connections.removeFirst { _ in true } == 2)
    #expect(connections.removeFirst { _ in true } == 3)
    #expect(connections.removeFirst { _ in true } == 1)
    #expect(connections.removeFirst { _ in true } == nil)
  }

  /// A thousand streams that get an event at once.
  @Test func `Many streams do not hold the loop`() async throws {
    let count = 400
    let producers = (0..<count).map { _ in RecordingProducer() }
    try await withServer(responder: Streams.responder(producers)) { server in
      var sockets: [RawSocket] = []
      var writers: [any HTTPStreamWriter] = []
      for producer in producers {
        let (socket, writer) = try await open(server, producer)
        sockets.append(socket)
        writers.append(writer)
      }
      let all = writers
      let event = Array("data: changed\n\n".utf8)
      await server.onLoop { for writer in all { writer.send(event) } }
      for socket in sockets { #expect(socket.readText("f\r\ndata: changed\n\n\r\n")) }
      #expect(await server.server.statistics().map(\.streams) == [count])
      // They hold no memory for data while nothing is sent.
      #expect(await server.server.statistics().map(\.queuedBytes) == [0])
      sockets = []
      for producer in producers { #expect(try await producer.end() == .disconnected) }
      #expect(await server.server.statistics().map(\.streams) == [0])
    }
  }
}

extension RawSocket {
  /// Reads the next line without CR LF; `nil` at the end.
  func readLine() -> String? {
    var line: [UInt8] = []
    while let byte = read(1).first {
      if byte == 0x0A { return String(decoding: line.filter { $0 != 0x0D }, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  /// Reads up to and including this line. Returns false if the connection ends before.
  func readLine(_ text: String) -> Bool {
    while let line = readLine() {
      if line == text { return true }
    }
    return false
  }
}
