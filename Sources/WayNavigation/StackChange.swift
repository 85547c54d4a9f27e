/// What an operation did to the stack, for those who have to be told: whole pages and their
/// outcomes, which are their openers' business. Who asked for it is told ``navigation``.
package struct StackChange: Sendable {
  /// A page that left the stack, with the one outcome it ever gets.
  package struct Closed: Sendable {
    package let page: Page
    package let outcome: Outcome
  }

  /// The pages that left, topmost first.
  package var closed: [Closed] = []
  /// The page that was opened, with the style and level it came to.
  package var shown: Page?
  /// The page that a `popTo` found instead of opening one.
  package var existing: Page?
  /// An older page that is on top now and was not before.
  package var resumed: Page?
  /// The page on top now; nil when the stack is empty.
  package var top: Page?

  package init() {}

  /// What the one who asked for it is told.
  package var navigation: NavigationChange {
    NavigationChange(page: top?.id, closed: closed.map(\.page.id))
  }
}
