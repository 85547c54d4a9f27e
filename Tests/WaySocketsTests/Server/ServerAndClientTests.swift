import Glibc
import Testing
import WayTransport

@testable import WaySockets

@Suite struct ServerAndClientTests {
  @Test(arguments: ["0.0.0.0", "::", "192.168.0.1", "example.com", ""])
  func `Rejects addresses other than loopback`(host: String) async throws {
    let error = await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.network.host = host }) { _ in }
    }
    #expect(error?.kind == .invalid)
    #expect(error?.description.contains("127.0.0.1") == true)
  }

  @Test(arguments: ["127.0.0.1", "localhost", "::1"])
  func `Serves each loopback address under its name`(host: String) async throws {
    let loop = try SocketLoop.start()
    let acceptor = RecordingAcceptor()
    var configuration = SocketServerConfiguration.anyPort
    configuration.network.host = host
    let server = SocketServer(
      configuration: configuration,
      endpoints: [Endpoint(path: "/", subprotocols: [], maxMessage: 1, acceptor: acceptor)],
      loop: loop)
    let address = try await server.start()
    #expect(address.port > 0)
    try await SocketClient.connect(url: "ws://\(address.host):\(address.port)", on: loop) {
      RecordingReceiver($0)
    }
    #expect(await acceptor.next() != nil)
    await server.stop()
    await loop.shutdown()
  }

  @Test func `Reports a port that is in use`() async throws {
    try await withServer { first in
      let error = await #expect(throws: SocketError.self) {
        try await withServer(configure: .init { $0.network.port = first.port }) { _ in }
      }
      #expect(error?.kind == .addressInUse)
      #expect(error?.description.contains("127.0.0.1:\(first.port)") == true)
    }
  }

  @Test(arguments: [-1, 65_536, .max])
  func `Rejects ports out of range`(port: Int) async throws {
    await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.network.port = port }) { _ in }
    }
  }

  @Test func `Starting twice fails and keeps the server running`() async throws {
    try await withServer { server in
      await #expect(throws: SocketError.self) { _ = try await server.server.start() }
      // The connection remains open.
      let client = try await server.connect()
      await server.onLoop { client.channel.send(text: "still") }
      #expect(await client.next() == .text("still"))
    }
  }

  static let urlCases: [(String, WebSocketAddressParts?)] = [
    ("ws://127.0.0.1:8080/bridge", .init("127.0.0.1", 8080, "/bridge", "127.0.0.1:8080")),
    ("WS://localhost", .init("localhost", 80, "/", "localhost")),
    ("ws://[::1]:1/a?b=c", .init("::1", 1, "/a?b=c", "[::1]:1")),
    ("ws://host?q", .init("host", 80, "/?q", "host")),
    ("wss://localhost/", nil), ("http://localhost/", nil), ("localhost:1", nil), ("ws://", nil),
    ("ws://:80", nil),
    ("ws://a:0", nil), ("ws://a:65536", nil), ("ws://a:x", nil), ("ws://a:", nil),
    ("ws://[::1", nil), ("ws://[::1]x", nil),
    ("ws://a/#f", nil), ("ws://u:p@a/", nil), ("ws://a/ b", nil), ("ws://a/\r\nX: y", nil),
    ("ws://" + String(repeating: "a", count: 200), nil), ("ws://a:99999999999999999999", nil),
  ]

  struct WebSocketAddressParts: Sendable, Equatable {
    var host: String
    var port: Int
    var target: String
    var authority: String

    init(_ host: String, _ port: Int, _ target: String, _ authority: String) {
      self.host = host
      self.port = port
      self.target = target
      self.authority = authority
    }
  }

  @Test(arguments: urlCases)
  func `Parses valid URLs and rejects others`(url: String, parts: WebSocketAddressParts?) throws {
    do throws(SocketError) {
      let read = try WebSocketAddress(url)
      #expect(
        WebSocketAddressParts(read.host, read.port, read.target, read.authority) == parts)
    } catch {
      #expect(parts == nil)
      #expect(error.kind == .invalid)
    }
  }

  @Test func `Rejects wss with an explanation`() {
    let error = #expect(throws: SocketError.self) { try WebSocketAddress("wss://localhost/") }
    #expect(error?.description.contains("wss is not supported") == true)
  }

  /// Path, subprotocol, origin, and the HTTP status that the client receives.
  static let rejectionCases: [(String, String?, String?, Int)] = [
    ("/nowhere", nil, nil, 404), ("/echo", "unknown", nil, 400),
    ("/echo", nil, "http://evil.example", 403),
  ]

  @Test(arguments: rejectionCases)
  func `Rejected client receives the HTTP status`(
    path: String, subprotocol: String?, origin: String?, status: Int
  ) async throws {
    try await withServer { server in
      let error = await #expect(throws: SocketError.self) {
        try await SocketClient.connect(
          url: server.url(path), subprotocol: subprotocol, origin: origin, on: server.loop
        ) { RecordingReceiver($0) }
      }
      #expect(error?.kind == .rejected(status: status))
      #expect(error?.description.contains("\(status)") == true)
    }
  }

  @Test func `Client sends its origin unchanged`() async throws {
    try await withServer { server in
      try await SocketClient.connect(
        url: server.url(), origin: "http://localhost:\(server.port)", on: server.loop
      ) { RecordingReceiver($0) }
    }
  }

  @Test func `Connecting to a closed port fails`() async throws {
    var port = 0
    try await withServer { port = $0.port }
    let loop = try SocketLoop.start()
    let error = await #expect(throws: SocketError.self) {
      try await SocketClient.connect(url: "ws://127.0.0.1:\(port)/", on: loop) {
        RecordingReceiver($0)
      }
    }
    #expect(error?.kind == .rejected(status: nil))
    await loop.shutdown()
  }

  /// Like a server that ends while clients reconnect to it.
  @Test(arguments: 1...8)
  func `Connecting fails at once when the server resets`(_: Int) async throws {
    let listening = try ListenSocket(host: "127.0.0.1", port: 0)
    defer { listening.close() }
    let loop = try SocketLoop.start()
    let url = "ws://127.0.0.1:\(listening.address.port)/"
    let attempt = Task {
      try await SocketClient.connect(url: url, timeout: .seconds(50), on: loop) {
        RecordingReceiver($0)
      }
    }
    // The data is not read, so that closing the socket resets the connection.
    var linger = linger(l_onoff: 1, l_linger: 0)
    var acceptedDescriptor: Int32?
    while acceptedDescriptor == nil {
      if case .success((let descriptor, _)) = listening.accept() { acceptedDescriptor = descriptor }
      await Task.yield()
    }
    if let acceptedDescriptor {
      setsockopt(
        acceptedDescriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
      close(acceptedDescriptor)
    }
    let error = await #expect(throws: SocketError.self) { try await attempt.value }
    #expect(error?.kind == .rejected(status: nil))
    await loop.shutdown()
  }

  @Test func `Connecting times out when the server never responds`() async throws {
    let listening = try ListenSocket(host: "127.0.0.1", port: 0)
    defer { listening.close() }
    let loop = try SocketLoop.start()
    let error = await #expect(throws: SocketError.self) {
      try await SocketClient.connect(
        url: "ws://127.0.0.1:\(listening.address.port)/", timeout: .milliseconds(50), on: loop
      ) { RecordingReceiver($0) }
    }
    #expect(error?.kind == .timeout)
    await loop.shutdown()
  }

  @Test func `Connecting fails when the loop shuts down`() async throws {
    let listening = try ListenSocket(host: "127.0.0.1", port: 0)
    defer { listening.close() }
    let loop = try SocketLoop.start()
    let connecting = Task {
      try await SocketClient.connect(url: "ws://127.0.0.1:\(listening.address.port)/", on: loop) {
        RecordingReceiver($0)
      }
    }
    while case .failure = listening.accept() { await Task.yield() }
    await loop.shutdown()
    await #expect(throws: SocketError.self) { try await connecting.value }
    await #expect(throws: SocketError.self) {
      try await SocketClient.connect(url: "ws://127.0.0.1:1/", on: loop) { RecordingReceiver($0) }
    }
  }

  @Test func `Client closes with 1009 on a message too large`() async throws {
    try await withServer { server in
      let client = try await server.connect(maxMessage: 10)
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop { accepted.channel.send(bytes: .init(repeating: 0, count: 11)) }
      #expect(await client.next() == .closed(1009))
      #expect(await accepted.next() == .closed(1009))
    }
  }
}
