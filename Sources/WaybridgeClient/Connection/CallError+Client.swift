import WayValues

extension CallError {
  /// The longest time that a server can request.
  private static let longestRetryAfter: Duration = .seconds(3600)

  /// The time for which the server requests no further attempt (`data.retryAfterMs`), at most one
  /// hour; zero if it requests none.
  var retryAfter: Duration {
    guard let milliseconds = data?["retryAfterMs"]?.integer, milliseconds > 0 else { return .zero }
    return min(Duration.milliseconds(milliseconds), Self.longestRetryAfter)
  }
}

extension CallError {
  /// The error for a response that does not have the protocol's shape.
  static func malformedResponse(_ method: String, _ response: Value) -> CallError {
    CallError(
      .internal, "The server's response to \(method) does not conform to the protocol",
      kind: "malformed", data: ["answer": response])
  }
}
