import WayNavigation
import WayValues

extension BridgeClient {
  /// The open pages of a session.
  public struct Stack: Sendable, Hashable {
    /// The pages of the selected tab, bottom first. A modal stack is in ``HostedPage/pages`` of the
    /// page below it.
    public let pages: [HostedPage]
    /// The tabs in the order of the route table; empty if it has none.
    public let tabs: [Tab]
    /// The index of the selected tab; nil if no tab is selected.
    public let selected: Int?

    /// The page that the user sees; nil if the stack is empty.
    public var top: HostedPage? {
      var top = pages.last
      while let over = top?.pages.last { top = over }
      return top
    }

    init?(_ value: Value) {
      guard let pages = value["pages"].flatMap([HostedPage].init) else { return nil }
      let tabs = (value["tabs"]?.array ?? []).compactMap(Tab.init)
      guard tabs.count == value["tabs"]?.array?.count ?? 0 else { return nil }
      self.pages = pages
      self.tabs = tabs
      selected = value["selected"]?.integer.flatMap { Int(exactly: $0) }
    }
  }

  /// A tab of a session.
  public struct Tab: Sendable, Hashable {
    /// The URI of its first page.
    public let uri: String
    /// The pages that the tab keeps in the background, bottom first. Empty for the selected tab and
    /// for a tab that was not shown yet.
    public let pages: [HostedPage]

    init?(_ value: Value) {
      guard let uri = value["uri"]?.string, let pages = [HostedPage](value["pages"] ?? []) else {
        return nil
      }
      self.uri = uri
      self.pages = pages
    }
  }
}
