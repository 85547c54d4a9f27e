/// The way in which an opened page is placed on the stack.
public enum Style: String, Sendable, CaseIterable, Codable {
  /// On top of the current page, in the same stack.
  case push
  /// A modal over the current page, with its own stack unless `exts.navigation` is false.
  case present
  /// Instead of the current page.
  case replace
  /// Instead of all pages.
  case root
  /// Back to the page if it is on the stack, which gets the new parameters, else like ``push``.
  case popTo
  /// Like ``push``, after the modal stack on top is dismissed.
  case dismissThenPush
  /// The tab with this first page is selected; the page is opened if the tab has none yet, and gets
  /// the new parameters otherwise.
  case tab
}
