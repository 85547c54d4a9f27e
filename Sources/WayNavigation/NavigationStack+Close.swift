import WayValues

extension NavigationStack {
  mutating func back(
    _ target: BackTarget<PageReference>, result: Outcome?
  ) throws(StackError) -> [StackChange.Closed] {
    let index = try firstClosing(target)
    if result != nil, index >= pages.count { throw .nothingCloses }
    return cut(from: index, lowest: result ?? .dismissed)
  }

  /// The index of the lowest page that closes; beyond the end if none does.
  private func firstClosing(_ target: BackTarget<PageReference>) throws(StackError) -> Int {
    switch target {
    case .count(let count):
      guard count >= 0 else { throw .invalidCount(count) }
      return max(1, pages.count - min(count, pages.count))
    case .to(let reference):
      return try existingIndex(of: reference) + 1
    case .before(let reference):
      let index = try existingIndex(of: reference)
      guard index > 0 else { throw .nothingBefore(page: pages[index].id) }
      return index
    case .root:
      return 1
    }
  }

  mutating func remove(
    _ outcome: Outcome, where isGone: (Page) -> Bool
  ) -> [StackChange.Closed] {
    var closed: [StackChange.Closed] = []
    for page in pages.reversed() where isGone(page) {
      closed.append(.init(page: page, outcome: outcome))
    }
    if !closed.isEmpty {
      pages.removeAll(where: isGone)
      closeGaps()
    }
    for index in beside.indices.reversed() {
      for page in beside[index].pages.reversed() where isGone(page) {
        closed.append(.init(page: page, outcome: outcome))
      }
      beside[index].pages.removeAll(where: isGone)
    }
    beside.removeAll { $0.pages.isEmpty }
    return closed
  }

  /// Numbers the levels anew after pages were taken from the middle: a level without pages
  /// vanishes, and what lay over it takes its place. The bottom always is a stack.
  private mutating func closeGaps() {
    var level = -1
    var previous = -1
    for index in pages.indices {
      if pages[index].level != previous {
        previous = pages[index].level
        level += 1
      }
      pages[index].level = level
      if level == 0 { pages[index].hasStack = true }
    }
  }
}
