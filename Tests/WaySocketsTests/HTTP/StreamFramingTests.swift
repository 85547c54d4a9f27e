import TestSupport
import Testing
import WayTransport

@testable import WaySockets

@Suite struct StreamFramingTests {
  /// Returns the bytes of a body with these parts.
  private static func bytes(_ framing: StreamFraming, _ parts: [[UInt8]]) -> [UInt8] {
    var buffer = OutboundBuffer(pool: BufferPool(), budget: SocketMemoryBudget())
    for part in parts { framing.append(part, to: &buffer) }
    framing.appendEnd(to: &buffer)
    var bytes: [UInt8] = []
    while let first = buffer.first {
      bytes += first
      buffer.remove(first: first.count)
    }
    return bytes
  }

  /// Parts of a body, and the bytes of both kinds.
  static let bodies: [([String], chunked: String, plain: String)] = [
    ([], "0\r\n\r\n", ""),
    (["a"], "1\r\na\r\n0\r\n\r\n", "a"),
    ([":\n\n", "data: 1\n\n"], "3\r\n:\n\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n", ":\n\ndata: 1\n\n"),
    (["0123456789abcdef"], "10\r\n0123456789abcdef\r\n0\r\n\r\n", "0123456789abcdef"),
    (["\r\n0\r\n\r\n"], "7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n"),
  ]

  @Test(arguments: bodies)
  func `Delimits parts by chunks, or by the connection's end`(
    parts: [String], chunked: String, plain: String
  ) {
    let parts = parts.map { Array($0.utf8) }
    #expect(Self.bytes(.chunked, parts) == Array(chunked.utf8))
    #expect(Self.bytes(.connectionEnd, parts) == Array(plain.utf8))
  }

  /// Parts around the sizes of blocks, in random order, are what a reader of chunks finds.
  @Test(arguments: 0..<50)
  func `Reader finds the same parts`(seed: Int) throws {
    var source = SplitMix(state: UInt64(seed))
    let sizes = [1, 9, 15, 16, 17, 255, 256, 4095, 4096, 16_000, 16_360, 16_384, 70_000]
    let parts = (0..<Int.random(in: 0..<20, using: &source)).map { number in
      let size = (sizes.randomElement(using: &source) ?? 1) + Int.random(in: 0..<3, using: &source)
      return [UInt8](repeating: UInt8(number), count: size)
    }
    let input = Self.bytes(.chunked, parts) + [0x47]
    var reader = ChunkedBodyReader(limit: .max)
    var index = 0
    var found: [[UInt8]] = []
    while let range = try reader.nextPart(of: input, at: &index) {
      found.append(Array(input[range]))
    }
    #expect(found == parts)
    #expect(reader.isComplete && index == input.count - 1)
  }

  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}

@Suite struct StreamLivenessTests {
  /// What happens in each quarter of the ping interval: `.` nothing; `s` a part is sent and accepted;
  /// `w` bytes wait and none is accepted; `p` bytes wait and some are accepted. The resulting action:
  /// `-` for none, `k` for keep-alive bytes, `!` for expiry.
  @Test(arguments: [
    ("............", "---k---k---k"), ("..s.....s...", "------k-----"),
    ("ssssssssssss", "------------"), ("wwwwwwww....", "------!!k---"),
    ("wwwwwpwwwwwww", "------------!"), ("pppppppppppp", "------------"),
    ("wwwww.wwwwwww", "-----k------!"),
  ])
  func `Keeps an idle stream alive, and expires a client that accepts nothing`(
    activity: String, done: String
  ) {
    var liveness = StreamLiveness()
    var actions = ""
    for character in activity {
      switch liveness.advance(
        by: .milliseconds(10), ping: .milliseconds(40), maxStall: .milliseconds(70),
        hasSent: character == "s", isAwaited: character == "w" || character == "p",
        hasProgress: character == "p")
      {
      case .nothing: actions += "-"
      case .keepAlive: actions += "k"
      case .expire: actions += "!"
      }
    }
    #expect(actions == done)
  }
}
