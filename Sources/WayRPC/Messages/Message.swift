import WayValues

/// A call that wants an answer.
package struct Request: Sendable, Hashable {
  package var id: RequestID
  package var method: String
  /// A list or an object; nil where the member is missing.
  package var params: Value?

  package init(id: RequestID, method: String, params: Value? = nil) {
    self.id = id
    self.method = method
    self.params = params
  }
}

/// A call that gets no answer, whatever becomes of it.
package struct Notification: Sendable, Hashable {
  package var method: String
  /// A list or an object; nil where the member is missing.
  package var params: Value?

  package init(method: String, params: Value? = nil) {
    self.method = method
    self.params = params
  }
}

/// The answer to a request of this side.
package struct Response: Sendable, Hashable {
  package var id: RequestID
  /// A response that breaks the rules is a failure with ``ErrorCode/internal``, so that the call it
  /// names settles.
  package var result: Result<Value, CallError>

  package init(id: RequestID, result: Result<Value, CallError>) {
    self.id = id
    self.result = result
  }
}

/// One JSON-RPC 2.0 message.
package enum Message: Sendable, Hashable {
  case request(Request)
  case notification(Notification)
  case response(Response)
  /// No message: to be answered with the error under this id, which is null where none could be
  /// read.
  case invalid(RequestID, CallError)

  /// Whether exactly one answer has to be given.
  package var wantsAnswer: Bool {
    switch self {
    case .request, .invalid: true
    case .notification, .response: false
    }
  }
}

/// What one text frame holds.
package enum FrameContent: Sendable, Hashable {
  case message(Message)
  /// At least one message. The answers go into one batch, in the order of the requests.
  case batch([Message])
  /// To be answered with this one error, under the id null.
  case malformed(CallError)
}
