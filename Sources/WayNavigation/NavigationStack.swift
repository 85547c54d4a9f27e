import WayValues

/// The pages of a session, with the modal stacks over them and the tabs beside.
///
/// The pages that are shown lie in one list, bottom first; each knows its modal level, which starts
/// at 0 and rises by one where a modal stack begins. Going back is cutting the list's end. Where a
/// tab is selected, the list is that tab's; those of the others wait beside, without modals. A
/// value: it stays as it was when it was asked for.
public struct NavigationStack: Sendable {
  /// How many pages a stack holds at most.
  package static let maxPages = 256
  /// How many modal stacks lie over one another at most, the bottom stack included. Small, since
  /// ``value`` nests them.
  package static let maxLevels = 16

  /// The pages of the selected tab, or of no tab, bottom first, with the modals over them.
  public internal(set) var pages: [Page] = []
  /// The tab that is shown, from 0; nil before one is selected.
  public internal(set) var selected: Int?
  /// The pages of the tabs that are not shown and have some, in the order of the tabs.
  package internal(set) var beside: [(tab: Int, pages: [Page])] = []

  package init() {}

  /// A stack as it was.
  package init(_ pages: [Page], selected: Int?, beside: [(tab: Int, pages: [Page])]) {
    self.pages = pages
    self.selected = selected
    self.beside = beside
  }

  /// The pages of the tabs that wait, then those of ``pages``.
  public var allPages: [Page] { beside.flatMap(\.pages) + pages }

  /// The page that the user sees; nil when there is none.
  public var top: Page? { pages.last }

  /// Does the operation, or throws and leaves everything as it was.
  package mutating func apply(_ operation: StackOperation) throws(StackError) -> StackChange {
    let topBefore = pages.last?.id
    var change = StackChange()
    switch operation {
    case .open(let page): change = try open(page)
    case .select(let tab, let first): change = try select(tab, first: first)
    case .back(let target, let result): change.closed = try back(target, result: result)
    case .finish(let id, let outcome), .cancel(let id, let outcome):
      change.closed = try end(id, outcome)
    case .remove(let host, let only, let outcome):
      change.closed = remove(outcome) { page in
        page.host.isSameUTF8(as: host) && only?.contains(page.id) != false
      }
    case .end(let outcome): change.closed = removeAll(outcome)
    }
    change.top = pages.last
    if let top = pages.last, top.id != topBefore, change.shown == nil { change.resumed = top }
    return change
  }

  /// What ``apply(_:)`` would do or throw, without doing it: a host is asked before the stack
  /// changes.
  @discardableResult
  package func check(_ operation: StackOperation) throws(StackError) -> StackChange {
    var copy = self
    return try copy.apply(operation)
  }

  func existingIndex(of reference: PageReference) throws(StackError) -> Int {
    guard let index = index(of: reference) else { throw .notOnStack(reference) }
    return index
  }

  /// Takes away all from `index` up, topmost first in the answer; `lowest` goes to the page at
  /// `index`.
  mutating func cut(
    from index: Int, lowest: Outcome, others: Outcome = .dismissed
  ) -> [StackChange.Closed] {
    Self.cut(&pages, from: index, lowest: lowest, others: others)
  }

  static func cut(
    _ pages: inout [Page], from index: Int, lowest: Outcome, others: Outcome = .dismissed
  ) -> [StackChange.Closed] {
    guard index < pages.count else { return [] }
    var closed: [StackChange.Closed] = []
    closed.reserveCapacity(pages.count - index)
    for position in (index..<pages.count).reversed() {
      closed.append(
        .init(page: pages[position], outcome: position == index ? lowest : others))
    }
    pages.removeSubrange(index...)
    return closed
  }

  /// Takes away every page, those beside too.
  mutating func removeAll(_ outcome: Outcome) -> [StackChange.Closed] {
    var closed = cut(from: 0, lowest: outcome, others: outcome)
    for index in beside.indices.reversed() {
      closed += Self.cut(&beside[index].pages, from: 0, lowest: outcome, others: outcome)
    }
    beside = []
    selected = nil
    return closed
  }
}
