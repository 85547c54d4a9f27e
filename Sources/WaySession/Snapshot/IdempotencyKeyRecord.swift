import WayNavigation
import WayRPC
import WayValues

/// The stored form of an idempotency key: of a call that waits for the page that it has opened, of a
/// call that a host works on, or of a result.
struct IdempotencyKeyRecord: Codable {
  /// A request to a host. `seq` is the number of its message.
  struct HostRequestRecord: Codable {
    let client: ClientID
    let id: RequestID
    let method: String
    let seq: MessageNumber
  }

  private enum CodingKeys: String, CodingKey {
    case request, page
    case hostRequest = "asked"
    case ageMs
    case lastUse = "used"
    case result
  }

  let request: IdempotentRequest
  private(set) var page: String?
  private(set) var hostRequest: HostRequestRecord?
  /// The time since the call has ended. It does not depend on the clock of a server, which may be off
  /// by more than the lifetime of a result.
  private(set) var ageMs: UInt64?
  /// The number of the last use, among the uses of all results.
  private(set) var lastUse: Int?
  private(set) var result: CallResultRecord?

  /// Records the state of a key at a time, in nanoseconds of the loop's clock; `nil` if there is
  /// nothing to store. `sequenceNumber` returns the number of a request to a host, or `nil`.
  ///
  /// A call under way is stored if it waits for a shown page, or for a host whose request has a
  /// number: others are made again.
  init?(
    _ keys: SessionIdempotencyKeys, _ key: ScopedKey, at now: UInt64,
    sequenceNumber: (SessionIdempotencyKeys.HostRequest) -> UInt64?
  ) {
    if let execution = keys.execution(of: key) {
      request = execution.request
      page = execution.page
      guard page == nil else { return }
      guard let asked = execution.hostRequest, let seq = sequenceNumber(asked) else { return nil }
      hostRequest = HostRequestRecord(
        client: asked.client, id: asked.id, method: asked.method, seq: MessageNumber(seq))
    } else if let ended = keys.result(of: key) {
      request = ended.request
      ageMs = (now &- ended.endedAt) / 1_000_000
      lastUse = ended.lastUse
      result = CallResultRecord(ended.result)
    } else {
      return nil
    }
  }
}

/// The stored form of the result of a call: `{value}`, `{outcome}` or `{error}`.
struct CallResultRecord: Codable {
  private enum CodingKeys: CodingKey {
    case value, outcome, error
  }

  private struct ErrorRecord: Codable {
    let code: Int
    let message: String
    let data: Value?
  }

  let result: Result<SessionCallResponse, CallError>

  init(_ result: Result<SessionCallResponse, CallError>) { self.result = result }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    if members.contains(.outcome) {
      guard let outcome = Outcome(try members.decode(Value.self, forKey: .outcome)) else {
        throw DecodingError.dataCorruptedError(
          forKey: .outcome, in: members, debugDescription: "is not an outcome")
      }
      result = .success(.outcome(outcome))
    } else if members.contains(.value) {
      // The value may be null.
      result = .success(.value(try members.decode(Value.self, forKey: .value)))
    } else {
      let error = try members.decode(ErrorRecord.self, forKey: .error)
      result = .failure(CallError(code: error.code, message: error.message, data: error.data))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch result {
    case .success(.outcome(let outcome)): try members.encode(outcome.value, forKey: .outcome)
    case .success(let response): try members.encode(response.value, forKey: .value)
    case .failure(let error):
      try members.encode(
        ErrorRecord(code: error.code, message: error.message, data: error.data), forKey: .error)
    }
  }
}
