import WayValues

/// The pages of a session, with the modal stacks over them and the tabs in the background.
///
/// The pages that are shown are in one list, bottom first. Each has a modal level, which starts at
/// 0 and grows by one with each modal stack. Going back cuts the end of the list. If a tab is
/// selected, the list is that tab's; the other tabs keep their pages in the background, without
/// modals. The stack is a value: it does not change after it was read.
public struct NavigationStack: Sendable {
  /// The maximum number of pages on a stack.
  package static let maxPages = 256
  /// The maximum number of modal levels, including the bottom stack. Small, since ``value`` nests
  /// them.
  package static let maxLevels = 16

  /// The pages of the selected tab, or of no tab, bottom first, with the modals over them.
  public internal(set) var pages: [Page] = []
  /// The tab that is shown, from 0; nil before one is selected.
  public internal(set) var selected: Int?
  /// The pages of the tabs in the background that have some, in the order of the tabs.
  package internal(set) var backgroundTabs: [(tab: Int, pages: [Page])] = []

  package init() {}

  /// Restores a stack.
  package init(_ pages: [Page], selected: Int?, backgroundTabs: [(tab: Int, pages: [Page])]) {
    self.pages = pages
    self.selected = selected
    self.backgroundTabs = backgroundTabs
  }

  /// The pages of the tabs in the background, then those of ``pages``.
  public var allPages: [Page] { backgroundTabs.flatMap(\.pages) + pages }

  /// The page that the user sees; nil when there is none.
  public var top: Page? { pages.last }

  /// Applies the operation, or throws and leaves everything unchanged.
  package mutating func apply(_ operation: StackOperation) throws(StackError) -> StackChange {
    let topBefore = pages.last?.id
    var change = StackChange()
    switch operation {
    case .open(let page, let delivery, let target, let tab):
      change = try open(page, delivering: delivery, popTo: target, tab: tab)
    case .select(let tab, let first, let delivery):
      change = try select(tab, first: first, delivering: delivery)
    case .back(let target, let result): change = try back(target, result: result)
    case .finish(let id, let outcome), .cancel(let id, let outcome):
      change.closed = try closePage(id, outcome)
    case .remove(let host, let only, let outcome):
      change.closed = remove(outcome) { page in
        page.host.isSameUTF8(as: host) && only?.contains(page.id) != false
      }
    case .edit(let range, let pages): change = try edit(range, opening: pages)
    case .end(let outcome): change.closed = removeAll(outcome)
    }
    change.top = pages.last
    if let top = pages.last, top.id != topBefore, change.shown == nil,
      change.opened.isEmpty || change.coveringPage != nil
    {
      change.resumed = top
    }
    return change
  }

  /// Returns the result of ``apply(_:)``, or throws its error, without a change, since a host is
  /// asked before the stack changes.
  @discardableResult
  package func check(_ operation: StackOperation) throws(StackError) -> StackChange {
    var copy = self
    return try copy.apply(operation)
  }

  func existingIndex(of reference: PageReference) throws(StackError) -> Int {
    guard let index = index(of: reference) else { throw .notOnStack(reference) }
    return index
  }

  /// Records in `change` that an operation has found a page that is shown, and gives the page its new
  /// data.
  mutating func deliver(
    _ delivery: NavigationDelivery?, at index: Int, in change: inout StackChange
  ) {
    if let delivery {
      pages[index] = pages[index].receiving(delivery)
      change.delivered = delivery
    }
    change.existing = pages[index]
  }

  /// Closes all pages from `index` up, and returns them topmost first; `lowest` is the outcome of
  /// the page at `index`.
  mutating func closePages(
    from index: Int, lowest: Outcome, others: Outcome = .dismissed
  ) -> [StackChange.RemovedPage] {
    Self.closePages(&pages, from: index, lowest: lowest, others: others)
  }

  static func closePages(
    _ pages: inout [Page], from index: Int, lowest: Outcome, others: Outcome = .dismissed
  ) -> [StackChange.RemovedPage] {
    guard index < pages.count else { return [] }
    var closed: [StackChange.RemovedPage] = []
    closed.reserveCapacity(pages.count - index)
    for position in (index..<pages.count).reversed() {
      closed.append(
        .init(page: pages[position], outcome: position == index ? lowest : others))
    }
    pages.removeSubrange(index...)
    return closed
  }

  /// Removes every page, including those in the background.
  mutating func removeAll(_ outcome: Outcome) -> [StackChange.RemovedPage] {
    var closed = closePages(from: 0, lowest: outcome, others: outcome)
    for index in backgroundTabs.indices.reversed() {
      closed += Self.closePages(
        &backgroundTabs[index].pages, from: 0, lowest: outcome, others: outcome)
    }
    backgroundTabs = []
    selected = nil
    return closed
  }
}
