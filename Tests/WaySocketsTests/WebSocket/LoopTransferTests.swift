import Dispatch
import Testing
import WayTransport

@testable import WaySockets

/// Connections that move to another loop of their server.
@Suite(.timeLimit(.minutes(1)))
struct LoopTransferTests {
  /// Echoes messages. At the message `move` it moves to the next loop and reports that loop.
  private final class MigratingEcho: MessageReceiver, ChannelAcceptor {
    let loops: [SocketLoop]
    private let channel: (any MessageChannel)?
    let closeCodes: AsyncStream<UInt16?>
    private let closeCodeSink: AsyncStream<UInt16?>.Continuation
    /// The accepted handshakes, in the order in which loops adopted them.
    let handshakes: AsyncStream<Handshake>
    private let handshakeSink: AsyncStream<Handshake>.Continuation

    init(_ loops: [SocketLoop]) {
      self.loops = loops
      channel = nil
      (closeCodes, closeCodeSink) = AsyncStream.makeStream()
      (handshakes, handshakeSink) = AsyncStream.makeStream()
    }

    private init(_ channel: any MessageChannel, like other: MigratingEcho) {
      self.channel = channel
      loops = other.loops
      (closeCodes, closeCodeSink) = (other.closeCodes, other.closeCodeSink)
      (handshakes, handshakeSink) = (other.handshakes, other.handshakeSink)
    }

    func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
      self.handshakeSink.yield(handshake)
      return MigratingEcho(channel, like: self)
    }

    func receive(_ message: RawSpan, as kind: MessageKind) {
      guard let channel else { return }
      let text = message.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      if text == "much" { return channel.send(bytes: LoopTransferTests.largePayload) }
      guard text == "move", let place = loops.firstIndex(where: { $0 === channel.loop }) else {
        return channel.send(message, as: kind)
      }
      let next = (place + 1) % loops.count
      let isMoving = channel.move(to: loops[next]) { [self] moved in
        moved.attach(MigratingEcho(moved, like: self))
        moved.send(text: "on \(next), \(moved.id == channel.id)")
      }
      #expect(isMoving)
    }

