import WayValues

/// An error that the other side answered, or the end of the connection.
public struct CallError: Error, Sendable, CustomStringConvertible {
  /// A JSON-RPC or Waybridge code, or the application's own.
  public let code: Int
  /// Text for people.
  public let message: String
  /// What the error says to programs, nil where it says nothing; Waybridge's own are objects with `kind` and `retryable`.
  public let data: Value?

  public var description: String { "error \(code): \(message)" }
}
