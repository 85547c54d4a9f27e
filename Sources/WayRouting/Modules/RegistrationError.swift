/// The reason why a module or service could not be registered when the router started.
public struct RegistrationError: Error, Sendable, CustomStringConvertible {
  /// The name of the module or service.
  public let name: String
  /// The error that was thrown.
  public let underlying: any Error

  public var description: String { "\"\(name)\" could not register: \(underlying)" }
}
