import WayNavigation
import WayValues

extension Result<SessionCallResponse, CallError> {
  /// The stored form: `{value}`, `{outcome}` or `{error}`.
  var record: Value {
    switch self {
    case .success(.outcome(let outcome)): ["outcome": outcome.value]
    case .success(let response): ["value": response.value]
    case .failure(let error):
      [
        "error": .object(
          ValueObject([
            ("code", .integer(Int64(error.code))), ("message", .string(error.message)),
            ("data", error.data ?? .null),
          ]))
      ]
    }
  }

  /// Decodes a ``record``.
  init(stored record: StoredRecord) throws(StoredRecord.RecordDecodingError) {
    if let value = record["outcome"] {
      guard let outcome = Outcome(value) else { throw record.typeMismatch("outcome", "outcome") }
      self = .success(.outcome(outcome))
    } else if let value = record["value"] {
      self = .success(.value(value))
    } else {
      let error = try record.record("error")
      let data = error["data"].flatMap { $0.isNull ? nil : $0 }
      self = .failure(
        CallError(
          code: Int(clamping: try error.integer("code")), message: try error.string("message"),
          data: data))
    }
  }
}
