import Synchronization
import Waybridge

/// Publishes the topics of the demo's table, once its server exists.
final class DemoEvents: Sendable {
  private let server = Mutex<BridgeServer?>(nil)

  /// Sets the server whose clients receive the events.
  func attach(_ server: BridgeServer) {
    self.server.withLock { $0 = server }
  }

  /// Publishes an event to the clients that subscribe to its topic. Throws ``CallError`` as
  /// `BridgeServer.publish` does: 2503 while the server does not run.
  func publish(
    _ topic: String, _ data: Value, to audience: Audience
  ) async throws(CallError) {
    try await server.withLock { $0 }?.publish(topic, data, to: audience)
  }
}
