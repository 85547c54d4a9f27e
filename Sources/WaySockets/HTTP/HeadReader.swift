import WayTransport

/// Extracts the heads of requests from a client's input.
struct HeadReader {
  enum HeadReadResult {
    case head(RequestHead)
    /// The head is incomplete.
    case incomplete
    /// The input is not HTTP.
    case notHTTP
  }

  /// Number of bytes of a head for which every connection has room. Only more is charged to the
  /// budget.
  static let includedSize = 8 * 1024
  /// Number of bytes charged at a time.
  private static let chargeSize = 8 * 1024

  /// Maximum number of bytes of one head, and of the empty lines before it.
  private let limit: Int
  /// The memory budget of the long heads of all connections.
  private let budget: ByteBudget
  private var charges: [ByteBudget.Charge] = []
  private var searched = 0
  private var skipped = 0

  init(limit: Int, budget: ByteBudget) {
    self.limit = limit
    self.budget = budget
  }

  /// Removes and returns the next complete head. Throws if the head is not acceptable; nothing
  /// further can be read then.
  mutating func next(from input: inout [UInt8]) throws(HTTPRequestRejection) -> HeadReadResult {
    skipEmptyLines(of: &input)
    guard skipped <= limit, input == [0x0D] || RequestHead.mayBegin(with: input) else {
      return .notHTTP
    }
    guard let end = RequestHead.end(in: input, from: searched - 3) else {
      searched = input.count
      try check(input.count)
      try charge(input.count)
      return .incomplete
    }
    searched = 0
    skipped = 0
    charges = []
    let head = input[..<end]
    // A new array, so that a connection does not keep the memory of a long head.
    input = Array(input[end...])
    try check(head.count)
    return .head(try RequestHead(parsing: head))
  }

  private func check(_ size: Int) throws(HTTPRequestRejection) {
    if size > limit {
      throw HTTPRequestRejection(
        431, "the request head, with its cookies, is longer than \(limit) bytes",
        hint: "allow longer heads with the setting limits.maxHead (WAYBRIDGE_LIMITS_MAX_HEAD)")
    }
  }

  /// Charges an incomplete head of this size.
  private mutating func charge(_ size: Int) throws(HTTPRequestRejection) {
    while Self.includedSize + charges.count * Self.chargeSize < size {
      do throws(ByteBudget.Exhausted) {
        charges.append(try budget.charge(Self.chargeSize))
      } catch {
        throw HTTPRequestRejection(
          503,
          "the server is already reading as many long request heads as it can; "
            + "try again later", .full)
      }
    }
  }

  /// Skips empty lines before a request, which are allowed (RFC 9112 §2.2).
  private mutating func skipEmptyLines(of input: inout [UInt8]) {
    var end = 0
    while end + 1 < input.count, input[end] == 0x0D, input[end + 1] == 0x0A { end += 2 }
    guard end > 0 else { return }
    input.removeFirst(end)
    skipped += end
  }
}
