import WayTransport

/// Reads a client's frames (RFC 6455 §5.2) from the received bytes of its connection.
///
/// It is strict: libwebsockets accepts frames without a mask, and lengths in more bytes than
/// needed.
struct FrameReader {
  enum FramePart {
    /// The next bytes of a message. `isLast` marks its end. `remaining` bytes of its frame are
    /// still to be received.
    case message(UnsafeRawBufferPointer, MessageKind, isLast: Bool, remaining: Int)
    case ping([UInt8])
    case pong
    case close([UInt8])
  }

  /// The reason why the bytes are not valid frames. Nothing after them can be read.
  struct FrameError: Error, Equatable {
    let reason: String
  }

  private struct PartialFrame {
    var opcode: UInt8
    var isFinal: Bool
    /// The mask, beginning with that of the next byte.
    var mask: UInt32
    var remaining: Int

    var isControl: Bool { opcode & 0x8 != 0 }
  }

  private var frame: PartialFrame?
  /// The received part of an incomplete header.
  private var partialHeader: [UInt8] = []
  /// The kind of the message that is incomplete.
  private var kind: MessageKind?
  /// The received part of a control frame's payload.
  private var controlPayload: [UInt8] = []

  /// Removes the next part from the front of `bytes`, and unmasks it in place. Returns `nil` if
  /// more input is needed.
  mutating func next(
    _ bytes: inout UnsafeMutableRawBufferPointer
  ) throws(FrameError) -> FramePart? {
    if frame == nil { frame = try readHeader(&bytes) }
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
    return frame.isControl ? readControl(frame, payload) : readMessage(frame, payload)
  }

  private mutating func readMessage(
    _ frame: PartialFrame, _ payload: UnsafeMutableRawBufferPointer
  ) -> FramePart {
    let kind = kind ?? (frame.opcode == 0x2 ? .binary : .text)
    let isLast = frame.isFinal && frame.remaining == 0
    self.kind = isLast ? nil : kind
    return .message(
      UnsafeRawBufferPointer(payload), kind, isLast: isLast, remaining: frame.remaining)
  }

  private mutating func readControl(
    _ frame: PartialFrame, _ payload: UnsafeMutableRawBufferPointer
  ) -> FramePart? {
    controlPayload.append(contentsOf: payload)
    guard frame.remaining == 0 else { return nil }
    var payload: [UInt8] = []
    swap(&payload, &controlPayload)
    return switch frame.opcode {
    case 0x8: .close(payload)
    case 0x9: .ping(payload)
    default: .pong
    }
  }

  private mutating func readHeader(
    _ bytes: inout UnsafeMutableRawBufferPointer
  ) throws(FrameError) -> PartialFrame? {
    if partialHeader.isEmpty, bytes.count >= 2 {
      let size = try headerSize(bytes[0], bytes[1])
      if bytes.count >= size, let base = bytes.baseAddress {
        let frame = try Self.frame(UnsafeRawBufferPointer(start: base, count: size))
        bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[size...])
        return frame
      }
    }
    while let byte = bytes.first {
      partialHeader.append(byte)
      bytes = UnsafeMutableRawBufferPointer(rebasing: bytes[1...])
      guard partialHeader.count >= 2,
        partialHeader.count == (try headerSize(partialHeader[0], partialHeader[1]))
      else {
        continue
      }
      defer { partialHeader.removeAll() }
      var frame: Result<PartialFrame, FrameError>?
      partialHeader.withUnsafeBytes { header in
        frame = Result { () throws(FrameError) in try Self.frame(header) }
      }
      return try frame?.get()
    }
    return nil
  }

  /// The size of a header, from its first two bytes. Throws if they are invalid.
  private func headerSize(_ first: UInt8, _ second: UInt8) throws(FrameError) -> Int {
    guard first & 0x70 == 0 else { throw FrameError(reason: "a reserved bit is set") }
    guard second & 0x80 != 0 else { throw FrameError(reason: "a frame of a client must be masked") }
    switch first & 0x0F {
    case 0x0:
      guard kind != nil else {
        throw FrameError(reason: "a continuation frame without a first frame")
      }
    case 0x1, 0x2:
      guard kind == nil else {
        throw FrameError(reason: "a new message before the end of the last one")
      }
    case 0x8, 0x9, 0xA:
      guard first & 0x80 != 0 else {
        throw FrameError(reason: "a control frame must not be fragmented")
      }
      guard second & 0x7F < 126 else {
        throw FrameError(reason: "a control frame may have at most 125 bytes")
      }
    default: throw FrameError(reason: "the opcode is reserved")
    }
    return switch second & 0x7F {
    case 126: 8
    case 127: 14
    default: 6
    }
  }

  private static func frame(_ header: UnsafeRawBufferPointer) throws(FrameError) -> PartialFrame {
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
      throw FrameError(reason: "the length is not encoded in the fewest bytes")
    }
    return PartialFrame(
      opcode: header[0] & 0x0F, isFinal: header[0] & 0x80 != 0,
      mask: header.loadUnaligned(fromByteOffset: header.count - 4, as: UInt32.self),
      remaining: remaining)
  }
}

/// Masks or unmasks the bytes (RFC 6455 §5.3). `mask` has the byte order of memory.
func applyMask(_ mask: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
  guard var next = bytes.baseAddress else { return }
  var rest = bytes.count
  let wide = SIMD4(repeating: mask)
  while rest >= 16 {
    next.storeBytes(of: next.loadUnaligned(as: SIMD4<UInt32>.self) ^ wide, as: SIMD4<UInt32>.self)
    next += 16
    rest &-= 16
  }
  while rest >= 4 {
    next.storeBytes(of: next.loadUnaligned(as: UInt32.self) ^ mask, as: UInt32.self)
    next += 4
    rest &-= 4
  }
  var keys = mask
  while rest > 0 {
    next.storeBytes(of: next.load(as: UInt8.self) ^ UInt8(truncatingIfNeeded: keys), as: UInt8.self)
    keys >>= 8
    next += 1
    rest &-= 1
  }
}
