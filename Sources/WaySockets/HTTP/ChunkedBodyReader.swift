/// Reads the body of a request with the transfer coding chunked (RFC 9112 §7.1).
///
/// It is strict: it rejects everything that other programs could read differently, so that a part
/// of a body never becomes a request. Chunk extensions and trailer fields are checked and dropped.
struct ChunkedBodyReader {
  private enum ChunkPhase {
    /// The line with the size of the next chunk.
    case sizeLine
    /// The data of a chunk, of which this many bytes are missing.
    case data(Int)
    /// The line end after the data of a chunk.
    case dataEnd
    /// A trailer field, or the empty line that ends the body.
    case trailerLine
    case complete
  }

  /// Maximum number of digits of a chunk's size.
  private static let maximumDigits = 8
  /// Maximum number of bytes of all chunk extensions and trailer fields of a body.
  static let maximumExtras = 8 * 1024

  /// Maximum number of bytes of the body.
  private let limit: Int
  private var phase = ChunkPhase.sizeLine
  /// The received part of an incomplete line.
  private var partialLine: [UInt8] = []
  /// Number of bytes of all chunks so far.
  private var size = 0
  /// Number of bytes that further extensions and trailer fields may have.
  private var remainingExtras = maximumExtras

  init(limit: Int) {
    self.limit = limit
  }

  var isComplete: Bool { if case .complete = phase { true } else { false } }

  /// Returns the range of the next part of the body in `input`, and moves `index` behind everything
  /// that was read. Returns `nil` if more input is needed, or if the body is complete.
  mutating func nextPart(
    of input: [UInt8], at index: inout Int
  ) throws(HTTPRequestRejection) -> Range<Int>? {
    while true {
      switch phase {
      case .data(let missing):
        guard index < input.count else { return nil }
        let start = index
        index += min(missing, input.count - start)
        phase = index - start == missing ? .dataEnd : .data(missing - (index - start))
        return start..<index
      case .sizeLine, .dataEnd, .trailerLine:
        guard let line = try nextLine(of: input, at: &index) else { return nil }
        try process(line)
      case .complete:
        return nil
      }
    }
  }

  /// Returns the next line without its CR LF, or `nil` if it is incomplete.
  private mutating func nextLine(
    of input: [UInt8], at index: inout Int
  ) throws(HTTPRequestRejection) -> [UInt8]? {
    let end = input[index...].firstIndex(of: 0x0A)
    partialLine += input[index..<(end ?? input.count)]
    // One more for the CR.
    guard partialLine.count <= maximumLine + 1 else {
      throw Self.malformed(
        "a line is longer than expected; extensions and trailer fields may have "
          + "\(Self.maximumExtras) bytes")
    }
    index = end.map { $0 + 1 } ?? input.count
    guard end != nil else { return nil }
    var line: [UInt8] = []
    swap(&line, &partialLine)
    guard line.popLast() == 0x0D, !line.contains(0x0D) else {
      throw Self.malformed("a line does not end in CR LF")
    }
    return line
  }

  /// Maximum number of bytes of the current line, without CR LF.
  private var maximumLine: Int {
    switch phase {
    case .sizeLine: Self.maximumDigits + remainingExtras
    case .trailerLine: remainingExtras
    case .data, .dataEnd, .complete: 0
    }
  }

  private mutating func process(_ line: [UInt8]) throws(HTTPRequestRejection) {
    switch phase {
    case .sizeLine:
      let chunkSize = try readSize(line)
      guard chunkSize <= limit - size else {
        throw HTTPRequestRejection(413, "the body is longer than \(limit) bytes")
      }
      size += chunkSize
      phase = chunkSize == 0 ? .trailerLine : .data(chunkSize)
    case .dataEnd:
      guard line.isEmpty else { throw Self.malformed("a chunk is longer than its size") }
      phase = .sizeLine
    case .trailerLine:
      guard !line.isEmpty else {
        phase = .complete
        return
      }
      try countExtras(line.count + 2)
      _ = try RequestHead.field(line[...])
    case .data, .complete: break
    }
  }

  /// Returns the size in a chunk's first line. Spaces and tabs may precede the extensions, which
  /// begin with a semicolon.
  private mutating func readSize(_ line: [UInt8]) throws(HTTPRequestRejection) -> Int {
    let digits = line.prefix(while: Self.isHexadecimalDigit)
    guard digits.count <= Self.maximumDigits,
      let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
    else {
      throw Self.malformed(
        "the size of a chunk does not have 1 to \(Self.maximumDigits) hexadecimal digits")
    }
    let extensions = line[digits.endIndex...]
    guard !extensions.isEmpty else { return size }
    guard extensions.first(where: { $0 != 0x20 && $0 != 0x09 }) == 0x3B,
      extensions.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) })
    else { throw Self.malformed("a chunk extension is malformed") }
    try countExtras(extensions.count)
    return size
  }

  private mutating func countExtras(_ bytes: Int) throws(HTTPRequestRejection) {
    remainingExtras -= bytes
    guard remainingExtras >= 0 else {
      throw Self.malformed(
        "extensions and trailer fields have more than \(Self.maximumExtras) bytes")
    }
  }

  private static func isHexadecimalDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }

  private static func malformed(_ reason: String) -> HTTPRequestRejection {
    HTTPRequestRejection(400, "the chunked body is malformed: \(reason)")
  }
}
