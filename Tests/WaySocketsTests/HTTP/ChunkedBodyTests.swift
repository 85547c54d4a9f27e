import TestSupport
import Testing

@testable import WaySockets

/// Bodies with the transfer coding chunked.
@Suite struct ChunkedBodyTests {
  /// The result of reading an input.
  private enum ReadOutcome: Equatable {
    /// The body, and the input after it.
    case complete([UInt8], rest: [UInt8])
    case incomplete
    case rejected(Int)
  }

  private static let limit = 100

  /// Reads a body that arrives in pieces of `size` bytes.
  private static func read(_ input: [UInt8], piecesOf size: Int) -> ReadOutcome {
    var reader = ChunkedBodyReader(limit: limit)
    var body: [UInt8] = []
    var received: [UInt8] = []
    do throws(HTTPRequestRejection) {
      for start in stride(from: 0, to: input.count, by: max(size, 1)) {
        let end = min(start + max(size, 1), input.count)
        received += input[start..<end]
        var index = 0
        while let part = try reader.nextPart(of: received, at: &index) { body += received[part] }
        received.removeFirst(index)
        if reader.isComplete { return .complete(body, rest: received + input[end...]) }
      }
      return .incomplete
    } catch {
      return .rejected(error.status)
    }
  }

  /// Reads a body in one piece, and checks that the result is the same in any pieces.
  private static func read(_ input: [UInt8]) -> ReadOutcome {
    let outcome = read(input, piecesOf: input.count)
    for size in [1, 2, 3, 7, 100] where input.count / size < 20_000 {
      #expect(read(input, piecesOf: size) == outcome, "in pieces of \(size)")
    }
    return outcome
  }

  /// Inputs with the body, and the input after it.
  static let validBodies: [(String, String, String)] = [
    ("0\r\n\r\n", "", ""),
    ("5\r\nhello\r\n0\r\n\r\n", "hello", ""),
    ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET / HTTP/1.1", "hello world", "GET / HTTP/1.1"),
    ("A\r\n0123456789\r\na\r\n0123456789\r\n00\r\n\r\n", "01234567890123456789", ""),
    ("00000005\r\nhello\r\n00000000\r\n\r\n0", "hello", "0"),
    ("2\r\n\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n\r\n", "\r\n\r\n\r\n", "\r\n"),
    ("5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n", ""),
    ("5;x\r\nhello\r\n0;y=\"a;b\"\r\n\r\n", "hello", ""),
    ("5 \t; x = 1\r\nhello\r\n0\t;\r\n\r\n", "hello", ""),
    ("5;\u{E9}\r\nhello\r\n0\r\n\r\n", "hello", ""),
    ("5\r\nhello\r\n0\r\nX-Sum: 1\r\nEmpty:\r\n\r\nrest", "hello", "rest"),
    ("0\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nrest", "", "rest"),
    ("64\r\n" + String(repeating: "x", count: 100) + "\r\n0\r\n\r\n", longest, ""),
    (String(repeating: "1\r\nx\r\n", count: 100) + "0\r\n\r\n", longest, ""),
    ("0;" + String(repeating: "x", count: 8191) + "\r\n\r\n", "", ""),
    ("0\r\nX:" + String(repeating: "x", count: 8188) + "\r\n\r\n", "", ""),
  ]
  private static let longest = String(repeating: "x", count: 100)

  @Test(arguments: validBodies)
  func `Reads valid bodies up to their end`(input: String, body: String, rest: String) {
    let bytes = Array(input.utf8)
    #expect(Self.read(bytes) == .complete(Array(body.utf8), rest: Array(rest.utf8)))
    for count in stride(from: 0, to: bytes.count - rest.utf8.count, by: 1 + bytes.count / 200) {
      let part = Array(bytes[..<count])
      #expect(Self.read(part, piecesOf: part.count) == .incomplete, "\(count) bytes")
    }
  }

