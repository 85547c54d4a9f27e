import WayValues

extension NavigationStack {
  /// How many tabs an app has at most.
  package static let maxTabs = 16

  /// Whether a tab has pages, shown or waiting.
  package func hasPages(tab: Int) -> Bool {
    tab == selected ? !pages.isEmpty : beside.contains { $0.tab == tab }
  }

  mutating func select(_ tab: Int, first: Page?) throws(StackError) -> StackChange {
    show(tab, opening: hasPages(tab: tab) ? nil : try begun(first, tab))
  }

  /// The first page of a tab, as it comes to the stack.
  private func begun(_ first: Page?, _ tab: Int) throws(StackError) -> Page {
    guard var page = first else { throw .emptyTab(tab) }
    guard !isTaken(page.id) else { throw .pageExists(id: page.id) }
    guard count < Self.maxPages else { throw .stackFull(limit: Self.maxPages, of: "pages") }
    page.style = .tab
    page.level = 0
    page.hasStack = true
    return page
  }

  private mutating func show(_ tab: Int, opening first: Page?) -> StackChange {
    var change = StackChange()
    let bottom = pages.prefix { $0.level == 0 }.count
    change.closed = cut(from: bottom, lowest: .dismissed)
    if selected != tab {
      if let shown = selected {
        if !pages.isEmpty { beside.append((shown, pages)) }
      } else {
        change.closed += cut(from: 0, lowest: .replaced, others: .replaced)
      }
      pages = []
      if let index = beside.firstIndex(where: { $0.tab == tab }) {
        pages = beside.remove(at: index).pages
      }
      beside.sort { $0.tab < $1.tab }
      selected = tab
    }
    if let first {
      pages = [first]
      change.shown = first
    } else {
      change.existing = pages.first
    }
    return change
  }

  /// How many pages there are, those beside too.
  var count: Int { beside.reduce(pages.count) { $0 + $1.pages.count } }

  /// Ids are the server's own, and ASCII.
  func isTaken(_ id: String) -> Bool {
    pages.contains { $0.id.isSameASCII(as: id) }
      || beside.contains { $0.pages.contains { $0.id.isSameASCII(as: id) } }
  }

  /// Ends a page, with those above it, also where its tab is not shown.
  mutating func end(_ id: String, _ outcome: Outcome) throws(StackError) -> [StackChange.Closed] {
    if let index = index(of: .page(id)) { return cut(from: index, lowest: outcome) }
    for index in beside.indices {
      guard let position = beside[index].pages.firstIndex(where: { $0.id.isSameUTF8(as: id) })
      else { continue }
      let closed = Self.cut(&beside[index].pages, from: position, lowest: outcome)
      if beside[index].pages.isEmpty { beside.remove(at: index) }
      return closed
    }
    throw .notOnStack(.page(id))
  }
}
