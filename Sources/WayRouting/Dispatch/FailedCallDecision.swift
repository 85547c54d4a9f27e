import WayValues

/// What a failure handler makes of a call that fails.
public enum FailedCallDecision: Sendable {
  /// Nothing: the caller gets the error.
  case fail
  /// The call's value; of an opened page, the data of its outcome.
  case answer(Value)
  /// The call goes on with another URI and parameters.
  case redirect(uri: String, params: ValueObject)
}

/// Called with a call that fails, where it has come to, and its error.
public typealias FailedCallHandler = @Sendable (Call, CallError) async throws -> FailedCallDecision
