import CLibwebsockets
import Glibc
import WayTransport

/// Unsent frames, or bytes of an HTTP response, in a chain of blocks. It owns no memory if it is empty.
///
/// A server's frames may be split between blocks. A client's frames each lie in one block, because
/// lws sends them and may insert its own frames between two writes. lws also needs LWS_PRE bytes of
/// headroom before the data.
struct OutboundBuffer: ~Copyable {
  private struct Block {
    var memory: UnsafeMutableRawPointer
    var capacity: Int
    var start = headroom
    var end = headroom
    /// The offset of the first frame that begins in this block.
    var firstFrame: Int?
  }

  private static let headroom = Int(way_lws_pre)
  /// The length in bytes of the longest frame header. Headers are never split.
  private static let longestHeader = 14

  private static let blocksPerSend = 64

  private let pool: BufferPool
  private let budget: SocketMemoryBudget
  /// Full blocks; the oldest is at index `oldest`, and earlier ones are freed.
  private var full: [Block] = []
  private var oldest = 0
  private var last: Block?

  /// Number of unsent bytes.
  private(set) var count = 0
  /// Number of bytes of the blocks.
  private(set) var capacity = 0

  init(pool: BufferPool, budget: SocketMemoryBudget) {
    self.pool = pool
    self.budget = budget
  }

  deinit {
    for block in full[oldest...] { Self.free(block, pool, budget) }
    if let last { Self.free(last, pool, budget) }
  }

  /// Number of bytes of memory that the unsent data uses. Only the filled part of the last block
  /// counts: the loop has blocks to spare.
  var cost: Int {
    guard let last else { return 0 }
    return capacity - last.capacity + last.end - Self.headroom
  }

  /// Number of bytes of new blocks that a frame needs.
  func growth(for payloadSize: Int) -> Int {
    let size = payloadSize + Self.longestHeader
    let room = last.map { $0.capacity - $0.end } ?? 0
    return size <= room ? 0 : size - room + BufferPool.blockSize
  }

  /// Copies a payload into the buffer, as a frame.
  mutating func append(_ message: RawSpan, as opcode: FrameHeader.Opcode, mask: UInt32?) {
    let header = FrameHeader(opcode: opcode, payloadSize: message.byteCount, mask: mask)
    let whole = mask == nil ? Self.longestHeader : header.size + message.byteCount
    var block = block(with: whole)
    if block.firstFrame == nil { block.firstFrame = block.end }
    header.write(to: block.memory + block.end)
    block.end += header.size
    count += header.size
    append(message, to: block, mask: mask)
  }