    func closed(_ code: UInt16?) { closeCodeSink.yield(code) }
  }

  private static let largePayload = [UInt8](repeating: 7, count: 3 << 20)

  private func withServer(
    _ body: (_ port: Int, MigratingEcho, SocketServer, SocketLoop) async throws -> Void
  ) async throws {
    var loops: [SocketLoop] = []
    for _ in 0..<3 { loops.append(try SocketLoop.start()) }
    let mover = MigratingEcho(loops)
    let server = SocketServer(
      configuration: .anyPort,
      endpoints: [Endpoint(path: "/echo", subprotocols: [], maxMessage: 1 << 20, acceptor: mover)],
      loop: loops[0], others: Array(loops.dropFirst()))
    let result: Result<Void, any Error>
    do {
      let port = try await server.start().port
      result = .success(try await body(port, mover, server, loops[0]))
    } catch {
      result = .failure(error)
    }
    await server.stop(grace: .seconds(1))
    for loop in loops { await loop.shutdown() }
    try result.get()
  }

  private static func frame(_ text: String) -> [UInt8] {
    RawSocket.frame(0x81, Array(text.utf8))
  }

  private static func text(_ frame: (first: UInt8, payload: [UInt8])?) -> String? {
    frame.map { String(decoding: $0.payload, as: UTF8.self) }
  }

  @Test func `Handshake records the arrival time before a delayed adoption`() async throws {
    try await withServer { port, mover, _, first in
      let gate = DispatchSemaphore(value: 0)
      let others = mover.loops.filter { $0 !== first }
      for loop in others { loop.execute { gate.wait() } }
      var sockets: [RawSocket] = []
      for _ in mover.loops {
        let socket = try RawSocket(port: port)
        #expect(socket.upgrade(port: port).hasPrefix("HTTP/1.1 101 "))
        sockets.append(socket)
      }
      let respondedAt = first.nanoseconds
      for _ in others { gate.signal() }
      var handshakes = mover.handshakes.makeAsyncIterator()
      for _ in sockets {
        let receivedAt = try #require(await handshakes.next()?.receivedAt)
        #expect(receivedAt < respondedAt)
      }
    }
  }

  @Test func `Keeps the order of messages across transfers`()
    async throws
  {
    try await withServer { port, _, server, _ in
      let socket = try RawSocket(port: port)
      socket.upgrade(port: port)
      var sent: [UInt8] = []
      var expected: [String] = []
      for round in 0..<50 {
        for number in 0..<round % 4 {
          sent += Self.frame("\(round).\(number)")
          expected.append("\(round).\(number)")
        }
        sent += Self.frame("move")
        expected.append("on \((round + 1) % 3), true")
      }
      #expect(socket.send(sent) == sent.count)
      // The server chooses the first loop.
      var offset: Int?
      for text in expected {
        let echoed = Self.text(socket.readFrame())
        if text.hasPrefix("on "), let echoed {
          let place = Int(echoed.dropFirst(3).prefix(1)) ?? -1
          let planned = Int(text.dropFirst(3).prefix(1)) ?? -1
          offset = offset ?? (place - planned + 3) % 3
          #expect(echoed == "on \((planned + (offset ?? 0)) % 3), true")
        } else {
          #expect(echoed == text)
        }
      }
      #expect(await server.statistics().map(\.connections).reduce(0, +) == 1)
    }
  }

  @Test(arguments: 1..<12)
  func `Transfers a partially received frame`(size: Int) async throws {
    try await withServer { port, _, _, _ in
      let socket = try RawSocket(port: port)
      socket.upgrade(port: port)
      let next = Self.frame("hello")
      socket.send(Self.frame("move") + next.prefix(size))
      #expect(Self.text(socket.readFrame())?.hasPrefix("on ") == true)
      socket.send(Array(next.dropFirst(size)))
      #expect(Self.text(socket.readFrame()) == "hello")
    }
  }

  @Test func `Writes queued data before the transfer`() async throws {
    try await withServer { port, _, _, _ in
      let socket = try RawSocket(port: port, receiveBuffer: 4096)
      socket.upgrade(port: port)
      socket.send(Self.frame("much") + Self.frame("move") + Self.frame("after"))
      #expect(socket.readFrame()?.payload.count == Self.largePayload.count)
      #expect(Self.text(socket.readFrame())?.hasPrefix("on ") == true)
      #expect(Self.text(socket.readFrame()) == "after")
    }
  }

  @Test func `Reports a disconnect before the transfer once`() async throws {
    try await withServer { port, mover, server, _ in
      do {
        let socket = try RawSocket(port: port, receiveBuffer: 4096)
        socket.upgrade(port: port)
        // The peer reads nothing, so the connection cannot move.
        socket.send(Self.frame("much") + Self.frame("move"))
      }
      var ends = mover.closeCodes.makeAsyncIterator()
      #expect(await ends.next() == .some(nil))
      #expect(await server.statistics().map(\.connections).reduce(0, +) == 0)
    }
  }

  @Test func `Rejects a transfer to another server's loop`() async throws {
    try await withServer { port, _, _, loop in
      let stranger = try SocketLoop.start()
      let acceptor = RecordingAcceptor()
      let other = SocketServer(
        configuration: .anyPort,
        endpoints: [Endpoint(path: "/echo", subprotocols: [], maxMessage: 16, acceptor: acceptor)],
        loop: stranger)
      let address = try await other.start()
      let socket = try RawSocket(port: address.port)
      socket.upgrade(port: address.port)
      let channel = try #require(await acceptor.next()).0.channel
      await withCheckedContinuation { continuation in
        stranger.execute {
          #expect(!channel.move(to: loop) { _ in })
          channel.send(text: "here still")
          continuation.resume()
        }
      }
      #expect(Self.text(socket.readFrame()) == "here still")
      await other.stop(grace: .seconds(1))
      await stranger.shutdown()
    }
  }
}
