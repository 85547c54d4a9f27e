import WayNavigation
import WayValues

extension BridgeClient {
  /// The open pages of a session.
  public struct Stack: Sendable, Hashable {
    /// Those of the tab that is shown, bottom first; a modal stack is in ``Page/pages`` of the page
    /// that it lies over.
    public let pages: [Page]
    /// The tabs in the order of the route table; empty where it has none.
    public let tabs: [Tab]
    /// The index of the tab that is shown; nil where none is.
    public let selected: Int?

    /// The page that the user sees; nil of an empty stack.
    public var top: Page? {
      var top = pages.last
      while let over = top?.pages.last { top = over }
      return top
    }

    init?(_ value: Value) {
      guard let pages = value["pages"].flatMap([Page].init) else { return nil }
      let tabs = (value["tabs"]?.list ?? []).compactMap(Tab.init)
      guard tabs.count == value["tabs"]?.list?.count ?? 0 else { return nil }
      self.pages = pages
      self.tabs = tabs
      selected = value["selected"]?.integer.flatMap { Int(exactly: $0) }
    }
  }

  /// A tab of a session.
  public struct Tab: Sendable, Hashable {
    /// The URI of its first page.
    public let uri: String
    /// The pages that wait in it, bottom first; empty of the tab that is shown and of one that was
    /// not shown yet.
    public let pages: [Page]

    init?(_ value: Value) {
      guard let uri = value["uri"]?.string, let pages = [Page](value["pages"] ?? []) else {
        return nil
      }
      self.uri = uri
      self.pages = pages
    }
  }
}
