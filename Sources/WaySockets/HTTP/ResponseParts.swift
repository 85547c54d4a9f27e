import WayTransport

/// The parts of a response that are still to be sent, and the memory that one of them may use.
struct ResponseParts {
  /// The source of the next part; nil if all were sent.
  private(set) var source: (any HTTPBodySource)?
  /// The number of bytes that are still to be sent.
  private var missing: Int
  private let charge: ByteBudget.Charge?

  /// Returns nil if the response has no parts.
  init?(_ response: OutgoingResponse) {
    guard let source = response.source else { return nil }
    missing = response.sourceLength
    charge = response.sourceCharge
    if missing > 0 { self.source = source }
  }

  /// Counts a part before it is sent. Returns false if the parts do not fit the length of the body.
  mutating func accept(_ part: [UInt8]) -> Bool {
    guard !part.isEmpty, part.count <= missing else { return false }
    missing -= part.count
    if missing == 0 { source = nil }
    return true
  }
}
