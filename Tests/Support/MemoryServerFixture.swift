import WayTransport

/// A bridge in memory, without sockets, with a clock that only tests advance.
package final class MemoryServerFixture: ServerFixture {
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

  /// The same server, for clients that connect with another handshake.
  package func withHandshake(_ handshake: Handshake) -> MemoryServerFixture {
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
