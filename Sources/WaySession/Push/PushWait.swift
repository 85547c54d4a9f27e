import WayTransport
import WayValues

/// A push that waits for the result of its call. Confined to the loop of its session.
///
/// It does not wait for a client that has lost its connection: the call then continues without it.
final class PushWait: @unchecked Sendable {
  /// The call that waits for the result.
  let number: CallNumber
  private var onOutcome: ((PushOutcome) -> Void)?
  /// The page that the call has opened.
  var page: String?
  /// Fires when the page has not ended in time.
  var timer: (any ScheduledWork)?

  init(_ number: CallNumber, _ onOutcome: @escaping (PushOutcome) -> Void) {
    self.number = number
    self.onOutcome = onOutcome
  }

  /// Whether there is no outcome yet.
  var isPending: Bool { onOutcome != nil }

  /// Ends the wait. Only the first outcome counts.
  func resolve(_ outcome: PushOutcome) {
    timer?.cancel()
    timer = nil
    let handler = onOutcome
    onOutcome = nil
    handler?(outcome)
  }

  /// Ends the wait with the result of the call.
  func resolve(_ result: Result<SessionCallResponse, CallError>) {
    switch result {
    case .success(let response): resolve(.delivered(response.value))
    case .failure(let error): resolve(.failed(error))
    }
  }
}
