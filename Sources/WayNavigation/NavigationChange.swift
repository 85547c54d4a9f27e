import WayValues

/// What going back, finishing a page or selecting a tab did, as the one is told who asked for it.
public struct NavigationChange: Sendable, Hashable {
  /// The id of the page that is on top now; nil of an empty stack.
  public let page: String?
  /// The ids of the pages that closed, topmost first.
  public let closed: [String]

  package init(page: String?, closed: [String]) {
    self.page = page
    self.closed = closed
  }

  /// Reads `{"page", "closed"}`, as the stack's changes are answered; nil for anything else.
  package init?(_ value: Value) {
    guard let closed = value["closed"]?.list?.compactMap(\.string) else { return nil }
    self.init(page: value["page"]?.string, closed: closed)
  }

  /// As it goes over the wire.
  package var value: Value {
    ["page": page.map(Value.string) ?? .null, "closed": .list(closed.map(Value.string))]
  }
}
