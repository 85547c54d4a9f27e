import Synchronization
import TestSupport
import WayTransport

@testable import WaySession

/// A bridge in memory that can restart with the contents of its store.
final class RestartableServerFixture: ServerFixture {
  private let store = MemorySessionStore()
  private let bridge: Mutex<InMemoryBridge>

  init() async throws {
    bridge = Mutex(try InMemoryBridge.conformance(store: store))
  }

  private var currentBridge: InMemoryBridge { bridge.withLock { $0 } }

  func connect(
    subprotocol: String?, receiver: any MessageReceiver
  ) async throws -> any MessageChannel {
    try await currentBridge.server.connect(subprotocol: subprotocol, receiver: receiver)
  }

  func advance(by time: Duration) async throws { try await currentBridge.server.advance(by: time) }

  /// Restarts with the changes that the store has had time to save, and no others.
  func restart() async throws {
    let last = currentBridge
    await last.server.loop.settle()
    await last.loopSessions.waitUntilStoreIdle()
    let next = try InMemoryBridge.conformance(store: store)
    try await next.sessionServer.dispatch.restore()
    bridge.withLock { $0 = next }
  }

  func stop() async {}
}
