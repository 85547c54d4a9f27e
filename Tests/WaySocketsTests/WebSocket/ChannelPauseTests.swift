import Testing
import WayTransport

@testable import WaySockets

/// A receiver that pauses its channel at every message.
private final class PausingReceiver: MessageReceiver {
  let recorder: RecordingReceiver

  init(_ recorder: RecordingReceiver) {
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
  private func withPausingReceiver(
    _ body: (TestServer, RawSocket, RecordingReceiver) async throws -> Void
  )
    async throws
  {
    try await withServer(echoes: false) { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let pausing = PausingReceiver(accepted)
      await server.onLoop { accepted.channel.attach(pausing) }
      // Sent at once, so that the server has read all of it before it delivers the first message.
      socket.send((0..<5).flatMap { RawSocket.frame(0x82, [UInt8($0)]) })
      try await body(server, socket, accepted)
      await server.onLoop { withExtendedLifetime(pausing) {} }
    }
  }

  @Test func `A paused channel delivers in order after it resumes`()
    async throws
  {
    let mark: [UInt8] = [99]
    try await withPausingReceiver { server, socket, accepted in
      for number in 0..<5 {
        #expect(await accepted.next() == .message([UInt8(number)], .binary))
        // What waits is counted.
        let waitingBytes = await server.server.statistics()[0].unfinishedBytes
        #expect((waitingBytes > 0) == (number < 4))
        await server.onLoop { accepted.receive(mark.span.bytes, as: .binary) }
        #expect(await accepted.next() == .message(mark, .binary))
        await server.onLoop { accepted.channel.resume() }
      }
      socket.send(RawSocket.frame(0x82, [5]))
      #expect(await accepted.next() == .message([5], .binary))
    }
  }

  @Test func `A paused channel can be closed`() async throws {
    try await withPausingReceiver { server, socket, accepted in
      #expect(await accepted.next() == .message([0], .binary))
      await server.onLoop { accepted.channel.close(.drain, "") }
      #expect(socket.readCloseCode() == 4200)
      socket.send(RawSocket.frame(0x88, [0x10, 0x68]))
      #expect(await accepted.next() == .closed(4200))
      #expect(socket.readToEnd() == "")
    }
  }
}
