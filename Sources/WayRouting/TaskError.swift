import WayValues

/// An error of the application's own, which reaches the caller as it is.
public struct TaskError: Error, Sendable, Hashable, CustomStringConvertible {
  /// 1…1999 or from 3000; the codes between are the protocol's, and an error with one of those is reported as
  /// an internal error.
  public let code: Int
  /// Text for people.
  public let message: String
  /// Anything for the caller's program.
  public let data: Value?

  /// An error to throw from a task.
  public init(code: Int, message: String, data: Value? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }

  /// Whether the code is one that an application may use.
  public var isApplicationCode: Bool { (1...1999).contains(code) || code >= 3000 }

  public var description: String { "\(message) (code \(code))" }
}
