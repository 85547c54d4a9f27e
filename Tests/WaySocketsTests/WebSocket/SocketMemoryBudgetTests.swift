import Testing
import WayTransport

@testable import WaySockets

@Suite struct SocketMemoryBudgetTests {
  private static let block = [UInt8](repeating: 0x61, count: 100_000)

  @Test func `Total limit closes the connection with the longest queue`() async throws {
    try await withServer(
      echoes: false, configure: .init { $0.limits.maxServerBytes = 3_400_000 }
    ) { server in
      let sockets = try (0..<2).map { _ in
        let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
        socket.upgrade(port: server.port)
        return socket
      }
      let more = try #require(await server.acceptor.next()).0
      let less = try #require(await server.acceptor.next()).0
      let reader = try await server.connect()
      let read = try #require(await server.acceptor.next()).0
      await server.onLoop {
        // Bytes that the sockets accept do not count.
        for channel in [more.channel, less.channel] {
          while channel.bufferedBytes == 0 {
            for _ in 0..<10 { channel.send(bytes: Self.block) }
          }
        }
        while less.channel.bufferedBytes < 1 << 20 { less.channel.send(bytes: Self.block) }
        while more.channel.bufferedBytes < 2 << 20 { more.channel.send(bytes: Self.block) }
        #expect(server.server.firstStatistics.queuedBytes <= 3_400_000)
        for _ in 0..<15 { read.channel.send(bytes: Self.block) }
        #expect(more.channel.bufferedBytes < 1 << 20)
        #expect(server.server.firstStatistics.queuedBytes <= 3_400_000)
        read.channel.send(text: "read")
      }
      for _ in 0..<15 { #expect(await reader.next() == .message(Self.block, .binary)) }
      #expect(await reader.next() == .text("read"))
      #expect(sockets[0].readCloseCode() == 4201)
      await server.onLoop {
        #expect(less.channel.bufferedBytes > 1 << 19)
        less.channel.close(.normal, "")
      }
      #expect(sockets[1].readCloseCode() == 1000)
      await server.onLoop { #expect(server.server.firstStatistics.queuedBytes == 0) }
    }
  }

  @Test func `Closes a connection that exceeds the total limit alone`() async throws {
    try await withServer(configure: .init { $0.limits.maxServerBytes = 100_000 }) { server in
      let client = try await server.connect()
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop { accepted.channel.send(bytes: Self.block) }
      #expect(await client.next() == .closed(4201))
    }
  }

  @Test func `Queue overhead stays small`() async throws {
    try await withServer(
      echoes: false, configure: .init { $0.limits.maxQueueBytes = 64 << 20 }
    ) { server in
      let slow = try RawSocket(port: server.port, receiveBuffer: 4096)
      slow.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop {
        for _ in 0..<300 { accepted.channel.send(bytes: Self.block) }
        let cost = server.server.firstStatistics.queuedBytes
        #expect(accepted.channel.bufferedBytes <= cost)
        #expect(cost < accepted.channel.bufferedBytes + 20_000)
        #expect(cost <= 300 * 100_010 * 101 / 100)
      }
    }
  }

  @Test func `Limits pongs queued for a peer that stalls`() async throws {
    try await withServer(
      configure: .init {
        $0.limits.maxQueueBytes = 100_000
        $0.connection.closeTimeout = .milliseconds(100)
      }
    ) { server in
      let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
      socket.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let ping = RawSocket.frame(0x89, .init(repeating: 1, count: 125))
      for _ in 0..<50 { socket.send(RawSocket.frames(ping, count: 1000)) }
      #expect(await accepted.next() == .closed(4201))
    }
  }
}
