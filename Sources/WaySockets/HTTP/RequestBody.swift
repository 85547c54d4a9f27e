import WayTransport

/// A request's body, as it comes.
struct RequestBody {
  /// Bytes that are charged at a time.
  private static let step = 64 * 1024

  let taker: HTTPBody
  private let length: Int
  private let budget: ByteBudget
  private var bytes: [UInt8] = []
  private var charged = 0
  private(set) var charges: [ByteBudget.Charge] = []

  /// Checks what the head says of the body; takes nothing yet.
  init(
    _ head: RequestHead, _ framing: BodyFraming, for taker: HTTPBody, budget: ByteBudget
  ) throws(RequestFault) {
    guard case .length(let length) = framing else {
      throw RequestFault(411, "the length of the body must be told by Content-Length")
    }
    guard length <= taker.limit else {
      throw RequestFault(413, "the body holds at most \(taker.limit) bytes")
    }
    let types = head.values("content-type").map { type in
      type.prefix { $0 != ";" }.trimmed().lowercased()
    }
    guard types == [taker.contentType] else {
      throw RequestFault(415, "the body must be of the media type \(taker.contentType)")
    }
    guard head.list("content-encoding").allSatisfy({ $0 == "identity" }) else {
      throw RequestFault(415, "the body must not be compressed")
    }
    guard head.list("expect").allSatisfy({ $0 == "100-continue" }) else {
      throw RequestFault(417, "nothing but 100-continue can be expected")
    }
    self.taker = taker
    self.length = length
    self.budget = budget
  }

  var isWhole: Bool { bytes.count == length }

  /// Moves its part out of what has come. Throws where the server holds as much as it may.
  mutating func take(from input: inout [UInt8]) throws(RequestFault) {
    let count = min(length - bytes.count, input.count)
    while charged < bytes.count + count {
      let step = min(Self.step, length - charged)
      do throws(ByteBudget.Exhausted) {
        charges.append(try budget.charge(step))
      } catch {
        throw RequestFault(
          503, "the server reads as many bodies as it takes; try again later", .full)
      }
      charged += step
    }
    bytes += input[..<count]
    input.removeFirst(count)
  }

  /// Hands the whole body over.
  func finish(
    _ answer: @escaping @Sendable (HTTPResponse) -> Void
  ) -> any ScheduledWork {
    taker.take(bytes, answer)
  }
}
