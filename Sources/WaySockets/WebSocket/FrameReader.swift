import WayTransport

/// Reads the frames of a client (RFC 6455 §5.2) from the bytes of its connection, as they come.
///
/// It keeps to the letter: libwebsockets lets pass what has no mask, and lengths in more bytes than
/// they need.
struct FrameReader {
  enum Part {
    /// The next bytes of a message. `isLast` ends it; `remaining` bytes of its frame are to come.
    case message(UnsafeRawBufferPointer, MessageKind, isLast: Bool, remaining: Int)
    case ping([UInt8])
    case pong
    case close([UInt8])
  }

  /// Why the bytes are no frames; nothing after them can be read.
  struct Fault: Error, Equatable {
    let reason: String
  }

  private struct Frame {
    var opcode: UInt8
    var isFinal: Bool
    /// Of the next byte first.
    var mask: UInt32
    var remaining: Int

    var isControl: Bool { opcode & 0x8 != 0 }
  }

  private var frame: Frame?
  /// The beginning of a header whose rest has not come.
  private var header: [UInt8] = []
  /// The kind of the message whose last frame has not come.
  private var kind: MessageKind?
  /// What has come of a control frame's payload.
  private var control: [UInt8] = []

  /// Takes the next part off the front of `bytes`, which it unmasks in place; nil where more must
  /// come.
  mutating func next(
    _ bytes: inout UnsafeMutableRawBufferPointer
  ) throws(Fault) -> Part? {
    if frame == nil { frame = try takeHeader(&bytes) }
    guard var frame else { return nil }
    let count = min(frame.remaining, bytes.count)
    if count == 0, frame.remaining > 0 { return nil }
    let payload = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
    bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
    applyMask(frame.mask, to: payload)
    frame.remaining -= count
    let turn = UInt32(count & 3) * 8
    frame.mask = frame.mask >> turn | frame.mask << ((32 - turn) & 31)
    self.frame = frame.remaining > 0 ? frame : nil
    return frame.isControl ? takeControl(frame, payload) : takeMessage(frame, payload)
  }

  private mutating func takeMessage(
    _ frame: Frame, _ payload: UnsafeMutableRawBufferPointer
  ) -> Part {
    let kind = kind ?? (frame.opcode == 0x2 ? .binary : .text)
    let isLast = frame.isFinal && frame.remaining == 0
    self.kind = isLast ? nil : kind
    return .message(
      UnsafeRawBufferPointer(payload), kind, isLast: isLast, remaining: frame.remaining)
  }

  private mutating func takeControl(
    _ frame: Frame, _ payload: UnsafeMutableRawBufferPointer
  ) -> Part? {
    control.append(contentsOf: payload)
    guard frame.remaining == 0 else { return nil }
    var payload: [UInt8] = []
    swap(&payload, &control)
    return switch frame.opcode {
    case 0x8: .close(payload)
    case 0x9: .ping(payload)
    default: .pong
    }
  }

  // MARK: Header

  private mutating func takeHeader(
    _ bytes: inout UnsafeMutableRawBufferPointer
  ) throws(Fault) -> Frame? {
    if header.isEmpty, bytes.count >= 2 {
      let size = try headerSize(bytes[0], bytes[1])
      if bytes.count >= size, let base = bytes.baseAddress {
        let frame = try Self.frame(UnsafeRawBufferPointer(start: base, count: size))
        bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[size...])
        return frame
      }
    }
    while let byte = bytes.first {
      header.append(byte)
      bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[1...])
      guard header.count >= 2, header.count == (try headerSize(header[0], header[1])) else {
        continue
      }
      defer { header.removeAll() }
      var frame: Result<Frame, Fault>?
      header.withUnsafeBytes { header in
        frame = Result { () throws(Fault) in try Self.frame(header) }
      }
      return try frame?.get()
    }
    return nil
  }

  /// The size of a header by its first two bytes, once these are found good.
  private func headerSize(_ first: UInt8, _ second: UInt8) throws(Fault) -> Int {
    guard first & 0x70 == 0 else { throw Fault(reason: "a reserved bit is set") }
    guard second & 0x80 != 0 else { throw Fault(reason: "frames of a client are masked") }
    switch first & 0x0F {
    case 0x0: guard kind != nil else { throw Fault(reason: "there is nothing to continue") }
    case 0x1, 0x2:
      guard kind == nil else { throw Fault(reason: "the message before has not ended") }
    case 0x8, 0x9, 0xA:
      guard first & 0x80 != 0 else { throw Fault(reason: "a control frame has one part") }
      guard second & 0x7F < 126 else {
        throw Fault(reason: "a control frame holds at most 125 bytes")
      }
    default: throw Fault(reason: "the opcode is reserved")
    }
    return switch second & 0x7F {
    case 126: 8
    case 127: 14
    default: 6
    }
  }

  private static func frame(_ header: UnsafeRawBufferPointer) throws(Fault) -> Frame {
    var size = UInt64(header[1] & 0x7F)
    var isShortest = true
    if size == 126 {
      size = UInt64(UInt16(bigEndian: header.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
      isShortest = size >= 126
    } else if size == 127 {
      size = UInt64(bigEndian: header.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
      isShortest = size >= 65_536
    }
    guard isShortest, let remaining = Int(exactly: size) else {
      throw Fault(reason: "the length is not written in as few bytes as it needs")
    }
    return Frame(
      opcode: header[0] & 0x0F, isFinal: header[0] & 0x80 != 0,
      mask: header.loadUnaligned(fromByteOffset: header.count - 4, as: UInt32.self),
      remaining: remaining)
  }
}

/// Masks or unmasks (RFC 6455 §5.3). `mask` is as it stands in memory.
func applyMask(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
  let wide = UInt64(mask) << 32 | UInt64(mask)
  var index = 0
  while index + 8 <= bytes.count {
    let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    bytes.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
    index += 8
  }
  var rest = wide
  while index < bytes.count {
    bytes[index] ^= UInt8(truncatingIfNeeded: rest)
    rest >>= 8
    index += 1
  }
}
