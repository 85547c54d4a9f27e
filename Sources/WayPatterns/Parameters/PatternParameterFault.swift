import WayValues

/// A fault of one parameter.
public struct PatternParameterFault: Sendable, Hashable {
  /// The path in the parameters: `$.name`, or `$` for all; a JSON path (RFC 9535).
  public let path: String
  /// The fault and the expected value.
  public let message: String
  /// The name of the parameter; empty for all.
  package let name: String

  /// Creates a fault at a path.
  public init(path: String, message: String) {
    self.path = path
    self.message = message
    name = ""
  }

  /// Creates a fault of a parameter.
  package init(of name: String, _ message: String) {
    // The sender of a name may choose any length.
    path = name.utf8.count > 256 ? "$" : JSONPath.root.member(name).description
    self.message = name.utf8.count > 256 ? "\"\(name.brief)\" \(message)" : message
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

extension PatternParameterFault: Encodable {
  private enum CodingKeys: CodingKey {
    case path, message
  }
}

/// The reason why parameters cannot be read from a URI, or written into one.
public enum PatternParameterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Parameters that cannot be read or written; never empty.
  case parameters([PatternParameterFault])
  /// The result is no URI, or exceeds the maximum length.
  case uri(RouteURIError)

  /// Returns an error with one parameter fault; `name` is `nil` for all parameters.
  package static func fault(_ name: String?, _ message: String) -> PatternParameterError {
    .parameters([
      name.map { PatternParameterFault(of: $0, message) }
        ?? PatternParameterFault(path: "$", message: message)
    ])
  }

  public var description: String {
    switch self {
    case .parameters(let faults):
      faults.map { "\($0.path): \($0.message)" }.joined(separator: "; ")
    case .uri(let error): "not a URI: \(error)"
    }
  }
}
