import WayValues

/// The response to a request of this side.
package struct Response: Sendable, Hashable {
  package var id: RequestID
  /// The result. A response that violates the protocol is a failure with ``ErrorCode/internal``, so
  /// that its call completes.
  package var result: Result<Value, CallError>

  package init(id: RequestID, result: Result<Value, CallError>) {
    self.id = id
    self.result = result
  }

  /// Reads a response; `nil` if its id is missing, ambiguous or none. It has the given failure, if
  /// any, so that its call completes although the result is not read.
  init?(_ cursor: JSONTapeCursor, _ envelope: Envelope, failure: CallError?) {
    guard envelope.id != 0, !envelope.hasDuplicateID, let id = envelope.requestID(cursor) else {
      return nil
    }
    self.id = id.comparedByValue
    if let failure {
      result = .failure(failure)
    } else if let name = envelope.duplicateName {
      result = .failure(.brokenResponse("`\(name)` occurs more than once in it"))
    } else if !envelope.isVersion2(cursor) {
      result = .failure(.brokenResponse("its `jsonrpc` is not the string \"2.0\""))
    } else if envelope.result == 0 {
      result = .failure(CallError(member: cursor.value(at: envelope.error)))
    } else if envelope.error == 0 {
      result = .success(cursor.value(at: envelope.result))
    } else {
      result = .failure(.brokenResponse("it has both `result` and `error`"))
    }
  }

  /// Whether the message was not JSON, and only its id was recovered.
  package var isUnreadable: Bool {
    if case .failure(let error) = result { error.isUnreadable } else { false }
  }
}

extension CallError {
  /// Whether it is the error of a message that is not JSON.
  package var isUnreadable: Bool { protocolCode == .parseError }

  fileprivate static func brokenResponse(_ problem: String) -> CallError {
    CallError(.internal, "the peer's response breaks JSON-RPC: \(problem)", kind: "brokenResponse")
  }

  /// Reads the `error` member of a response.
  fileprivate init(member: Value) {
    guard let code = member["code"]?.exactInteger.flatMap(Int.init(exactly:)) else {
      self = .brokenResponse("its `error` has no integer `code`")
      return
    }
    guard let message = member["message"]?.string else {
      self = .brokenResponse("its `error` has no string `message`")
      return
    }
    self.init(code: code, message: message, data: member["data"])
  }
}
