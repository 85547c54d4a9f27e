import WayTransport

/// The body of a request that a receiver gets in parts.
struct StreamedBody {
  /// The maximum number of bytes of a part, which is charged as long as the body is received.
  static let partSize = 64 * 1024

  let receiver: any HTTPBodyReceiver
  /// The number of bytes that are missing, if the head contains the length.
  private var missing: Int
  /// `nil` if the head contains the length.
  private var chunks: ChunkedBodyReader?
  private let charge: ByteBudget.Charge

  /// Checks the header fields of the body. Consumes no input yet.
  init(
    _ head: RequestHead, _ framing: BodyFraming, for stream: HTTPBodyStream, budget: ByteBudget
  ) throws(HTTPRequestRejection) {
    switch framing {
    case .none: missing = 0
    case .length(let length):
      guard length <= stream.limit else {
        throw HTTPRequestRejection(413, "the body is longer than \(stream.limit) bytes")
      }
      missing = length
    case .chunked:
      missing = 0
      chunks = ChunkedBodyReader(limit: stream.limit)
    }
    try RequestBody.checkCoding(head)
    do throws(ByteBudget.Exhausted) { charge = try budget.charge(Self.partSize) } catch {
      throw .fullOfBodies
    }
    receiver = stream.receiver
  }

  /// Whether all of the body was read.
  var isComplete: Bool { chunks?.isComplete ?? (missing == 0) }

  /// Removes the body's part of `input` and returns it. Throws if a chunked body is malformed or too
  /// long.
  mutating func nextPart(of input: inout [UInt8]) throws(HTTPRequestRejection) -> [UInt8] {
    guard chunks != nil else {
      guard input.count > missing else {
        missing -= input.count
        let part = input
        input = []
        return part
      }
      let part = Array(input[..<missing])
      input.removeFirst(missing)
      missing = 0
      return part
    }
    var end = 0
    var part: [UInt8] = []
    while let range = try chunks?.nextPart(of: input, at: &end) { part += input[range] }
    input.removeFirst(end)
    return part
  }
}
