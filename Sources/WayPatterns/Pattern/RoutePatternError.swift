/// Why a text is no pattern, and where.
public struct RoutePatternError: Error, Hashable, CustomStringConvertible {
  /// The whole pattern.
  public let pattern: String
  /// Where in the pattern, in bytes of UTF-8 from 0.
  public let offset: Int
  /// What is wrong and what to write.
  public let reason: String

  package init(_ pattern: String, at offset: Int, _ reason: String) {
    self.pattern = pattern
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "pattern '\(pattern)', byte \(offset): \(reason)" }
}
