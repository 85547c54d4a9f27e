import WayRouting
import WayValues

/// The result of an operation of the app for one of several sessions or clients.
public struct Delivery<Success: Sendable>: Sendable {
  /// The id of the session.
  public let session: String
  /// The name of the client that received the request; nil if it was the session.
  public let client: String?
  /// The response, or why there is none: the client's own error unchanged, or one of the
  /// protocol's.
  public let result: Result<Success, CallError>

  /// Creates a delivery, for tests of code that reads deliveries.
  public init(session: String, client: String? = nil, result: Result<Success, CallError>) {
    self.session = session
    self.client = client
    self.result = result
  }
}
