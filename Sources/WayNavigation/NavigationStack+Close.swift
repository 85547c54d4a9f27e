import WayValues

extension NavigationStack {
  mutating func back(
    _ target: BackTarget<PageReference>, result: Outcome?
  ) throws(StackError) -> [StackChange.RemovedPage] {
    let index = try firstClosedIndex(target)
    if result != nil, index >= pages.count { throw .nothingCloses }
    return closePages(from: index, lowest: result ?? .dismissed)
  }

  /// Returns the index of the lowest page that closes; past the end if none does.
  private func firstClosedIndex(_ target: BackTarget<PageReference>) throws(StackError) -> Int {
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
    _ outcome: Outcome, where isRemoved: (Page) -> Bool
  ) -> [StackChange.RemovedPage] {
    var closed: [StackChange.RemovedPage] = []
    for page in pages.reversed() where isRemoved(page) {
      closed.append(.init(page: page, outcome: outcome))
    }
    if !closed.isEmpty {
      pages.removeAll(where: isRemoved)
      renumberLevels()
    }
    for index in backgroundTabs.indices.reversed() {
      for page in backgroundTabs[index].pages.reversed() where isRemoved(page) {
        closed.append(.init(page: page, outcome: outcome))
      }
      backgroundTabs[index].pages.removeAll(where: isRemoved)
    }
    backgroundTabs.removeAll { $0.pages.isEmpty }
    return closed
  }

  /// Renumbers the levels after pages were removed from the middle: a level without pages vanishes,
  /// and the one above it takes its place. The bottom level always is a stack.
  private mutating func renumberLevels() {
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
