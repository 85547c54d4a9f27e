import WayValues

extension CallError {
  /// The server's answer to a method has not the protocol's shape.
  static func malformed(_ method: String, _ answer: Value) -> CallError {
    CallError(
      .internal, "The server's answer to \(method) has not the shape that the protocol gives it",
      kind: "malformed", data: ["answer": answer])
  }
}
