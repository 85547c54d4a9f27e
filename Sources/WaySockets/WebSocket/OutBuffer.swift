import CLibwebsockets
import Glibc
import WayTransport

/// Whole frames that wait for the end of the turn, one after another. Empty, it owns no memory.
///
/// lws wants LWS_PRE bytes of room before what it writes.
struct OutBuffer: ~Copyable {
  private static let headroom = Int(way_lws_pre)

  private let pool: BufferPool
  private var block: UnsafeMutableRawPointer?
  private var capacity = 0
  private var start = 0
  private var end = 0

  init(pool: BufferPool) {
    self.pool = pool
  }

  deinit {
    guard let block else { return }
    if capacity == BufferPool.blockSize { pool.give(block) } else { block.deallocate() }
  }

  var count: Int { end - start }

  /// Copies one payload in, as a frame.
  mutating func append(_ message: RawSpan, as opcode: FrameHeader.Opcode, mask: UInt32?) {
    let header = FrameHeader(opcode: opcode, payloadSize: message.byteCount, mask: mask)
    let target = room(for: header.size + message.byteCount) + end
    header.write(to: target)
    let payload = target + header.size
    message.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { payload.copyMemory(from: base, byteCount: bytes.count) }
    }
    if let mask { Self.apply(mask, to: payload, count: message.byteCount) }
    end += header.size + message.byteCount
  }

  /// The next frames, together at most `limit` bytes, or one that is larger. They never end within
  /// a frame: lws may put a control frame after them.
  func chunk(limit: Int) -> UnsafeMutableBufferPointer<UInt8>? {
    guard let block, count > 0 else { return nil }
    var size = count
    if size > limit {
      size = FrameHeader.frameSize(at: block + start)
      while start + size < end {
        let next = FrameHeader.frameSize(at: block + start + size)
        if size + next > limit { break }
        size += next
      }
    }
    return UnsafeMutableBufferPointer(
      start: (block + start).assumingMemoryBound(to: UInt8.self), count: size)
  }

  /// Drops the first `size` bytes; without any left, gives the memory back.
  mutating func remove(first size: Int) {
    start += size
    if start >= end { removeAll() }
  }

  mutating func removeAll() {
    if let block {
      if capacity == BufferPool.blockSize { pool.give(block) } else { block.deallocate() }
    }
    block = nil
    capacity = 0
    start = 0
    end = 0
  }

  /// The block, with at least `size` bytes free at its end.
  private mutating func room(for size: Int) -> UnsafeMutableRawPointer {
    if let block, end + size <= capacity { return block }
    if block == nil, Self.headroom + size <= BufferPool.blockSize {
      let block = pool.take()
      self.block = block
      capacity = BufferPool.blockSize
      start = Self.headroom
      end = start
      return block
    }
    let used = count
    let larger = max(2 * (used + Self.headroom), Self.headroom + used + size)
    let next = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    if let block {
      (next + Self.headroom).copyMemory(from: block + start, byteCount: used)
    }
    removeAll()
    block = next
    capacity = larger
    start = Self.headroom
    end = start + used
    return next
  }

  private static func apply(_ mask: UInt32, to bytes: UnsafeMutableRawPointer, count: Int) {
    let wide = UInt64(mask) << 32 | UInt64(mask)
    var index = 0
    while index + 8 <= count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      bytes.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
      index += 8
    }
    var rest = wide
    while index < count {
      let byte = bytes.load(fromByteOffset: index, as: UInt8.self)
      bytes.storeBytes(
        of: byte ^ UInt8(truncatingIfNeeded: rest), toByteOffset: index, as: UInt8.self)
      rest >>= 8
      index += 1
    }
  }
}
