import WayValues

/// The number of a message as it is stored: at most 2^63 − 1, so that numbers after it exist.
struct MessageNumber: Codable {
  let value: UInt64

  /// Clamps larger numbers, which stand for "all messages".
  init(_ value: UInt64) { self.value = min(value, UInt64(Int64.max)) }

  init(from decoder: any Decoder) throws {
    guard let value = UInt64(exactly: try Int64(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "has to be the number of a message")
      )
    }
    self.value = value
  }

  func encode(to encoder: any Encoder) throws {
    try Value.integer(Int64(value)).encode(to: encoder)
  }
}
