import WayTransport
import WayValues

/// Connects to a bridge in memory, for tests.
package struct ClientMemoryConnector: ClientConnector {
  private let acceptor: any ChannelAcceptor
  private let handshake: Handshake
  private let loop: MemoryLoop
  private let isOpen: @Sendable () -> Bool

  /// Creates a connector. `isOpen` returns whether the server accepts clients; a rejected client
  /// does not retry.
  package init(
    to acceptor: any ChannelAcceptor, _ handshake: Handshake, on loop: MemoryLoop,
    where isOpen: @escaping @Sendable () -> Bool = { true }
  ) {
    self.acceptor = acceptor
    self.handshake = handshake
    self.loop = loop
    self.isOpen = isOpen
  }

  package func connect(
    _ accept: @escaping @Sendable (any MessageChannel) -> any MessageReceiver
  ) async throws(ConnectFailure) {
    guard isOpen() else {
      throw ConnectFailure(
        CallError(.unavailable, "The server has ended and accepts no connections"), isFinal: true)
    }
    await withCheckedContinuation { continuation in
      loop.execute {
        let channel = MemoryChannel.connect(
          to: acceptor, handshake, loop: loop, receiver: UnattachedReceiver())
        channel.attach(accept(channel))
        continuation.resume()
      }
    }
  }
}

/// The initial receiver; no message arrives before the real receiver is attached.
private final class UnattachedReceiver: MessageReceiver {
  func receive(_ message: RawSpan, as kind: MessageKind) {}
  func closed(_ code: UInt16?) {}
}
