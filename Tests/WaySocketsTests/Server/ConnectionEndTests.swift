import Testing
import WayTransport

@testable import WaySockets

/// The ends of many connections at once.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionEndTests {
  /// Calls `onMessage` with each message, on the loop.
  private final class MessageObserver: MessageReceiver {
    private let onMessage: @Sendable () -> Void

    init(_ onMessage: @escaping @Sendable () -> Void) { self.onMessage = onMessage }

    func receive(_ message: RawSpan, as kind: MessageKind) { onMessage() }
    func closed(_ code: UInt16?) {}
  }

  @Test func aResponseDoesNotWaitForTheEndsOfOtherConnections() async throws {
    try await withServer { server in
      func connect() throws -> RawSocket {
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port)
        return socket
      }
      nonisolated(unsafe) let caller = try connect()
      nonisolated(unsafe) let last = try connect()
      nonisolated(unsafe) let others = try (0..<100).map { _ in try connect() }
      var channels: [any MessageChannel] = []
      for _ in 0..<2 + others.count {
        channels.append(try #require(await server.acceptor.next()).0.channel)
      }
      let (responses, sink) = AsyncStream<Bool>.makeStream()
      let observer = MessageObserver { sink.yield(caller.hasInput) }
      let lastChannel = channels[1]
      await server.onLoop {
        lastChannel.attach(observer)
        // The loop reads all this in its next turn, in this order.
        caller.send(RawSocket.frame(0x81, Array("call".utf8)))
        for other in others { other.shutdownWrite() }
        last.send(RawSocket.frame(0x81, Array("look".utf8)))
      }
      var iterator = responses.makeAsyncIterator()
      #expect(await iterator.next() == true)
    }
  }

  @Test func allConnectionsThatEndAtOnceAreClosed() async throws {
    try await withServer { server in
      var sockets: [RawSocket] = []
      for _ in 0..<200 {
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port)
        sockets.append(socket)
      }
      var receivers: [RecordingReceiver] = []
      for _ in sockets { receivers.append(try #require(await server.acceptor.next()).0) }
      for socket in sockets { socket.shutdownWrite() }
      for receiver in receivers { #expect(await receiver.next() == .closed(nil)) }
      for socket in sockets { #expect(socket.readFrame() == nil) }
    }
  }

  @Test func stoppingClosesEachOfManyConnections() async throws {
    try await withServer(configure: .init { $0.lingerTimeout = .milliseconds(100) }) { server in
      let sockets = try (0..<300).map { _ in
        let socket = try RawSocket(port: server.port)
        socket.upgrade(port: server.port)
        return socket
      }
      await server.server.stop(grace: .seconds(600))
      for socket in sockets {
        #expect(socket.readCloseCode() == 4200)
        #expect(socket.readFrame() == nil)
      }
    }
  }
}
