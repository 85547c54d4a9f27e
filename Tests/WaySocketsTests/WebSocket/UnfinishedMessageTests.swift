import Testing
import WayTransport

@testable import WaySockets

@Suite struct UnfinishedMessageTests {
  private static let message = [UInt8](repeating: 0x61, count: 400_000)

  /// Connects a client and sends all of a message except its last bytes.
  private func begin(
    _ server: TestServer
  ) async throws -> (socket: RawSocket, receiver: RecordingReceiver, rest: [UInt8]) {
    let socket = try RawSocket(port: server.port)
    socket.upgrade(port: server.port)
    let receiver = try #require(await server.acceptor.next()).0
    let frame = RawSocket.frame(0x82, Self.message)
    socket.send(Array(frame.dropLast(100)))
    return (socket, receiver, Array(frame.suffix(100)))
  }

  /// Returns when the server holds at least this number of bytes of unfinished messages.
  private func waitForUnfinished(_ server: TestServer, _ isReached: @escaping (Int) -> Bool) async {
    while true {
      let bytes = await server.server.statistics()[0].unfinishedBytes
      if isReached(bytes) { return }
      await Task.yield()
    }
  }

  @Test func `Large message that began first is closed when all need too much memory`() async throws
  {
    try await withServer(
      echoes: false, configure: .init { $0.limits.maxServerBytes = 2_000_000 }
    ) { server in
      // A short message that began before all others.
      let short = try RawSocket(port: server.port)
      short.upgrade(port: server.port)
      let shortReceiver = try #require(await server.acceptor.next()).0
      short.send(Array(RawSocket.frame(0x82, [1, 2, 3]).dropLast()))
      await waitForUnfinished(server) { $0 > 0 }
      let first = try await begin(server)
      await waitForUnfinished(server) { $0 >= 399_000 }
      var others: [(socket: RawSocket, receiver: RecordingReceiver, rest: [UInt8])] = []
      for _ in 0..<5 {
        others.append(try await begin(server))
        #expect(await server.server.statistics()[0].unfinishedBytes <= 2_000_000)
      }
      #expect(first.socket.readCloseCode() == 4201)
      let last = try #require(others.last)
      last.socket.send(last.rest)
      #expect(await last.receiver.next() == .message(Self.message, .binary))
      short.send(Array(RawSocket.frame(0x82, [1, 2, 3]).suffix(1)))
      #expect(await shortReceiver.next() == .message([1, 2, 3], .binary))
    }
  }

  @Test func `Finished and closed messages use no memory`() async throws {
    try await withServer(echoes: false) { server in
      let finished = try await begin(server)
      let closed = try await begin(server)
      await waitForUnfinished(server) { $0 >= 798_000 }
      finished.socket.send(finished.rest)
      #expect(await finished.receiver.next() == .message(Self.message, .binary))
      let receiver = closed.receiver
      await server.onLoop { receiver.channel.close(.normal, "") }
      #expect(closed.socket.readCloseCode() == 1000)
      await waitForUnfinished(server) { $0 == 0 }
    }
  }

  @Test func `Messages are short until the channel is admitted`() async throws {
    try await withServer(echoes: false) { server in
      for isAdmitted in [false, true] {
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port, path: "/guarded")
        let receiver = try #require(await server.acceptor.next()).0
        let short = [UInt8](repeating: 0x61, count: 100)
        socket.send(RawSocket.frame(0x82, short))
        #expect(await receiver.next() == .message(short, .binary))
        if isAdmitted { await server.onLoop { receiver.channel.admit() } }
        socket.send(RawSocket.frame(0x82, short + [0x61]))
        if isAdmitted {
          #expect(await receiver.next() == .message(short + [0x61], .binary))
        } else {
          #expect(socket.readCloseCode() == 1009)
        }
      }
    }
  }
}
