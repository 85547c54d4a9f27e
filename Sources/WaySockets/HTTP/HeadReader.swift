/// Takes the heads of requests off what a client sends.
struct HeadReader {
  enum Next {
    case head(RequestHead)
    /// The head is not whole yet.
    case incomplete
    /// What comes is no HTTP.
    case garbage
  }

  /// Bytes of one head, and of the empty lines before it.
  private let limit: Int
  private var searched = 0
  private var skipped = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// Takes the next head, where it is whole. Throws where it is none that is served.
  mutating func next(from input: inout [UInt8]) throws(RequestFault) -> Next {
    skipEmptyLines(of: &input)
    guard skipped <= limit, input == [0x0D] || RequestHead.mayBegin(with: input) else {
      return .garbage
    }
    guard let end = RequestHead.end(in: input, from: searched - 3) else {
      searched = input.count
      try check(input.count)
      return .incomplete
    }
    searched = 0
    skipped = 0
    let head = input[..<end]
    input.removeSubrange(..<end)
    try check(head.count)
    return .head(try RequestHead(parsing: head))
  }

  private func check(_ size: Int) throws(RequestFault) {
    if size > limit {
      throw RequestFault(431, "the head of a request holds at most \(limit) bytes")
    }
  }

  /// Empty lines before a request are allowed (RFC 9112 §2.2).
  private mutating func skipEmptyLines(of input: inout [UInt8]) {
    var end = 0
    while end + 1 < input.count, input[end] == 0x0D, input[end + 1] == 0x0A { end += 2 }
    guard end > 0 else { return }
    input.removeFirst(end)
    skipped += end
  }
}
