import WayValues

extension NavigationStack {
  mutating func back(
    _ target: BackTarget<PageReference>, result: Outcome?
  ) throws(StackError) -> StackChange {
    if let reference = target.page, index(of: reference) == nil,
      let place = backgroundPlace(of: reference)
    {
      return try back(target, at: place, result: result)
    }
    let index = try firstClosedIndex(target)
    if result != nil, index >= pages.count { throw .nothingCloses }
    var change = StackChange()
    change.closed = closePages(from: index, lowest: result ?? .dismissed)
    return change
  }

  /// Goes back to, or before, a page of a tab in the background, which is selected. The result is that
  /// of a page of this tab.
  private mutating func back(
    _ target: BackTarget<PageReference>, at place: BackgroundPlace, result: Outcome?
  ) throws(StackError) -> StackChange {
    var index = place.index + 1
    if case .before = target {
      guard place.index > 0 else { throw .nothingBefore(page: place.page.id) }
      index = place.index
    }
    if result != nil, index >= place.count { throw .nothingCloses }
    var change = StackChange()
    change.closed = show(place.tab)
    change.selectsTab = true
    change.closed += closePages(from: index, lowest: result ?? .dismissed)
    return change
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
  mutating func renumberLevels() {
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
