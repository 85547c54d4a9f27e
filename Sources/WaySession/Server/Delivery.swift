import WayRouting
import WayValues

/// What became of something that the app's side sent to one of several.
public struct Delivery<Success: Sendable>: Sendable {
  /// The id of the session.
  public let session: String
  /// The name of the client that was asked; nil where it was the session.
  public let client: String?
  /// The answer, or why there is none: the client's own error as it is, or one of the protocol's.
  public let result: Result<Success, CallError>

  /// A delivery, for tests of what reads them.
  public init(session: String, client: String? = nil, result: Result<Success, CallError>) {
    self.session = session
    self.client = client
    self.result = result
  }
}
