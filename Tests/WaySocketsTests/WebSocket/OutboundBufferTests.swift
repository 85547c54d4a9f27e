import Glibc
import Testing
import WayTransport

@testable import WaySockets

/// Both ends of a connection with small buffers.
private struct SocketPair: ~Copyable {
  let writeEnd: Int32
  let readEnd: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
    (writeEnd, readEnd) = (ends[0], ends[1])
  }

  deinit {
    close(writeEnd)
    close(readEnd)
  }

  func read(_ limit: Int = .max) -> [UInt8] {
    var found: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 10_000)
    while found.count < limit,
      case let count = recv(readEnd, &part, min(part.count, limit - found.count), 0), count > 0
    {
      found += part[..<count]
    }
    return found
  }
}

extension OutboundBuffer {
  fileprivate mutating func append(_ payload: [UInt8], as opcode: FrameHeader.Opcode = .binary) {
    payload.withUnsafeBytes { append($0.bytes, as: opcode, mask: nil) }
  }

  /// Sends the bytes that the pipe accepts; returns false if it accepted none.
  fileprivate mutating func flush(_ pipe: borrowing SocketPair) -> Bool {
    let sent = count == 0 ? 0 : send(to: pipe.writeEnd)
    if sent > 0 { remove(first: sent) }
    return sent > 0
  }
}

@Suite struct OutboundBufferTests {
  /// More blocks than one system call accepts, on a socket with room for all of them.
  @Test func sendsManyBlocksInOrder() {
    let pipe = SocketPair()
    var size: Int32 = 8 << 20
    let option = MemoryLayout<Int32>.size
    // Only root can exceed the system's limit (socket(7), SO_SNDBUFFORCE).
    setsockopt(pipe.writeEnd, SOL_SOCKET, SO_SNDBUFFORCE, &size, socklen_t(option))
    var buffer = OutboundBuffer(pool: BufferPool(), budget: SocketMemoryBudget(limit: .max))
    var expected: [UInt8] = []
    for number in 0..<300 {
      let payload = Self.payload(number, 10_000)
      buffer.append(payload)
      expected += Self.frame(payload)
    }
    var found: [UInt8] = []
    while buffer.count > 0 {
      _ = buffer.flush(pipe)
      found += pipe.read()
    }
    #expect(found == expected)
  }

  /// Returns the bytes of a server's frame.
  private static func frame(_ payload: [UInt8], first: UInt8 = 0x82) -> [UInt8] {
    let size = payload.count
    if size < 126 { return [first, UInt8(size)] + payload }
    if size < 65_536 { return [first, 126, UInt8(size >> 8), UInt8(size & 0xFF)] + payload }
    return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) } + payload
  }

  private static func payload(_ number: Int, _ size: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
  }

  static let sizes: [[Int]] = [
    [], [0], [1, 2, 3], [16_000, 500, 16_384, 16_370], [100_000, 0, 1_000_000, 7],
    Array(repeating: 997, count: 500), Array(0..<300),
  ]

  @Test(arguments: sizes)
  func `Sends queued frames in order and releases memory`(sizes: [Int]) {
    let budget = SocketMemoryBudget()
    let pipe = SocketPair()
    var out = OutboundBuffer(pool: BufferPool(), budget: budget)
    var expected: [UInt8] = []
    for (number, size) in sizes.enumerated() {
      out.append(Self.payload(number, size))
      expected += Self.frame(Self.payload(number, size))
    }
    #expect(out.count == expected.count)
    #expect(out.capacity == budget.used)
    // At most the held bytes, plus the two partly used blocks at either end.
    #expect(out.capacity <= expected.count * 101 / 100 + 2 * BufferPool.blockSize)
    #expect(out.cost <= out.capacity && out.cost >= out.count)
    var sent: [UInt8] = []
    while out.count > 0 {
      let isMoving = out.flush(pipe)
      sent += pipe.read(isMoving ? 5_000 : .max)
    }
    #expect(sent + pipe.read() == expected)
    #expect(budget.used == 0 && out.capacity == 0 && out.cost == 0)
  }

  @Test(arguments: [[50], [40_000], [200_000, 10, 10], Array(repeating: 300, count: 500)])
  func `Removes unsent frames but completes a started one`(sizes: [Int]) {
    for limit in [0, 1, 3, 10_000, 70_000] {
      let budget = SocketMemoryBudget()
      let pipe = SocketPair()
      var out = OutboundBuffer(pool: BufferPool(), budget: budget)
      var frames: [[UInt8]] = []
      for (number, size) in sizes.enumerated() {
        out.append(Self.payload(number, size))
        frames.append(Self.frame(Self.payload(number, size)))
      }
      var sent: [UInt8] = []
      if limit > 0 {
        // As if the socket had accepted this many bytes.
        var left = min(limit, frames.joined().count)
        while left > 0, let first = out.first {
          let part = min(left, first.count)
          sent += first.prefix(part)
          out.remove(first: part)
          left -= part
        }
      }
      out.removeUnsent()
      out.append([1], as: .close)
      #expect(out.capacity == budget.used && out.capacity < sizes.max().map { $0 + 40_000 } ?? 0)
      while out.flush(pipe) { sent += pipe.read() }
      var expected: [UInt8] = []
      for frame in frames where expected.count < limit { expected += frame }
      #expect(sent == expected + Self.frame([1], first: 0x88), "\(limit)")
      #expect(budget.used == 0)
    }
  }

  @Test func `Releases its memory when destroyed`() {
    let budget = SocketMemoryBudget()
    do {
      var out = OutboundBuffer(pool: BufferPool(), budget: budget)
      out.append(Self.payload(1, 100_000))
      #expect(budget.used > 100_000)
    }
    #expect(budget.used == 0)
  }
}
