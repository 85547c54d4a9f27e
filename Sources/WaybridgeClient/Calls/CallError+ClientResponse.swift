import WayValues

extension CallError {
  /// The error for a response that does not have the protocol's shape.
  static func malformedResponse(_ method: String, _ response: Value) -> CallError {
    CallError(
      .internal, "The server's response to \(method) does not conform to the protocol",
      kind: "malformed", data: ["answer": response])
  }
}
