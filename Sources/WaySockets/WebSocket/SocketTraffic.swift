import Synchronization
import WayTransport

/// Traffic counters of a loop's connections since its start; messages are those of WebSocket connections.
///
/// Only the loop writes; read the counters from any thread.
package final class SocketTraffic: Sendable {
  package let messagesReceived = Atomic(0)
  package let messagesSent = Atomic(0)
  /// Number of bytes of messages, without frame headers.
  package let bytesReceived = Atomic(0)
  package let bytesSent = Atomic(0)
  private let closeCounts = Locked([UInt16: Int]())
  private let streamEndCounts = Locked([HTTPStreamEnd: Int]())
  private let rejectionCounts = Locked([HTTPRejectionKind: Int]())
  private let handshakeCounts = Locked([HTTPRejectionKind: Int]())

  init() {}

  /// Number of closed connections by close code; 1006 without a code (RFC 6455 §7.1.5). Codes that
  /// neither Waybridge nor the RFC defines count as 0, because a peer may send any code.
  package var closes: [UInt16: Int] { closeCounts.withLock { $0 } }

  /// Number of streamed responses that have ended, by the cause.
  package var streamEnds: [HTTPStreamEnd: Int] { streamEndCounts.withLock { $0 } }

  /// Number of rejected requests, by category.
  package var rejections: [HTTPRejectionKind: Int] { rejectionCounts.withLock { $0 } }

  /// Number of rejected WebSocket handshakes, by category.
  package var rejectedHandshakes: [HTTPRejectionKind: Int] { handshakeCounts.withLock { $0 } }

  func recordRejection(_ kind: HTTPRejectionKind, isHandshake: Bool) {
    rejectionCounts.withLock { $0[kind, default: 0] += 1 }
    if isHandshake { handshakeCounts.withLock { $0[kind, default: 0] += 1 } }
  }

  func recordStreamEnd(_ end: HTTPStreamEnd) {
    streamEndCounts.withLock { $0[end, default: 0] += 1 }
  }

  func recordClose(_ code: UInt16?) {
    let code = code ?? 1006
    let isKnown = (1000...1015).contains(code) || CloseCode.own.contains(CloseCode(rawValue: code))
    closeCounts.withLock { $0[isKnown ? code : 0, default: 0] += 1 }
  }
}

/// The current state of a server's sockets on one loop, and the loop's traffic.
package struct SocketStatistics: Sendable {
  /// Number of open WebSocket connections.
  package let connections: Int
  /// Number of streamed HTTP responses that have not ended.
  package let streams: Int
  /// Number of bytes of memory for unsent data; `queueLimit` is the maximum.
  package let queuedBytes: Int
  package let queueLimit: Int
  /// Number of bytes of memory for received data that waits for the rest of its message, or for its
  /// turn; `unfinishedLimit` is the maximum.
  package let unfinishedBytes: Int
  package let unfinishedLimit: Int
  package let traffic: SocketTraffic
}

extension Atomic where Value == Int {
  /// Adds `amount`. Only one thread may write.
  @inline(__always) func add(_ amount: Int) {
    store(load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