  /// Inputs that other programs could read differently, or that are too long, and the status.
  static let invalidBodies: [(String, Int)] = [
    // The size.
    ("\r\n", 400), ("g\r\n", 400), ("-5\r\nhello\r\n", 400), ("+5\r\nhello\r\n", 400),
    ("0x5\r\nhello\r\n", 400), (" 5\r\nhello\r\n", 400), ("5 \r\nhello\r\n", 400),
    ("5\t\r\nhello\r\n", 400), ("5 x\r\nhello\r\n", 400), ("5,5\r\nhello\r\n", 400),
    ("5.0\r\nhello\r\n", 400), ("\u{FF15}\r\nhello\r\n", 400), ("5\u{0}\r\nhello\r\n", 400),
    ("000000005\r\nhello\r\n", 400), ("100000000\r\n", 400),
    ("10000000000000005\r\nhello\r\n", 400), ("hello\r\n0\r\n\r\n", 400),
    ("65\r\n", 413), ("ffffffff\r\n", 413),
    ("60\r\n" + String(repeating: "x", count: 96) + "\r\n5\r\n", 413),
    // The line ends.
    ("5\nhello\r\n0\r\n\r\n", 400), ("\n5\r\nhello\r\n", 400), ("5\r\r\nhello\r\n", 400),
    ("5\rX\r\nhello\r\n", 400), ("5\r\nhello\n0\r\n\r\n", 400), ("5\r\nhello\r\r\n", 400),
    ("5\r\nhello0\r\n\r\n", 400), ("5\r\nhello!\r\n0\r\n\r\n", 400),
    ("5\r\nhell\r\n0\r\n\r\n", 400), ("5\r\nhello\r\n\r\n0\r\n\r\n", 400),
    ("0\n\r\n", 400), ("0\r\n\n", 400), ("0\r\r\n\r\n", 400), ("0\r\n\r\r\n", 400),
    // The extensions.
    ("5;a\nhello\r\n", 400), ("5;a\rb\r\nhello\r\n", 400), ("5;a\u{0}\r\nhello\r\n", 400),
    ("5;a\u{7F}\r\nhello\r\n", 400), ("5;" + String(repeating: "x", count: 8192) + "\r\n", 400),
    (String(repeating: "1;" + String(repeating: "x", count: 99) + "\r\nx\r\n", count: 82), 400),
    // Lines that do not end.
    (String(repeating: "0", count: 9000), 400), (String(repeating: " ", count: 9000), 400),
    ("0\r\n" + String(repeating: "x", count: 9000), 400), ("1\r\nx" + "xxx", 400),
    // The trailer.
    ("0\r\nX\r\n\r\n", 400), ("0\r\n: a\r\n\r\n", 400), ("0\r\nX : a\r\n\r\n", 400),
    ("0\r\nX: a\r\n b\r\n\r\n", 400), ("0\r\nX: a\n\r\n", 400), ("0\r\nX: a\rb\r\n\r\n", 400),
    ("0\r\nX: a\u{0}\r\n\r\n", 400), ("0\r\nGET / HTTP/1.1\r\n\r\n", 400),
    ("0\r\nPOST /rpc HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ("0\r\n" + String(repeating: "X: a\r\n", count: 1400) + "\r\n", 400),
    ("0\r\nX:" + String(repeating: "x", count: 8189) + "\r\n\r\n", 400),
  ]

  @Test(arguments: invalidBodies)
  func `Rejects ambiguous and long bodies`(input: String, status: Int) {
    let outcome = Self.read(Array(input.utf8))
    #expect(outcome == .rejected(status), "\(input.prefix(80).debugDescription)")
  }

  static let samples = validBodies.map { $0.0 }.filter { $0.utf8.count < 1000 }
  static let pieces = [
    "\r", "\n", "\r\n", "\r\n\r\n", "0", "0\r\n\r\n", "1", "5", "f", "ffffffff", "g", "x", " ",
    "\t",
    ";", ";a=b", ":", "X: a\r\n", "\0", "\u{7F}", "é", "hello", "GET / HTTP/1.1\r\n",
  ]

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `Reads or rejects arbitrary bytes`(seed: UInt64) {
    var source = FuzzSource(seed: seed, samples: Self.samples, pieces: Self.pieces)
    for _ in 0..<250 {
      let input = source.next()
      switch Self.read(input) {
      case .complete(let body, let rest):
        let end = input.dropLast(rest.count)
        #expect(body.count <= Self.limit, "seed \(seed)")
        #expect(end.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] && input.suffix(rest.count) == rest[...])
      case .incomplete: break
      case .rejected(let status): #expect([400, 413].contains(status), "seed \(seed)")
      }
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `Reads what a client sends in any chunks`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<50 {
      let body = (0..<Int.random(in: 0...Self.limit, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      var input: [UInt8] = []
      var sent = 0
      while sent < body.count {
        let count = Int.random(in: 1...(body.count - sent), using: &random)
        let size = String(count, radix: 16, uppercase: Bool.random(using: &random))
        let isExtended = Bool.random(using: &random)
        input += Array((size + (isExtended ? ";a=\"b\"" : "") + "\r\n").utf8)
        input += body[sent..<(sent + count)] + [0x0D, 0x0A]
        sent += count
      }
      input += Array((Bool.random(using: &random) ? "0\r\nX: a\r\n\r\n" : "0\r\n\r\n").utf8)
      let rest = Array("POST /".utf8)
      #expect(Self.read(input + rest) == .complete(body, rest: rest), "seed \(seed)")
    }
  }
}
