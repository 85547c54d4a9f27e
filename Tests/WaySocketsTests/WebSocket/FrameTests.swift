import Testing
import WayTransport

@testable import WaySockets

@Suite struct FrameTests {
  static let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 100_000]

  @Test(arguments: sizes, [nil, 0x0102_0304] as [UInt32?])
  func `Frame size can be read back from its header`(size: Int, mask: UInt32?) {
    let header = FrameHeader(opcode: .binary, payloadSize: size, mask: mask)
    var bytes = [UInt8](repeating: 0xEE, count: 20)
    bytes.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      header.write(to: base)
      #expect(FrameHeader.frameSize(at: base) == header.size + size)
    }
    #expect(bytes[0] == 0x82)
    #expect(bytes[header.size...].allSatisfy { $0 == 0xEE })
    #expect((bytes[1] & 0x80 != 0) == (mask != nil))
  }

  @Test func `Masks payloads with the key`() {
    var out = OutboundBuffer(pool: BufferPool(), budget: SocketMemoryBudget())
    let payload = (0..<21).map { UInt8($0) }
    payload.withUnsafeBytes { out.append($0.bytes, as: .text, mask: 0x4433_2211) }
    let frame = Array(out.chunk(limit: 1000) ?? .init(start: nil, count: 0))
    let key: [UInt8] = [0x11, 0x22, 0x33, 0x44]
    #expect(Array(frame[2..<6]) == key)
    #expect(frame[6...].enumerated().map { $0.element ^ key[$0.offset % 4] } == payload)
  }

  @Test(arguments: [10, 100, 1000, 100_000])
  func `Chunks contain whole frames in order`(limit: Int) {
    var out = OutboundBuffer(pool: BufferPool(), budget: SocketMemoryBudget())
    let sizes = (0..<300).map { ($0 * 37) % 200 }
    var expected: [UInt8] = []
    for size in sizes {
      let payload = [UInt8](repeating: UInt8(size), count: size)
      expected += size < 126 ? [0x82, 0x80 | UInt8(size)] : [0x82, 0xFE, 0, UInt8(size)]
      expected += [0, 0, 0, 0] + payload
      payload.withUnsafeBytes { out.append($0.bytes, as: .binary, mask: 0) }
    }
    var all: [UInt8] = []
    var ends: Set<Int> = []
    while let chunk = out.chunk(limit: limit) {
      let size = chunk.count
      all += Array(chunk)
      ends.insert(all.count)
      if size > limit { #expect(size <= 208) }
      out.remove(first: size)
    }
    #expect(all == expected)
    #expect(out.count == 0)
    var starts: Set<Int> = []
    var offset = 0
    for size in sizes {
      offset += (size < 126 ? 6 : 8) + size
      starts.insert(offset)
    }
    #expect(ends.isSubset(of: starts))
  }
}
