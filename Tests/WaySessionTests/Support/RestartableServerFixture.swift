import Synchronization
import TestSupport
import WayTransport

@testable import WaySession

/// A bridge in memory that can be started again with what its store has.
final class RestartableServerFixture: PeerServer {
  private let store = MemorySessionStore()
  private let bridge: Mutex<InMemoryBridge>

  init() async throws {
    bridge = Mutex(try InMemoryBridge.conformance(store: store))
  }

  private var current: InMemoryBridge { bridge.withLock { $0 } }

  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    try await current.server.connect(subprotocol: subprotocol, receiver: receiver)
  }

  func advance(by time: Duration) async throws { try await current.server.advance(by: time) }

  /// What had time enough to be written is; nothing else is.
  func restart() async throws {
    let last = current
    await last.server.loop.settle()
    await last.loopHub.finishWriting()
    let next = try InMemoryBridge.conformance(store: store)
    try await next.hub.restore()
    bridge.withLock { $0 = next }
  }

  func stop() async {}
}
