import WayRPC
import WayRouting
import WayTransport

/// A page opening with all that the session needs to carry it out.
final class QueuedOpening {
  let page: Page
  let presenter: Presenter
  let call: CallNumber
  /// The tab that the page is to be the first of.
  let tab: Int?
  /// The door by which a call came that is answered with what the opening does to the stack; nil for one that is
  /// answered with the page's outcome.
  let answersChange: Entry?
  /// The page that the opener stands on, as `page.open` tells the host.
  let opener: String?
  let charge: ByteBudget.Charge
  /// What the page's style comes to on the stack as it is when its turn comes: a push on an empty stack, for one.
  var style: Style
  var state = PageOpening()
  /// When its host was asked, by the loop's clock.
  var asked: UInt64 = 0
  /// Tells the host, while it is asked, that its answer is no longer wanted.
  var cancelAtHost: (() -> Void)?
  /// Leads the call on when a handler in Swift declines.
  var declined: ((CallInFlight) throws(RPCError) -> Reply)?
  var hasDeclined = false
  /// Runs while the host is asked.
  var timeout: (any ScheduledWork)?

  init(
    page: Page, presenter: Presenter, call: CallNumber, opener: String?,
    charge: ByteBudget.Charge, tab: Int? = nil, answersChange: Entry? = nil
  ) {
    self.page = page
    self.tab = tab
    self.answersChange = answersChange
    style = page.style
    self.presenter = presenter
    self.call = call
    self.opener = opener
    self.charge = charge
  }

  /// What the opening does to the stack.
  var operation: StackOperation {
    if let tab { .select(tab: tab, first: page) } else { .open(page) }
  }
}
