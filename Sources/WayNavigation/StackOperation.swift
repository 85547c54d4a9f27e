/// One change of a session's stack.
package enum StackOperation: Sendable {
  /// Opens the page in its `style`. `exts.pop` (a count of pages, or `"all"`; with `push` only)
  /// first takes pages away; `exts.navigation: false` makes a modal without a stack of its own.
  case open(Page)
  /// Selects a tab: modal stacks are dismissed, and the pages of the tab that was shown wait
  /// beside. A tab without pages begins with `first`, and without that is refused. Pages that lie
  /// in no tab give way to the first tab that is selected.
  case select(tab: Int, first: Page?)
  /// Goes back. The result belongs to the lowest page that closes; those above it are dismissed.
  case back(BackTarget<PageReference>, result: Outcome? = nil)
  /// Ends the page with the result; those above it are dismissed. The root page may finish too.
  case finish(page: String, result: Outcome)
  /// Ends the page because its opener cancelled; those above it are dismissed.
  case cancel(page: String, outcome: Outcome)
  /// Takes away every page of a host that is gone, wherever it is; pages of others stay.
  case remove(host: String, only: Set<String>? = nil, outcome: Outcome)
  /// Ends every page, because the session ended.
  case end(outcome: Outcome)
}
