import CLibwebsockets
import Glibc
import WayTransport

/// Frames that wait to be sent, in a chain of blocks. Empty, it owns no memory.
///
/// Frames of a server are cut where a block ends. Those of a client are whole in their block, since
/// lws sends them, which may put a frame of its own between two writes, and wants LWS_PRE bytes of
/// room before what it writes.
struct OutboundBuffer: ~Copyable {
  private struct Block {
    var memory: UnsafeMutableRawPointer
    var capacity: Int
    var start = headroom
    var end = headroom
    /// Where the first frame begins that begins in this block.
    var firstFrame: Int?
  }

  private static let headroom = Int(way_lws_pre)
  /// Bytes of the longest header of a frame: headers are never cut.
  private static let longestHeader = 14

  private static let blocksPerSend = 64

  private let pool: BufferPool
  private let budget: SocketQueueBudget
  /// Blocks that are full, the oldest at `oldest`; those before are gone.
  private var full: [Block] = []
  private var oldest = 0
  private var last: Block?

  /// Bytes that wait.
  private(set) var count = 0
  /// Bytes of the blocks.
  private(set) var capacity = 0

  init(pool: BufferPool, budget: SocketQueueBudget) {
    self.pool = pool
    self.budget = budget
  }

  deinit {
    for block in full[oldest...] { Self.free(block, pool, budget) }
    if let last { Self.free(last, pool, budget) }
  }

  /// Bytes of memory that what waits takes up. A last block counts as far as it is filled: the rest
  /// of it is the loop's, which has blocks to spare.
  var cost: Int {
    guard let last else { return 0 }
    return capacity - last.capacity + last.end - Self.headroom
  }

  /// Bytes of blocks that have to be made for a frame.
  func growth(for payloadSize: Int) -> Int {
    let size = payloadSize + Self.longestHeader
    let room = last.map { $0.capacity - $0.end } ?? 0
    return size <= room ? 0 : size - room + BufferPool.blockSize
  }

  // MARK: In

  /// Copies one payload in, as a frame.
  mutating func append(_ message: RawSpan, as opcode: FrameHeader.Opcode, mask: UInt32?) {
    let header = FrameHeader(opcode: opcode, payloadSize: message.byteCount, mask: mask)
    let whole = mask == nil ? Self.longestHeader : header.size + message.byteCount
    var block = block(with: whole)
    if block.firstFrame == nil { block.firstFrame = block.end }
    header.write(to: block.memory + block.end)
    block.end += header.size
    count += header.size + message.byteCount
    message.withUnsafeBytes { bytes in
      var rest = bytes
      while true {
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(block.capacity - block.end))
        let target = UnsafeMutableRawBufferPointer(
          start: block.memory + block.end, count: part.count)
        target.copyMemory(from: part)
        if let mask { applyMask(mask, to: target) }
        block.end += part.count
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
        guard !rest.isEmpty else { break }
        full.append(block)
        block = newBlock(with: 1)
      }
    }
    last = block
  }

  /// The last block, or a new one, with at least `size` bytes free at its end. The caller puts it
  /// back.
  private mutating func block(with size: Int) -> Block {
    guard let last else { return newBlock(with: size) }
    if last.end + size <= last.capacity { return last }
    full.append(last)
    return newBlock(with: size)
  }

  private mutating func newBlock(with size: Int) -> Block {
    let isPooled = Self.headroom + size <= BufferPool.blockSize
    let bytes = isPooled ? BufferPool.blockSize : Self.headroom + size
    let memory = isPooled ? pool.take() : .allocate(byteCount: bytes, alignment: 16)
    capacity += bytes
    budget.used += bytes
    return Block(memory: memory, capacity: bytes)
  }

  // MARK: Out

  /// The first bytes that wait, as many as lie together; nil where none do.
  var first: UnsafeRawBufferPointer? {
    guard count > 0, let block = oldest < full.count ? full[oldest] : last else { return nil }
    return UnsafeRawBufferPointer(
      start: block.memory + block.start, count: block.end - block.start)
  }

  /// Sends what the socket takes of the first blocks (sendmsg); returns what that returns.
  func send(to descriptor: Int32) -> Int {
    guard oldest < full.count else {
      return Glibc.send(descriptor, first?.baseAddress, first?.count ?? 0, Int32(MSG_NOSIGNAL))
    }
    var blocks = Array(full[oldest...].prefix(Self.blocksPerSend))
    // The last one lies behind all that are full.
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

  /// The next frames of a client, together at most `limit` bytes, or one that is larger.
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

  /// Drops the first `size` bytes, and gives back the blocks that are empty then.
  mutating func remove(first size: Int) {
    if size >= count { return removeAll() }
    count -= size
    var size = size
    while oldest < full.count {
      let held = full[oldest].end - full[oldest].start
      guard size >= held else {
        full[oldest].start += size
        return
      }
      size -= held
      free(full[oldest])
      oldest += 1
    }
    full.removeAll()
    oldest = 0
    last?.start += size
  }

  /// Drops all frames of which nothing has been sent.
  mutating func removeUnsent() {
    guard let rest = bytesOfBegunFrame, rest > 0 else { return removeAll() }
    var kept: [UInt8] = []
    kept.reserveCapacity(rest)
    for block in full[oldest...] + (last.map { [$0] } ?? []) where kept.count < rest {
      let bytes = UnsafeRawBufferPointer(
        start: block.memory + block.start, count: block.end - block.start)
      kept.append(contentsOf: bytes.prefix(rest - kept.count))
    }
    removeAll()
    var block = newBlock(with: rest + Self.longestHeader)
    (block.memory + block.end).copyMemory(from: kept, byteCount: rest)
    block.end += rest
    count = rest
    last = block
  }

  /// Bytes that wait of a frame whose first ones are sent.
  private var bytesOfBegunFrame: Int? {
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
    for block in full[oldest...] { free(block) }
    full = []
    oldest = 0
    if let last { free(last) }
    last = nil
    count = 0
  }

  private mutating func free(_ block: Block) {
    capacity -= block.capacity
    Self.free(block, pool, budget)
  }

  private static func free(_ block: Block, _ pool: BufferPool, _ budget: SocketQueueBudget) {
    budget.used -= block.capacity
    if block.capacity == BufferPool.blockSize {
      pool.give(block.memory)
    } else {
      block.memory.deallocate()
    }
  }
}
