import WayRouting
import WayTransport

/// A page opening with all that the session needs to carry it out.
final class QueuedOpening {
  let page: Page
  let presenter: Presenter
  let call: CallNumber
  /// The page that the opener stands on, as `page.open` tells the host.
  let opener: String?
  /// What the page's style comes to on the stack as it is when its turn comes: a push on an empty stack, for one.
  var style: Style
  var state = PageOpening()
  /// Tells the host, while it is asked, that its answer is no longer wanted.
  var cancelAtHost: (() -> Void)?
  /// Runs while the host is asked.
  var timeout: (any ScheduledWork)?

  init(page: Page, presenter: Presenter, call: CallNumber, opener: String?) {
    self.page = page
    style = page.style
    self.presenter = presenter
    self.call = call
    self.opener = opener
  }
}
