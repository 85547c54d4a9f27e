/// Why parameters cannot be read from a URI, or written into one.
public enum PatternParameterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Parameters that cannot be read or written; never empty.
  case parameters([PatternParameterFault])
  /// What was written is no URI, or a longer one than may be.
  case uri(RouteURIError)

  /// One fault of a parameter; `name` nil is for all parameters.
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
