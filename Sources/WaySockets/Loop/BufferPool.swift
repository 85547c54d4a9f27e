import CLibwebsockets
import Glibc

/// Memory blocks for the data that a loop's connections send. A connection holds a block only while
/// it has data to send, so idle connections use no memory.
final class BufferPool {
  /// The size of a pooled block in bytes. A connection that needs more allocates its own block.
  static let blockSize = 16 * 1024
  /// Maximum number of unused blocks.
  static let maximumBlocks = 64

  // Used with every message, and confined to one loop.
  @exclusivity(unchecked) private var blocks: [UnsafeMutableRawPointer] = []

  func acquire() -> UnsafeMutableRawPointer {
    blocks.popLast() ?? .allocate(byteCount: Self.blockSize, alignment: 16)
  }

  func release(_ block: UnsafeMutableRawPointer) {
    if blocks.count < Self.maximumBlocks {
      blocks.append(block)
    } else {
      block.deallocate()
    }
  }

  deinit {
    for block in blocks { block.deallocate() }
  }
}
