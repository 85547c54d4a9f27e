extension BridgeClient {
  /// The open pages of a session.
  public struct Stack: Sendable, Hashable {
    /// Bottom first; a modal stack is in ``Page/pages`` of the page that it lies over.
    public let pages: [Page]

    /// The page that the user sees; nil of an empty stack.
    public var top: Page? {
      var top = pages.last
      while let over = top?.pages.last { top = over }
      return top
    }
  }

  /// What going back or finishing a page did.
  public struct NavigationChange: Sendable, Hashable {
    /// The id of the page that is on top now; nil of an empty stack.
    public let page: String?
    /// The ids of the pages that closed, topmost first.
    public let closed: [String]
  }
}
