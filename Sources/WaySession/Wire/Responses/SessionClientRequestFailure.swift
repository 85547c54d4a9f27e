import WayRPC
import WayRouting
import WayValues

extension CallError {
  /// The error of a request whose client has disconnected. The request may have taken effect by
  /// then, so that a retry is not safe. Only `page.open` is safe, since the page closes with the
  /// client.
  static func clientDisconnected(during method: String) -> CallError {
    CallError(
      .hostAbsent, "The client left before it answered",
      data: method == "page.open" ? [:] : ["retryable": false])
  }
}

extension CallError {
  /// The error that the opener of a page of Swift code gets when the page does not open. `self` is
  /// the error that a task's caller would get. Parameters that the code could not read are the
  /// caller's fault as well.
  func pageError(throwing error: any Error) -> CallError {
    if !(error is CallError), protocolCode == .invalidParameters { return self }
    return SessionClientRequestFailure.errorResponse(self).pageError
  }
}

/// The reason why a request to a client has no result.
enum SessionClientRequestFailure: Error {
  /// The client responded with an error.
  case errorResponse(CallError)
  /// There is no response: the client is disconnected or silent, or could not be sent the request.
  case noResponse(CallError)

  /// The error, if the host is gone, or has lost its state, while it worked on the request.
  var lossOfHost: CallError? {
    guard case .noResponse(let error) = self else { return nil }
    switch error.protocolCode {
    case .outcomeUnknown: return error
    case .hostAbsent: return error.data?["retryable"] == false ? error : nil
    default: return nil
    }
  }

  /// Whether a host declines the call, so that the next host gets it.
  var isDecline: Bool {
    guard case .errorResponse(let error) = self else { return false }
    return error.protocolCode == .noRoute && error.kind == "declined"
  }

  /// The error for the caller of a hosted task. Application codes pass through; any other becomes
  /// 2502.
  var taskError: CallError {
    if case .errorResponse(let error) = self, ErrorCode.isApplication(error.code) { return error }
    return pageError
  }

  /// The error for the app, whose methods are agreed with its clients: the client's error,
  /// unchanged.
  var callError: CallError {
    switch self {
    case .errorResponse(let error), .noResponse(let error): error
    }
  }

  /// The error for the opener of a page: an error of the host becomes 2502, whatever its code.
  var pageError: CallError {
    switch self {
    case .noResponse(let error): error
    case .errorResponse(let error) where error.isUnreadable:
      CallError(
        .hostFailed, "The host's response cannot be read: \(error.message)", kind: "unreadable")
    case .errorResponse(let error):
      CallError(
        .hostFailed, "The host answered: \(error.message)",
        data: ["host": ["code": .integer(Int64(error.code)), "message": .string(error.message)]])
    }
  }
}

extension Result where Failure == SessionClientRequestFailure {
  /// Whether a host declines the call, so that the next host gets it.
  var isDecline: Bool {
    if case .failure(let failure) = self { failure.isDecline } else { false }
  }
}
