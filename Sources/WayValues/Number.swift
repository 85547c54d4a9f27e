/// A number with the digits it was written with, so that nothing is lost on the way through:
/// `1.0`, `1e2`, `-0` and integers beyond 64 bits stay what they were.
public struct Number: Sendable, Hashable {
  /// The number as RFC 8259 §6 writes it.
  public let digits: String

  /// Takes digits that are already known to be a JSON number.
  package init(validated digits: String) {
    self.digits = digits
  }

  /// The shortest digits that read back as this value; nil for NaN and the infinities.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    digits = value.description
  }

  /// The nearest double; infinite where the number is beyond a double's range.
  public var double: Double { Double(digits) ?? .infinity }
}
