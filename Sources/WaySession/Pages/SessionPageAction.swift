import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// An action for the pages of a session; actions are performed in order. Indirect, because it is
/// large and is passed from list to list.
indirect enum SessionPageAction {
  /// Ask the host to show the page.
  case requestOpen(PageOpening)
  /// Notify the host that the response is no longer needed.
  case cancelRequest(PageOpening.PageOpenRequest)
  /// Notify the host that the page is closed. `exts` are those of the operation that closed it.
  case close(Page, HostReference, reason: Outcome.OutcomeKind, exts: ValueObject)
  /// Notify the host that the page is on top again, or has new data, or both.
  case resume(Page, HostReference, NavigationDelivery?)
  /// Ask the owner of a guard whether its page may close.
  case askGuard(LeaveQuestion)
  /// Let the call wait for the page from now on.
  case shown(CallNumber, page: String)
  case settle(CallNumber, Result<SessionCallResponse, CallError>)
  /// Advance the call, because the handler of its page has declined it.
  case continueCall(CallNumber)
  case emit(SessionEvent.EventKinds, SessionEvent, by: Caller)
}
