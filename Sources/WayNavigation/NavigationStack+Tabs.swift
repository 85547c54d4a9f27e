import WayValues

extension NavigationStack {
  /// The maximum number of tabs of an app.
  package static let maxTabs = 16

  /// Whether a tab has pages, shown or in the background.
  package func hasPages(tab: Int) -> Bool {
    tab == selected ? !pages.isEmpty : backgroundTabs.contains { $0.tab == tab }
  }

  mutating func select(
    _ tab: Int, first: Page?, delivering delivery: NavigationDelivery?
  ) throws(StackError) -> StackChange {
    guard hasPages(tab: tab) else {
      return show(tab, opening: try preparedPage(first, tab), delivering: nil)
    }
    let isForFirstPage = delivery?.params == nil || isFirstPage(first, of: tab)
    return show(
      tab, opening: nil,
      delivering: isForFirstPage ? delivery : NavigationDelivery(exts: delivery?.exts ?? [:]))
  }

  /// Whether a page that a call would open is the first page of a tab. It is not if another page has
  /// replaced that. A call without a page means the first page, whichever it is.
  private func isFirstPage(_ wanted: Page?, of tab: Int) -> Bool {
    guard let wanted else { return true }
    let tabPages = tab == selected ? pages : backgroundTabs.first { $0.tab == tab }?.pages ?? []
    return Self.index(of: wanted.reference, in: Array(tabPages.prefix(1))) != nil
  }

  /// Returns the tab whose first page a reference means; `nil` if there is none.
  package func tab(beginningWith reference: PageReference) -> Int? {
    if let selected, Self.index(of: reference, in: Array(pages.prefix(1))) != nil {
      return selected
    }
    return backgroundTabs.first {
      Self.index(of: reference, in: Array($0.pages.prefix(1))) != nil
    }?.tab
  }

  /// Returns the first page of a tab, prepared for the stack.
  private func preparedPage(_ first: Page?, _ tab: Int) throws(StackError) -> Page {
    guard var page = first else { throw .emptyTab(tab) }
    guard !containsID(page.id) else { throw .pageExists(id: page.id) }
    guard count < Self.maxPages else { throw .stackFull(limit: Self.maxPages, of: "pages") }
    page.style = .tab
    page.level = 0
    page.hasStack = true
    return page
  }

  /// Shows a tab whose first page is either `first` or open already.
  private mutating func show(
    _ tab: Int, opening first: Page?, delivering delivery: NavigationDelivery?
  ) -> StackChange {
    var change = StackChange()
    change.selectsTab = selected != tab
    change.closed = show(tab)
    if let first {
      pages = [first]
      change.shown = first
    } else if !pages.isEmpty {
      deliver(delivery, at: 0, in: &change)
    }
    return change
  }

  /// Shows a tab, and returns the pages that close: the modals over the tabs, and pages that are in no
  /// tab.
  mutating func show(_ tab: Int) -> [StackChange.RemovedPage] {
    let bottom = pages.prefix { $0.level == 0 }.count
    var closed = closePages(from: bottom, lowest: .dismissed)
    guard selected != tab else { return closed }
    if let shown = selected {
      if !pages.isEmpty { backgroundTabs.append((shown, pages)) }
    } else {
      closed += closePages(from: 0, lowest: .replaced, others: .replaced)
    }
    pages = []
    if let index = backgroundTabs.firstIndex(where: { $0.tab == tab }) {
      pages = backgroundTabs.remove(at: index).pages
    }
    backgroundTabs.sort { $0.tab < $1.tab }
    selected = tab
    return closed
  }

  /// Whether a page that is not open begins a tab: the tab has no pages, and tabs may be shown.
  func begins(tab: Int) -> Bool { showsTabs && !hasPages(tab: tab) }

  /// Whether the app shows its tabs, or nothing yet.
  package var showsTabs: Bool { selected != nil || pages.isEmpty }

  /// The number of pages, including those in the background.
  var count: Int { backgroundTabs.reduce(pages.count) { $0 + $1.pages.count } }

  /// Whether a page has this id. Ids are the server's own, and ASCII.
  func containsID(_ id: String) -> Bool {
    pages.contains { $0.id.isSameASCII(as: id) }
      || backgroundTabs.contains { $0.pages.contains { $0.id.isSameASCII(as: id) } }
  }

  /// Closes a page, with those above it, even if its tab is not shown.
  mutating func closePage(_ id: String, _ outcome: Outcome) throws(StackError) -> [StackChange
    .RemovedPage]
  {
    if let index = index(of: .page(id)) { return closePages(from: index, lowest: outcome) }
    for index in backgroundTabs.indices {
      guard
        let position = backgroundTabs[index].pages.firstIndex(where: { $0.id.isSameUTF8(as: id) })
      else { continue }
      let closed = Self.closePages(&backgroundTabs[index].pages, from: position, lowest: outcome)
      if backgroundTabs[index].pages.isEmpty { backgroundTabs.remove(at: index) }
      return closed
    }
    throw .notOnStack(.page(id))
  }
}
