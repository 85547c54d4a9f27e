import WayTransport

/// Sends to other servers: each message with its number, large ones in pieces. May be used on any
/// thread.
final class PeerSender: Sendable {
  private let engine: any ClusterEngine
  private let server: String
  private let links: Locked<PeerTable>
  private let loop = Locked<(any EventLoop)?>(nil)

  init(_ engine: any ClusterEngine, _ server: String, _ links: Locked<PeerTable>) {
    self.engine = engine
    self.server = server
    self.links = links
  }

  func begin(_ loop: any EventLoop) { self.loop.withLock { $0 = loop } }

  func tellAll(_ message: ClusterMessage) {
    engine.send(ClusterEnvelope.bytes(from: server, 0, message.bytes), to: nil)
  }

  /// `isUse` where the other is to be told soon up to which number it was sent something.
  func send(_ message: ClusterMessage, to other: String, isUse: Bool = true) {
    guard let now = loop.withLock({ $0 })?.nanoseconds else { return }
    let room = engine.maxMessage - ClusterEnvelope.overhead - server.utf8.count - 1
    let bytes = message.bytes
    links.withLock { links in
      func pass(_ bytes: [UInt8]) {
        let number = links.numberForMessage(to: other, at: now, isUse: isUse)
        engine.send(ClusterEnvelope.bytes(from: server, number, bytes), to: other)
      }
      guard bytes.count > room else { return pass(bytes) }
      for start in stride(from: 0, to: bytes.count, by: room) {
        let end = min(start + room, bytes.count)
        let piece = ClusterMessage.piece(Array(bytes[start..<end]), isLast: end == bytes.count)
        pass(piece.bytes)
      }
    }
  }
}
