import WayTransport

/// The body of a request while it is received.
struct RequestBody {
  /// Number of bytes charged at a time.
  private static let chargeSize = 64 * 1024

  let handler: HTTPBodyHandler
  /// The length of the body or, if it is chunked, its maximum length.
  private let length: Int
  /// `nil` if the head contains the length.
  private var chunks: ChunkedBodyReader?
  private let budget: ByteBudget
  private var bytes: [UInt8] = []
  private var charged = 0
  private(set) var charges: [ByteBudget.Charge] = []

  /// Checks the header fields of the body. Consumes no input yet.
  init(
    _ head: RequestHead, _ framing: BodyFraming, for handler: HTTPBodyHandler, budget: ByteBudget
  ) throws(HTTPRequestRejection) {
    switch framing {
    case .none:
      throw HTTPRequestRejection(
        411, "the request needs a Content-Length header, or Transfer-Encoding: chunked")
    case .length(let length):
      guard length <= handler.limit else {
        throw HTTPRequestRejection(413, "the body is longer than \(handler.limit) bytes")
      }
      self.length = length
    case .chunked:
      length = handler.limit
      chunks = ChunkedBodyReader(limit: handler.limit)
    }
    let types = head.values("content-type").map { type in
      type.prefix { $0 != ";" }.trimmed().asciiLowercased()
    }
    guard types == [handler.contentType] else {
      throw HTTPRequestRejection(415, "the body must have the media type \(handler.contentType)")
    }
    try Self.checkCoding(head)
    self.handler = handler
    self.budget = budget
  }

  /// Throws if the body is compressed, or the client expects something else than 100 Continue.
  static func checkCoding(_ head: RequestHead) throws(HTTPRequestRejection) {
    guard head.list("content-encoding").allSatisfy({ $0 == "identity" }) else {
      throw HTTPRequestRejection(415, "the body must not be compressed")
    }
    guard head.list("expect").allSatisfy({ $0 == "100-continue" }) else {
      throw HTTPRequestRejection(417, "the Expect header may only contain 100-continue")
    }
  }

  var isComplete: Bool { chunks?.isComplete ?? (bytes.count == length) }

  /// Moves the body's part of `input` to the body. Throws if a chunked body is malformed or too
  /// long, and if the server's budget is exhausted.
  mutating func append(from input: inout [UInt8]) throws(HTTPRequestRejection) {
    var end = 0
    if chunks == nil {
      end = min(length - bytes.count, input.count)
      try append(input[..<end])
    } else {
      while let part = try chunks?.nextPart(of: input, at: &end) { try append(input[part]) }
    }
    input.removeFirst(end)
  }

  private mutating func append(_ part: ArraySlice<UInt8>) throws(HTTPRequestRejection) {
    while charged < bytes.count + part.count {
      let step = min(Self.chargeSize, length - charged)
      do throws(ByteBudget.Exhausted) {
        charges.append(try budget.charge(step))
      } catch {
        throw HTTPRequestRejection.fullOfBodies
      }
      charged += step
    }
    bytes += part
  }

  /// Passes the complete body to the handler.
  func deliver(
    _ respond: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    handler.handle(bytes, respond)
  }
}
