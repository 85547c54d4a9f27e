import WayTransport
import WayValues

/// Sends messages to other servers: it numbers each message, and splits large ones into fragments.
/// May be used on any thread.
final class PeerSender: Sendable {
  private let engine: any ClusterEngine
  private let server: String
  private let peerTable: Locked<PeerTable>
  private let loop = Locked<(any EventLoop)?>(nil)

  init(_ engine: any ClusterEngine, _ server: String, _ peerTable: Locked<PeerTable>) {
    self.engine = engine
    self.server = server
    self.peerTable = peerTable
  }

  func begin(_ loop: any EventLoop) { self.loop.withLock { $0 = loop } }

  /// Sends a presence to one server, or to all. It has no number: the next one replaces it.
  func send(presence: ValueObject, to other: String? = nil) {
    let message = SessionClusterMessage.presence(.object(presence))
    engine.send(ClusterEnvelope.bytes(from: server, 0, message.bytes), to: other)
  }

  /// Sends a message to one server. If `needsHeartbeats`, heartbeats follow that tell the receiver
  /// the number of the last message.
  func send(_ message: SessionClusterMessage, to other: String, needsHeartbeats: Bool = true) {
    guard let now = loop.withLock({ $0 })?.nanoseconds else { return }
    let room = engine.maxMessage - ClusterEnvelope.overhead - server.utf8.count - 1
    let bytes = message.bytes
    peerTable.withLock { peerTable in
      func sendEnvelope(_ bytes: [UInt8]) {
        let number = peerTable.nextMessageNumber(
          to: other, at: now, needsHeartbeats: needsHeartbeats)
        engine.send(ClusterEnvelope.bytes(from: server, number, bytes), to: other)
      }
      guard bytes.count > room else { return sendEnvelope(bytes) }
      for start in stride(from: 0, to: bytes.count, by: room) {
        let end = min(start + room, bytes.count)
        let fragment = SessionClusterMessage.fragment(
          Array(bytes[start..<end]), isLast: end == bytes.count)
        sendEnvelope(fragment.bytes)
      }
    }
  }
}
