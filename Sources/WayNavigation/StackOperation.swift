/// One change of a session's stack.
package enum StackOperation: Sendable {
  /// Opens the page in its `style`. `exts.pop` (a count of pages, `"root"`, or the page to pop to;
  /// with `push` only) first closes pages; `exts.navigation: false` makes a modal without a stack of
  /// its own. `popTo` is the page that `exts.pop` names. A page with the style `popTo` that is open, in
  /// any tab, gets `delivering`; if it is not, and is the first page of the table's tab `tab`, it begins
  /// that tab if the tab has no pages.
  case open(
    Page, delivering: NavigationDelivery? = nil, popTo: PageReference? = nil, tab: Int? = nil)
  /// Selects a tab: modal stacks are dismissed, and the tab that was shown keeps its pages in the
  /// background. A tab without pages begins with `first`, and is rejected without it. Pages that
  /// are in no tab are replaced by the first tab that is selected. The first page of a tab that has
  /// pages gets `delivering`; if `first` is another page, only its `exts`.
  case select(tab: Int, first: Page?, delivering: NavigationDelivery? = nil)
  /// Goes back, also to a page of a tab in the background, which is selected. The result is that of the
  /// lowest page of the tab that closes; the others are dismissed.
  case back(BackTarget<PageReference>, result: Outcome? = nil)
  /// Closes the page with the result; those above it are dismissed. The root page may finish too.
  case finish(page: String, result: Outcome)
  /// Closes the page because its opener cancelled; those above it are dismissed.
  case cancel(page: String, outcome: Outcome)
  /// Removes every page of a host that has disconnected, in any tab; pages of others stay.
  case remove(host: String, only: Set<String>? = nil, outcome: Outcome)
  /// Removes a range of pages, and puts others in its place, or on top without a range.
  case edit(PageRange<PageReference>?, opening: [Page])
  /// Closes every page, because the session ended.
  case end(outcome: Outcome)

  /// The page that the operation opens alone, if it opens one.
  package var openedPage: Page? {
    switch self {
    case .open(let page, _, _, _): page
    case .select(_, let first, _): first
    case .back, .finish, .cancel, .remove, .edit, .end: nil
    }
  }

  /// What the operation delivers to a page that is already open, if it finds one.
  package var delivery: NavigationDelivery? {
    switch self {
    case .open(_, let delivery, _, _), .select(_, _, let delivery): delivery
    case .back, .finish, .cancel, .remove, .edit, .end: nil
    }
  }
}
