import Synchronization
import WayTransport

/// What the WebSocket connections of a loop have carried since it began.
///
/// Only the loop writes; any thread may read what counts.
package final class SocketTraffic: Sendable {
  package let messagesReceived = Atomic(0)
  package let messagesSent = Atomic(0)
  /// Bytes of messages, without what frames them.
  package let bytesReceived = Atomic(0)
  package let bytesSent = Atomic(0)
  private let closeCounts = Locked([UInt16: Int]())
  private let refusalCounts = Locked([RefusalKind: Int]())
  private let handshakeCounts = Locked([RefusalKind: Int]())

  init() {}

  /// How often connections closed with each code, 1006 where they ended without one (RFC 6455
  /// §7.1.5). Codes that are neither the protocol's nor the standard's count as 0: a peer may send
  /// any.
  package var closes: [UInt16: Int] { closeCounts.withLock { $0 } }

  /// How many requests were refused, by why.
  package var refusals: [RefusalKind: Int] { refusalCounts.withLock { $0 } }

  /// How many of them were WebSocket handshakes, by why.
  package var refusedHandshakes: [RefusalKind: Int] { handshakeCounts.withLock { $0 } }

  func refused(_ kind: RefusalKind, isHandshake: Bool) {
    refusalCounts.withLock { $0[kind, default: 0] += 1 }
    if isHandshake { handshakeCounts.withLock { $0[kind, default: 0] += 1 } }
  }

  func closed(_ code: UInt16?) {
    let code = code ?? 1006
    let isKnown = (1000...1015).contains(code) || CloseCode.own.contains(CloseCode(rawValue: code))
    closeCounts.withLock { $0[isKnown ? code : 0, default: 0] += 1 }
  }
}

/// What a server's sockets hold now, and what its loop's have carried.
package struct SocketStatistics: Sendable {
  /// Open WebSocket connections.
  package let connections: Int
  /// Bytes of memory that what waits to be sent to their peers takes up, and may.
  package let queuedBytes: Int
  package let queueLimit: Int
  package let traffic: SocketTraffic
}

extension Atomic where Value == Int {
  /// Adds, for the one thread that writes.
  @inline(__always) func add(_ amount: Int) {
    store(load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
