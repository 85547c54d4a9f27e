import Testing
import WayTransport

@testable import WaySockets

@Suite struct CloseTests {
  @Test(arguments: [1000, 1001, 3000, 4000, 4200, 4999] as [UInt16])
  func `Client's close code reaches the server once`(code: UInt16) async throws {
    try await withServer { server in
      let client = try await server.connect()
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop { client.channel.close(CloseCode(rawValue: code), "bye") }
      #expect(await accepted.next() == .closed(code))
      #expect(await client.next() == .closed(code))
      await server.server.stop()
      await server.loop.shutdown()
      #expect(await accepted.hasNoMoreEvents())
      #expect(await client.hasNoMoreEvents())
    }
  }

  @Test(arguments: [1000, 4000, 4201] as [UInt16])
  func `Server's close code reaches the client once`(code: UInt16) async throws {
    try await withServer { server in
      let client = try await server.connect()
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop {
        accepted.channel.close(CloseCode(rawValue: code), "first")
        accepted.channel.close(CloseCode(rawValue: 1011), "second")
      }
      #expect(await client.next() == .closed(code))
      #expect(await accepted.next() == .closed(code))
    }
  }

  @Test func `Connections that end together leave other work its turn`() async throws {
    try await withServer { server in
      let (events, sink) = AsyncStream<String>.makeStream()
      let isFirst = Locked(true)
      var sockets: [RawSocket] = []
      for _ in 0..<20 {
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port)
        sockets.append(socket)
        let channel = try #require(await server.acceptor.next()).0.channel
        let receiver = EndReceiver { [loop = server.loop] in
          sink.yield("end")
          let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          if isFirst { loop.execute { sink.yield("other") } }
          loop.spend(.milliseconds(1))
        }
        await server.onLoop { channel.attach(receiver) }
      }
      // The loop is busy while all of them end.
      server.loop.execute { [loop = server.loop] in loop.spend(.milliseconds(100)) }
      sockets = []
      var seen: [String] = []
      for await event in events.prefix(21) { seen.append(event) }
      #expect(seen.count { $0 == "end" } == 20)
      #expect(seen.last == "end")
      let count = Locked<Int?>(nil)
      await server.onLoop { [server = server.server] in
        let connections = server.firstStatistics.connections
        count.withLock { $0 = connections }
      }
      #expect(count.withLock { $0 } == 0)
    }
  }

  @Test func `Delivers messages sent before a close, drops later ones`() async throws {
    try await withServer { server in
      let client = try await server.connect()
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop {
        for number in 0..<100 { accepted.channel.send(text: "\(number)") }
        accepted.channel.close(.normal, "")
        accepted.channel.send(text: "late")
      }
      for number in 0..<100 { #expect(await client.next() == .text("\(number)")) }
      #expect(await client.next() == .closed(1000))
    }
  }

  @Test func `Sends queued messages before confirming a client's close`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      socket.send(RawSocket.frame(0x81, Array("call".utf8)) + RawSocket.frame(0x88, [3, 0xE8]))
      #expect(socket.readFrame()?.payload == Array("call".utf8))
      let close = try #require(socket.readFrame())
      #expect(close.first == 0x88 && close.payload == [3, 0xE8])
      #expect(socket.readFrame() == nil)
    }
  }

  /// Reasons, and the part of each that a close frame holds.
  static let reasons: [(String, String)] = [
    ("", ""), ("short", "short"),
    (String(repeating: "x", count: 200), String(repeating: "x", count: 123)),
    (String(repeating: "é", count: 100), String(repeating: "é", count: 61)),
  ]

  @Test(arguments: reasons)
  func `Truncates the close reason to the frame limit`(reason: String, sent: String) async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop { accepted.channel.close(.notJSONRPC, reason) }
      #expect(socket.readFrame()?.payload == [0x0F, 0xA0] + Array(sent.utf8))
    }
  }

  @Test func `Reports 1005 for a close frame without a code`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      socket.send(RawSocket.frame(0x88, []))
      #expect(socket.readCloseCode() == 1000)
      #expect(await server.acceptor.next()?.0.next() == .closed(1005))
    }
  }

  @Test func `Reports no code for a lost connection`() async throws {
    try await withServer { server in
      try {
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port)
      }()
      #expect(await server.acceptor.next()?.0.next() == .closed(nil))
    }
  }

  @Test func `Disconnects a peer that never confirms the close`() async throws {
    try await withServer(configure: .init { $0.connection.closeTimeout = .milliseconds(100) }) {
      server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop { accepted.channel.close(.normal, "") }
      #expect(await accepted.next() == .closed(1000))
      #expect(socket.readCloseCode() == 1000)
    }
  }

  @Test func `Disconnects a closing peer that never reads`() async throws {
    try await withServer(configure: .init { $0.connection.closeTimeout = .milliseconds(100) }) {
      server in
      let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
      socket.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let block = [UInt8](repeating: 1, count: 1 << 20)
      await server.onLoop {
        for _ in 0..<7 { accepted.channel.send(bytes: block) }
        accepted.channel.close(.normal, "")
      }
      #expect(await accepted.next() == .closed(1000))
    }
  }

  @Test func `Stopping closes every connection with its code`() async throws {
    try await withServer { server in
      var clients: [RecordingReceiver] = []
      for _ in 0..<5 { clients.append(try await server.connect()) }
      let idle = try RawSocket(port: server.port)
      await server.server.stop(drain: .drain, grace: .seconds(5))
      for client in clients { #expect(await client.next() == .closed(4200)) }
      #expect(idle.readToEnd() == "")
      #expect(throws: SocketError.self) { try RawSocket(port: server.port) }
      await server.server.stop()
    }
  }

  @Test func `Stopping waits at most the grace period`() async throws {
    try await withServer { server in
      let stubborn = try RawSocket(port: server.port)
      stubborn.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      await server.server.stop(drain: .drain, grace: .milliseconds(100))
      #expect(await accepted.next() == .closed(4200))
      #expect(stubborn.readCloseCode() == 4200)
    }
  }

  @Test func `Loop shutdown closes its open connections`() async throws {
    try await withServer { server in
      let client = try await server.connect()
      let accepted = try #require(await server.acceptor.next()).0
      let idle = try RawSocket(port: server.port)
      await server.loop.shutdown()
      #expect(await accepted.next() == .closed(nil))
      #expect(await client.next() == .closed(nil))
      #expect(idle.readToEnd() == "")
    }
  }

  @Test func `Several servers start and stop on one loop`() async throws {
    let loop = try SocketLoop.start()
    for _ in 0..<5 {
      let acceptor = RecordingAcceptor(echoes: true)
      let server = SocketServer(
        configuration: .anyPort,
        endpoints: [
          Endpoint(path: "/", subprotocols: [], maxMessage: 100, acceptor: acceptor)
        ], loop: loop)
      let port = try await server.start().port
      let socket = try RawSocket(port: port)
      socket.upgrade(port: port, path: "/")
      socket.send(RawSocket.frame(0x81, [0x61]))
      #expect(socket.readFrame()?.payload == [0x61])
      await server.stop(grace: .milliseconds(10))
    }
    await loop.shutdown()
  }
}

extension RecordingReceiver {
  /// Returns whether nothing more was recorded: later events come after the marker.
  fileprivate func hasNoMoreEvents() async -> Bool {
    receiveMark()
    return await next() == .text("mark")
  }

  private func receiveMark() {
    Array("mark".utf8).withUnsafeBytes { receive($0.bytes, as: .text) }
  }
}

/// Calls a function at the end of its connection.
private final class EndReceiver: MessageReceiver {
  private let onEnd: @Sendable () -> Void

  init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  func receive(_ message: RawSpan, as kind: MessageKind) {}
  func closed(_ code: UInt16?) { onEnd() }
}
