import CLibwebsockets
import Glibc

/// Blocks of memory for what a loop's connections are about to send. A connection holds one only
/// while it has something to send, so that idle ones cost nothing.
final class BufferPool {
  /// Bytes of a pooled block. A connection that needs more has a block of its own made.
  static let blockSize = 16 * 1024
  /// How many are kept for later.
  static let keep = 64

  // Words of one loop, used with every message.
  @exclusivity(unchecked) private var blocks: [UnsafeMutableRawPointer] = []

  func take() -> UnsafeMutableRawPointer {
    blocks.popLast() ?? .allocate(byteCount: Self.blockSize, alignment: 16)
  }

  func give(_ block: UnsafeMutableRawPointer) {
    if blocks.count < Self.keep {
      blocks.append(block)
    } else {
      block.deallocate()
    }
  }

  deinit {
    for block in blocks { block.deallocate() }
  }
}
