import Synchronization
import WaySession
import WayTransport
import Waybridge
import WaybridgeClient

/// Accepts clients for a loop's sessions, and keeps the server's ends of their connections, which
/// it can close.
final class InMemoryServer: ChannelAcceptor {
  private struct InMemoryServerState {
    var channels: [any MessageChannel] = []
    var isClosed = false
  }

  private let sessions: LoopSessions
  private let loop: MemoryLoop
  private let state = Mutex(InMemoryServerState())

  init(to sessions: LoopSessions, on loop: MemoryLoop) {
    self.sessions = sessions
    self.loop = loop
  }

  /// Connects a client and opens its session. Throws the error of `session.open`, and 2503 once the
  /// server is closed.
  func connect(
    _ options: BridgeClient.SessionOptions
  ) async throws(CallError) -> BridgeClient {
    let connector = ClientMemoryConnector(
      to: self, Handshake(subprotocol: Handshake.sessionSubprotocol), on: loop,
      where: { [self] in !state.withLock { $0.isClosed } })
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
    state.withLock { $0.channels.append(channel) }
    return ConnectionAcceptor(sessions.sessionServer).accept(channel, handshake)
  }

  /// Closes every connection as a server that ends does.
  func close() async {
    let channels = state.withLock { state in
      state.isClosed = true
      return state.channels
    }
    loop.execute {
      for channel in channels { channel.close(.drain, "the server is shutting down") }
    }
    await loop.settle()
  }
}
