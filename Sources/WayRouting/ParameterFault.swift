/// One parameter that is wrong.
public struct ParameterFault: Sendable, Hashable {
  /// Where among the parameters: `$.name`, or `$` for all.
  public let path: String
  /// What is wrong and what is expected.
  public let message: String

  /// A fault at a path.
  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }
}
