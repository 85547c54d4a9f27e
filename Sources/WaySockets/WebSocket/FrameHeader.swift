import WayTransport

/// The header of an unfragmented frame (RFC 6455 §5.2), written before the payload.
struct FrameHeader {
  enum Opcode: UInt8 {
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    init(_ kind: MessageKind) {
      self = kind == .text ? .text : .binary
    }
  }

  let opcode: Opcode
  let payloadSize: Int
  /// The mask of a client's frame (RFC 6455 §5.3); `nil` for a server's frame.
  let mask: UInt32?

  var size: Int {
    (payloadSize < 126 ? 2 : payloadSize < 65_536 ? 4 : 10) + (mask == nil ? 0 : 4)
  }

  /// Writes ``size`` bytes to `target`, which must have room for them.
  func write(to target: UnsafeMutableRawPointer) {
    let masked: UInt8 = mask == nil ? 0 : 0x80
    target.storeBytes(of: 0x80 | opcode.rawValue, as: UInt8.self)
    var end = 2
    if payloadSize < 126 {
      target.storeBytes(of: masked | UInt8(payloadSize), toByteOffset: 1, as: UInt8.self)
    } else if payloadSize < 65_536 {
      target.storeBytes(of: masked | 126, toByteOffset: 1, as: UInt8.self)
      target.storeBytes(of: UInt16(payloadSize).bigEndian, toByteOffset: 2, as: UInt16.self)
      end = 4
    } else {
      target.storeBytes(of: masked | 127, toByteOffset: 1, as: UInt8.self)
      target.storeBytes(of: UInt64(payloadSize).bigEndian, toByteOffset: 2, as: UInt64.self)
      end = 10
    }
    if let mask { target.storeBytes(of: mask, toByteOffset: end, as: UInt32.self) }
  }

  /// The size of the whole frame at the start of `bytes`, as written by ``write(to:)``.
  static func frameSize(at bytes: UnsafeRawPointer) -> Int {
    let second = bytes.load(fromByteOffset: 1, as: UInt8.self)
    let mask = second & 0x80 == 0 ? 0 : 4
    switch second & 0x7f {
    case 126:
      let size = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
      return 4 + mask + Int(size)
    case 127:
      let size = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
      return 10 + mask + Int(size)
    case let size:
      return 2 + mask + Int(size)
    }
  }
}
