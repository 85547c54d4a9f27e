import WayNavigation
import WayRPC
import WayRouting
import WayValues

/// What is to be done for the pages of a session, in this order. Indirect, since it is large and is
/// handed on from list to list.
indirect enum PageAction {
  /// Ask who shows the page to show it.
  case ask(PageOpening)
  /// Tell who was asked for a page that the answer is not wanted any more.
  case recall(PageOpening.Asked)
  /// Tell who shows the page that it is gone; the `exts` are those of what closed it.
  case close(Page, HostReference, reason: Outcome.Kind, exts: ValueObject)
  /// Tell who shows the page that it is on top again.
  case resume(Page, HostReference)
  /// The call waits for the page from now on.
  case shown(CallNumber, page: String)
  case settle(CallNumber, Result<Answer, CallError>)
  /// The handler of the page has left the call to the next.
  case goOn(CallNumber)
  case tell(Happening.Kinds, Happening, by: Caller)
}
