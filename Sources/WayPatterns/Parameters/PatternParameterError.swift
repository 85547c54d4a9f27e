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
