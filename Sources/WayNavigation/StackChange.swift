/// The changes of the stack by an operation, for hosts and openers: whole pages and their outcomes.
/// The caller receives only ``navigation``.
package struct StackChange: Sendable {
  /// A page that has closed, with its only outcome.
  package struct RemovedPage: Sendable {
    package let page: Page
    package let outcome: Outcome
  }

  /// The pages that have closed, topmost first.
  package var closed: [RemovedPage] = []
  /// The page that was opened, with its effective style and level.
  package var shown: Page?
  /// The pages that an edit has opened, lowest first, with their effective styles and levels.
  package var opened: [Page] = []
  /// The id of the page that lies directly over those of ``opened``; `nil` if they are on top.
  package var coveringPage: String?
  /// The page that a `popTo` or the selection of a tab found instead of opening one, with its new
  /// data.
  package var existing: Page?
  /// The new data of ``existing``; `nil` if it keeps its own.
  package var delivered: NavigationDelivery?
  /// Whether another tab is selected.
  package var selectsTab = false
  /// An older page that is on top now and was not before.
  package var resumed: Page?
  /// The page on top now; nil when the stack is empty.
  package var top: Page?

  package init() {}

  /// The result for the caller.
  package var navigation: NavigationChange {
    NavigationChange(page: top?.id, closed: closed.map(\.page.id), opened: opened.map(\.id))
  }
}
