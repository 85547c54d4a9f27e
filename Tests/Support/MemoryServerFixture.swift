import WayTransport

/// A bridge in memory: no socket, and time that stands still until it is moved.
package final class MemoryServerFixture: PeerServer {
  package let loop: MemoryLoop
  private let acceptor: any ChannelAcceptor
  private let handshake: Handshake

  package init(
    loop: MemoryLoop, acceptor: any ChannelAcceptor, from handshake: Handshake = Handshake()
  ) {
    self.loop = loop
    self.acceptor = acceptor
    self.handshake = handshake
  }

  /// The same for who comes from elsewhere.
  package func from(_ handshake: Handshake) -> MemoryServerFixture {
    MemoryServerFixture(loop: loop, acceptor: acceptor, from: handshake)
  }

  package func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    var handshake = handshake
    handshake.subprotocol = subprotocol
    return MemoryChannel.connect(to: acceptor, handshake, loop: loop, receiver: receiver)
  }

  package func advance(by time: Duration) async throws {
    await loop.advance(by: time)
  }

  package func stop() async {}
}
