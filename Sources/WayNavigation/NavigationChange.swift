import WayValues

/// The result of going back, finishing a page or selecting a tab, for the caller.
public struct NavigationChange: Sendable, Hashable {
  /// The id of the page that is on top now; `nil` for an empty stack.
  public let page: String?
  /// The ids of the pages that closed, topmost first.
  public let closed: [String]

  /// The ids of the pages that an edit has opened, lowest first.
  public let opened: [String]

  package init(page: String?, closed: [String], opened: [String] = []) {
    self.page = page
    self.closed = closed
    self.opened = opened
  }

  /// Reads `{"page", "closed", "opened"?}`, the result of the methods that change the stack; `nil` for
  /// anything else.
  package init?(_ value: Value) {
    guard let closed = value["closed"]?.array?.compactMap(\.string) else { return nil }
    self.init(
      page: value["page"]?.string, closed: closed,
      opened: value["opened"]?.array?.compactMap(\.string) ?? [])
  }

  /// The change in a message.
  package var value: Value {
    var change: ValueObject = [
      "page": page.map(Value.string) ?? .null, "closed": .array(closed.map(Value.string)),
    ]
    if !opened.isEmpty { change["opened"] = .array(opened.map(Value.string)) }
    return .object(change)
  }
}
