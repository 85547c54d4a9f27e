import WayValues

/// A call that expects a response.
package struct Request: Sendable, Hashable {
  package var id: RequestID
  package var method: String
  /// An array or an object; `nil` if the member is missing.
  package var params: Value?

  package init(id: RequestID, method: String, params: Value? = nil) {
    self.id = id
    self.method = method
    self.params = params
  }
}

/// A call that has no response, whether it succeeds or not.
package struct Notification: Sendable, Hashable {
  package var method: String
  /// An array or an object; `nil` if the member is missing.
  package var params: Value?

  package init(method: String, params: Value? = nil) {
    self.method = method
    self.params = params
  }
}

/// One JSON-RPC 2.0 message.
package enum Message: Sendable, Hashable {
  case request(Request)
  case notification(Notification)
  case response(Response)
  /// An invalid message. The response is the error with this id, which is null if none could be
  /// read.
  case invalid(RequestID, CallError)

  /// Whether the message has exactly one response.
  package var expectsResponse: Bool {
    switch self {
    case .request, .invalid: true
    case .notification, .response: false
    }
  }
}

/// The content of one text frame.
package enum FrameContent: Sendable, Hashable {
  case message(Message)
  /// At least one message. The responses form one batch, in the order of the requests.
  case batch([Message])
  /// Malformed content. The response is this one error, with the id null.
  case malformed(CallError)
}
