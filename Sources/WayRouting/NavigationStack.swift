import WayValues

/// The pages of a session, with the modal stacks over them.
///
/// The pages lie in one list, bottom first; each knows its modal level, which starts at 0 and rises
/// by one where a modal stack begins. Going back is cutting the list's end.
package struct NavigationStack: Sendable {
  /// How many pages a stack holds at most.
  package static let maxPages = 256
  /// How many modal stacks lie over one another at most, the bottom stack included. Small, since
  /// ``value`` nests them.
  package static let maxLevels = 16

  /// The pages, bottom first.
  package internal(set) var pages: [Page] = []

  package init() {}

  /// The page that the user sees; nil when there is none.
  package var top: Page? { pages.last }

  /// Does the operation, or throws and leaves everything as it was.
  package mutating func apply(_ operation: StackOperation) throws(StackError) -> StackChange {
    let topBefore = pages.last?.id
    var change = StackChange()
    switch operation {
    case .open(let page): change = try open(page)
    case .back(let target, let result): change.closed = try back(target, result: result)
    case .finish(let id, let outcome), .cancel(let id, let outcome):
      change.closed = cut(from: try existingIndex(of: .page(id)), lowest: outcome)
    case .remove(let host, let outcome): change.closed = remove(host: host, outcome: outcome)
    case .end(let outcome): change.closed = cut(from: 0, lowest: outcome, others: outcome)
    }
    change.top = pages.last
    if let top = pages.last, top.id != topBefore, change.shown == nil { change.resumed = top }
    return change
  }

  /// What ``apply(_:)`` would do or throw, without doing it: a host is asked before the stack changes.
  @discardableResult
  package func check(_ operation: StackOperation) throws(StackError) -> StackChange {
    var copy = self
    return try copy.apply(operation)
  }

  func existingIndex(of reference: PageReference) throws(StackError) -> Int {
    guard let index = index(of: reference) else { throw .notOnStack(reference) }
    return index
  }

  /// Takes away all from `index` up, topmost first in the answer; `lowest` goes to the page at `index`.
  mutating func cut(
    from index: Int, lowest: Outcome, others: Outcome = .dismissed
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
}
