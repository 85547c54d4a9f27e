import Testing
import WayTransport

@testable import WaySockets

/// Pauses its channel with every message.
private final class PausingReceiver: MessageReceiver {
  let recorder: Recorder

  init(_ recorder: Recorder) {
    self.recorder = recorder
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {
    recorder.receive(message, as: kind)
    recorder.channel.pause()
  }

  func closed(_ code: UInt16?) {
    recorder.closed(code)
  }
}

@Suite struct ChannelPauseTests {
  private func withPausing(_ body: (TestServer, RawSocket, Recorder) async throws -> Void)
    async throws
  {
    try await withServer(echoes: false) { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let pausing = PausingReceiver(accepted)
      await server.onLoop { accepted.channel.attach(pausing) }
      // At once, so that the server has read all of it before the first is received.
      socket.send((0..<5).flatMap { RawSocket.frame(0x82, [UInt8($0)]) })
      try await body(server, socket, accepted)
      await server.onLoop { withExtendedLifetime(pausing) {} }
    }
  }

  @Test func `A paused channel receives nothing until it is resumed, and then in order`()
    async throws
  {
    let mark: [UInt8] = [99]
    try await withPausing { server, socket, accepted in
      for number in 0..<5 {
        #expect(await accepted.next() == .message([UInt8(number)], .binary))
        await server.onLoop { accepted.receive(mark.span.bytes, as: .binary) }
        #expect(await accepted.next() == .message(mark, .binary))
        await server.onLoop { accepted.channel.resume() }
      }
      socket.send(RawSocket.frame(0x82, [5]))
      #expect(await accepted.next() == .message([5], .binary))
    }
  }

  @Test func `A paused channel closes as any other`() async throws {
    try await withPausing { server, socket, accepted in
      #expect(await accepted.next() == .message([0], .binary))
      await server.onLoop { accepted.channel.close(.drain, "") }
      #expect(socket.readCloseCode() == 4200)
      socket.send(RawSocket.frame(0x88, [0x10, 0x68]))
      #expect(await accepted.next() == .closed(4200))
      #expect(socket.readToEnd() == "")
    }
  }
}