  /// Copies bytes that are no frame into the buffer. ``removeUnsent()`` and ``chunk(limit:)`` cannot be
  /// used then.
  mutating func append(_ bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return }
    append(bytes, to: block(with: 1), mask: nil)
  }

  /// Copies bytes behind those of the last block, and stores the block. Only bytes without a mask are
  /// split.
  @inline(__always)
  private mutating func append(_ bytes: RawSpan, to lastBlock: Block, mask: UInt32?) {
    var block = lastBlock
    count += bytes.byteCount
    var rest = bytes
    while rest.byteCount > block.capacity - block.end {
      let room = block.capacity - block.end
      Self.copy(rest.extracting(first: room), to: &block, mask: nil)
      rest = rest.extracting(droppingFirst: room)
      full.append(block)
      block = newBlock(with: 1)
    }
    Self.copy(rest, to: &block, mask: mask)
    last = block
  }

  /// Copies bytes, for which the block has room, behind its last ones.
  private static func copy(_ bytes: RawSpan, to block: inout Block, mask: UInt32?) {
    let target = block.memory + block.end
    bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return }
      target.copyMemory(from: source, byteCount: bytes.count)
    }
    if let mask { applyMask(mask, to: .init(start: target, count: bytes.byteCount)) }
    block.end += bytes.byteCount
  }

  /// The last block, or a new one, with at least `size` free bytes. The caller stores it back.
  private mutating func block(with size: Int) -> Block {
    guard let last else { return newBlock(with: size) }
    if last.end + size <= last.capacity { return last }
    full.append(last)
    return newBlock(with: size)
  }

  private mutating func newBlock(with size: Int) -> Block {
    let isPooled = Self.headroom + size <= BufferPool.blockSize
    let bytes = isPooled ? BufferPool.blockSize : Self.headroom + size
    let memory = isPooled ? pool.acquire() : .allocate(byteCount: bytes, alignment: 16)
    capacity += bytes
    budget.used += bytes
    return Block(memory: memory, capacity: bytes)
  }

  /// The first unsent bytes that are contiguous; `nil` if there are none.
  var first: UnsafeRawBufferPointer? {
    guard count > 0, let block = oldest < full.count ? full[oldest] : last else { return nil }
    return UnsafeRawBufferPointer(
      start: block.memory + block.start, count: block.end - block.start)
  }

  /// Sends as much of the first blocks as the socket accepts (sendmsg). Returns the result of the
  /// system call.
  func send(to descriptor: Int32) -> Int {
    guard oldest < full.count else {
      let bytes = first
      return Glibc.send(descriptor, bytes?.baseAddress, bytes?.count ?? 0, Int32(MSG_NOSIGNAL))
    }
    var blocks = Array(full[oldest...].prefix(Self.blocksPerSend))
    // The last block follows all full blocks.
    if let last, blocks.count == full.count - oldest { blocks.append(last) }
    var parts = blocks.map { block in
      iovec(iov_base: block.memory + block.start, iov_len: block.end - block.start)
    }
    return parts.withUnsafeMutableBufferPointer { parts in
      var message = msghdr()
      message.msg_iov = parts.baseAddress
      message.msg_iovlen = parts.count
      return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
    }
  }

  /// The next frames of a client: together at most `limit` bytes, or one larger frame.
  func chunk(limit: Int) -> UnsafeMutableBufferPointer<UInt8>? {
    guard let first, let start = first.baseAddress else { return nil }
    var size = first.count
    if size > limit {
      size = FrameHeader.frameSize(at: start)
      while size < first.count {
        let next = FrameHeader.frameSize(at: start + size)
        if size + next > limit { break }
        size += next
      }
    }
    return UnsafeMutableBufferPointer(
      start: UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: UInt8.self),
      count: size)
  }

  /// Removes the first `size` bytes, and releases the blocks that are then empty.
  mutating func remove(first size: Int) {
    if size >= count { return removeAll() }
    count -= size
    var size = size
    while oldest < full.count {
      let blockBytes = full[oldest].end - full[oldest].start
      guard size >= blockBytes else {
        full[oldest].start += size
        return
      }
      size -= blockBytes
      free(full[oldest])
      oldest += 1
    }
    full.removeAll()
    oldest = 0
    last?.start += size
  }

  /// Removes all frames of which nothing has been sent.
  mutating func removeUnsent() {
    guard let rest = bytesOfStartedFrame, rest > 0 else { return removeAll() }
    var retained: [UInt8] = []
    retained.reserveCapacity(rest)
    for block in full[oldest...] + (last.map { [$0] } ?? []) where retained.count < rest {
      let bytes = UnsafeRawBufferPointer(
        start: block.memory + block.start, count: block.end - block.start)
      retained.append(contentsOf: bytes.prefix(rest - retained.count))
    }
    removeAll()
    var block = newBlock(with: rest + Self.longestHeader)
    (block.memory + block.end).copyMemory(from: retained, byteCount: rest)
    block.end += rest
    count = rest
    last = block
  }

  /// Number of unsent bytes of a partly sent frame.
  private var bytesOfStartedFrame: Int? {
    var bytes = 0
    for block in full[oldest...] + (last.map { [$0] } ?? []) {
      guard var next = block.firstFrame else {
        bytes += block.end - block.start
        continue
      }
      while next < block.start { next += FrameHeader.frameSize(at: block.memory + next) }
      if next <= block.end { return bytes + next - block.start }
      bytes += block.end - block.start
    }
    return bytes
  }

  mutating func removeAll() {
    if !full.isEmpty {
      for block in full[oldest...] { free(block) }
      full = []
      oldest = 0
    }
    if let last { free(last) }
    last = nil
    count = 0
  }

  private mutating func free(_ block: Block) {
    capacity -= block.capacity
    Self.free(block, pool, budget)
  }

  private static func free(_ block: Block, _ pool: BufferPool, _ budget: SocketMemoryBudget) {
    budget.used -= block.capacity
    if block.capacity == BufferPool.blockSize {
      pool.release(block.memory)
    } else {
      block.memory.deallocate()
    }
  }
}
