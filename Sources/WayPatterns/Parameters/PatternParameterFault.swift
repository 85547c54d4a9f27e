import WayValues

/// One parameter that is wrong.
public struct PatternParameterFault: Sendable, Hashable {
  /// Where among the parameters: `$.name`, or `$` for all; a JSON path (RFC 9535).
  public let path: String
  /// What is wrong and what is expected.
  public let message: String
  /// The parameter; empty for all.
  package let name: String

  /// A fault at a path.
  public init(path: String, message: String) {
    self.path = path
    self.message = message
    name = ""
  }

  /// A fault of a parameter.
  package init(of name: String, _ message: String) {
    // A name may be as long as its sender likes.
    path = name.utf8.count > 256 ? "$" : JSONPath.root.member(name).description
    self.message = name.utf8.count > 256 ? "'\(name.brief)' \(message)" : message
    self.name = name
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.path == right.path && left.message == right.message
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(message)
  }
}
