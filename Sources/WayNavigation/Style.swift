/// How an opened page takes its place on the stack.
public enum Style: String, Sendable, CaseIterable {
  /// On top of the current page, in the same stack.
  case push
  /// As a modal: over the current page, with a stack of its own unless `exts.navigation` is false.
  case present
  /// In the place of the current page.
  case replace
  /// As the only page.
  case root
  /// Back to the page if it is in the stack, else as ``push``.
  case popTo
  /// The modal stack on top is dismissed, then as ``push``.
  case dismissThenPush
  /// The tab that the page is the first of is selected; its page is opened where the tab has none
  /// yet.
  case tab
}
