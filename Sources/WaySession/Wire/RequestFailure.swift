import WayRPC
import WayRouting
import WayValues

extension CallError {
  /// The client that was asked is gone. What it was asked may have had its effect by then, unless
  /// that was to show a page, which is gone with it: asking again is not safe.
  static func gone(during method: String) -> CallError {
    CallError(
      .hostAbsent, "The client that this waited for is gone",
      data: method == "page.open" ? [:] : ["retryable": false])
  }
}

extension CallError {
  /// What the opener of a page of Swift code is told that does not open, where this is what a task's
  /// caller would be told of the error: parameters that the code could not read are the caller's
  /// fault as well.
  func ofPage(throwing error: any Error) -> CallError {
    if !(error is CallError), protocolCode == .invalidParameters { return self }
    return RequestFailure.answered(self).ofPage
  }
}

/// Why a request to a client has no result.
enum RequestFailure: Error {
  /// The client answered with an error.
  case answered(CallError)
  /// There is no answer: the client is gone or silent, or could not be asked.
  case unanswered(CallError)

  /// Whether a host leaves the call to the next.
  var isDecline: Bool {
    guard case .answered(let error) = self else { return false }
    return error.protocolCode == .noRoute && error.kind == "declined"
  }

  /// What the caller of a hosted task is told: an application's own code passes through, any other
  /// is 2502.
  var ofTask: CallError {
    if case .answered(let error) = self, ErrorCode.isApplication(error.code) { return error }
    return ofPage
  }

  /// What the app's side is told of a method that it agreed with its clients: their error as it is.
  var ofCall: CallError {
    switch self {
    case .answered(let error), .unanswered(let error): error
    }
  }

  /// What the opener of a page is told: a refusal is 2502, whatever its code.
  var ofPage: CallError {
    switch self {
    case .unanswered(let error): error
    case .answered(let error):
      CallError(
        .hostFailed, "The host answered: \(error.message)",
        data: ["host": ["code": .integer(Int64(error.code)), "message": .string(error.message)]])
    }
  }
}

extension Result where Failure == RequestFailure {
  /// Whether a host leaves the call to the next.
  var isDecline: Bool {
    if case .failure(let failure) = self { failure.isDecline } else { false }
  }
}
