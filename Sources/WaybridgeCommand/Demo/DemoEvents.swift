import Synchronization
import Waybridge

/// Publishes what the demo's table lists as topics, once its server is there.
final class DemoEvents: Sendable {
  private let server = Mutex<BridgeServer?>(nil)

  /// Takes the server whose clients are told.
  func start(_ server: BridgeServer) {
    self.server.withLock { $0 = server }
  }

  /// Tells an event to the clients that subscribe to its topic. Throws ``CallError`` as
  /// `BridgeServer.publish` does: 2503 while the server does not run.
  func publish(
    _ topic: String, _ data: Value, to audience: Audience
  ) async throws(CallError) {
    try await server.withLock { $0 }?.publish(topic, data, to: audience)
  }
}
