/// The reason why a text is no pattern, and the position.
public struct RoutePatternError: Error, Hashable, CustomStringConvertible {
  /// The whole pattern.
  public let pattern: String
  /// The position in the pattern, in bytes of UTF-8 from 0.
  public let offset: Int
  /// The fault and the remedy.
  public let reason: String

  package init(_ pattern: String, at offset: Int, _ reason: String) {
    self.pattern = pattern
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "pattern \"\(pattern)\", byte \(offset): \(reason)" }
}
