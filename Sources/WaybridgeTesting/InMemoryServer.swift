import Synchronization
import WaySession
import WayTransport
import Waybridge
import WaybridgeClient

/// Lets clients into a hub, and keeps its ends of their connections, which it may close.
final class InMemoryServer: ChannelAcceptor {
  private struct Held {
    var channels: [any MessageChannel] = []
    var isClosed = false
  }

  private let hub: LoopSessions
  private let loop: MemoryLoop
  private let held = Mutex(Held())

  init(to hub: LoopSessions, on loop: MemoryLoop) {
    self.hub = hub
    self.loop = loop
  }

  /// A client whose session is open. Throws what `session.open` is answered, and 2503 once the door
  /// is closed.
  func connect(
    _ options: BridgeClient.SessionOptions
  ) async throws(CallError) -> BridgeClient {
    let connector = MemoryClientConnector(
      to: self, Handshake(subprotocol: LoopSessions.subprotocol), on: loop,
      where: { [self] in !held.withLock { $0.isClosed } })
    let client = BridgeClient(loop: loop, connector: connector) {}
    do {
      try await client.open(options)
    } catch {
      await client.close()
      throw error
    }
    return client
  }

  func accept(_ channel: any MessageChannel, _ handshake: Handshake) -> any MessageReceiver {
    held.withLock { $0.channels.append(channel) }
    return hub.accept(channel, handshake)
  }

  /// Closes every connection as a server that ends does.
  func close() async {
    let channels = held.withLock { held in
      held.isClosed = true
      return held.channels
    }
    loop.execute {
      for channel in channels { channel.close(.drain, "the server is ending") }
    }
    await loop.settle()
  }
}
