import WayTransport

/// A bridge in memory: no socket, and time that stands still until it is moved.
package final class MemoryServer: PeerServer {
  package let loop: MemoryLoop
  private let acceptor: any ChannelAcceptor

  package init(loop: MemoryLoop, acceptor: any ChannelAcceptor) {
    self.loop = loop
    self.acceptor = acceptor
  }

  package func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    MemoryChannel.connect(
      to: acceptor, Handshake(subprotocol: subprotocol), loop: loop, receiver: receiver)
  }

  package func advance(by time: Duration) async throws {
    await loop.advance(by: time)
  }

  package func stop() async {}
}
