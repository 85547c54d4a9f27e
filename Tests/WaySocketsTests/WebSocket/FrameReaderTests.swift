import Testing
import WayTransport

@testable import WaySockets

/// The result of a ``FrameReader``.
private enum DecodedFrame: Equatable {
  case message([UInt8], MessageKind)
  case ping([UInt8])
  case pong
  case close([UInt8])
  case error(String)
}

/// Reads bytes that arrive in pieces, and joins the parts of a message.
private func readFrames(_ bytes: [UInt8], pieces: Int) -> [DecodedFrame] {
  var reader = FrameReader()
  var found: [DecodedFrame] = []
  var message: [UInt8] = []
  var bytes = bytes[...]
  while !bytes.isEmpty {
    var piece = Array(bytes.prefix(pieces))
    bytes = bytes.dropFirst(pieces)
    let fault = piece.withUnsafeMutableBytes { buffer -> String? in
      var rest = buffer
      do throws(FrameReader.FrameError) {
        while let part = try reader.next(&rest) {
          switch part {
          case .message(let bytes, let kind, let isLast, _):
            message += bytes
            guard isLast else { continue }
            found.append(.message(message, kind))
            message = []
          case .ping(let payload): found.append(.ping(payload))
          case .pong: found.append(.pong)
          case .close(let payload): found.append(.close(payload))
          }
        }
        #expect(rest.isEmpty)
        return nil
      } catch {
        return error.reason
      }
    }
    if let fault { return found + [.error(fault)] }
  }
  return found
}

@Suite struct FrameReaderTests {
  private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let mask: UInt32 = 0xA1B2_C3D4
    var frame = RawSocket.frame(first, payload)
    let end = frame.count - payload.count
    let key = withUnsafeBytes(of: mask) { Array($0) }
    frame.replaceSubrange((end - 4)..<end, with: key)
    for index in payload.indices { frame[end + index] ^= key[index % 4] }
    return frame
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  }

  @Test(arguments: [1, 2, 3, 5, 7, 100, 70_000, 1_000_000])
  func `Reads frames split at any position`(pieces: Int) {
    let sizes = [0, 1, 7, 16, 23, 125, 126, 300] + (pieces < 10 ? [] : [65_535, 65_536])
    let stream =
      sizes.flatMap { Self.frame(0x82, Self.bytes($0)) }
      + Self.frame(0x01, Array("on".utf8)) + Self.frame(0x89, Self.bytes(125))
      + Self.frame(0x00, []) + Self.frame(0x8A, []) + Self.frame(0x80, Array("e".utf8))
      + Self.frame(0x88, [3, 0xE8])
    let expected =
      sizes.map { DecodedFrame.message(Self.bytes($0), .binary) }
      + [.ping(Self.bytes(125)), .pong, .message(Array("one".utf8), .text), .close([3, 0xE8])]
    #expect(readFrames(stream, pieces: pieces) == expected)
  }

  /// Bytes, and the error with which they are rejected as soon as they are complete.
  static let invalidFrames: [([UInt8], String)] = [
    ([0x81, 0x00], "masked"), ([0x89, 0x00], "masked"),
    ([0xC1, 0x80], "reserved bit"), ([0xA1, 0x80], "reserved bit"), ([0x91, 0x80], "reserved bit"),
    ([0x83, 0x80], "opcode"), ([0x8F, 0x80], "opcode"),
    ([0x80, 0x80], "continuation"), ([0x00, 0x80], "continuation"),
    ([0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80], "a new message before the end"),
    ([0x01, 0x80, 0, 0, 0, 0, 0x82, 0x80], "a new message before the end"),
    ([0x09, 0x80], "fragmented"), ([0x89, 0xFE], "125"), ([0x88, 0xFF], "125"),
    ([0x81, 0xFE, 0, 125, 0, 0, 0, 0], "fewest bytes"),
    ([0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0], "fewest bytes"),
    ([0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "fewest bytes"),
  ]

  @Test(arguments: invalidFrames)
  func `Rejects invalid frames`(bytes: [UInt8], reason: String) {
    for pieces in [1, 3, bytes.count] {
      guard case .error(let found)? = readFrames(bytes, pieces: pieces).last else {
        Issue.record("accepted in pieces of \(pieces)")
        continue
      }
      #expect(found.contains(reason))
    }
  }

  @Test func `Control frames do not interrupt a fragmented message`() {
    let stream =
      Self.frame(0x02, [1]) + Self.frame(0x89, []) + Self.frame(0x80, [2]) + Self.frame(0x81, [65])
    #expect(
      readFrames(stream, pieces: 4) == [
        .ping([]), .message([1, 2], .binary), .message([65], .text),
      ])
  }
}
