import WayValues

extension NavigationStack {
  mutating func open(
    _ requested: Page, delivering delivery: NavigationDelivery?, popTo target: PageReference?,
    tab: Int?
  ) throws(StackError) -> StackChange {
    if containsID(requested.id) { throw .pageExists(id: requested.id) }
    if requested.style == .tab { throw .notByTab }
    let exts = try StackExts(requested)
    var change = StackChange()

    if requested.style == .popTo {
      var found = index(of: requested.reference)
      if found == nil, let place = backgroundPlace(of: requested.reference) {
        change.closed = show(place.tab)
        change.selectsTab = true
        found = place.index
      }
      if let found {
        change.closed += closePages(from: found + 1, lowest: .dismissed)
        deliver(delivery, at: found, in: &change)
        return change
      }
      if let tab, begins(tab: tab) {
        return try select(tab, first: requested, delivering: nil)
      }
    }

    let remaining = try remainingCount(requested.style, pop: exts.pop, target)
    let page = try placed(requested, over: remaining, withStack: exts.hasOwnStack)
    let outcome = requested.style == .dismissThenPush ? Outcome.dismissed : .replaced
    change.closed =
      requested.style == .root
      ? removeAll(outcome) : closePages(from: remaining, lowest: outcome, others: outcome)
    pages.append(page)
    change.shown = page
    return change
  }

  /// Returns the number of pages that stay beneath the new one. As with `back`, the root stays if
  /// `exts.pop` closes pages.
  private func remainingCount(
    _ style: Style, pop: StackExts.PopExtent?, _ target: PageReference?
  ) throws(StackError) -> Int {
    let root = min(1, pages.count)
    switch (style, pop) {
    case (.root, _): return 0
    case (.replace, _): return max(0, pages.count - 1)
    case (.dismissThenPush, _):
      let top = pages.last?.level ?? 0
      return top == 0 ? pages.count : pages.prefix { $0.level < top }.count
    case (_, .root): return root
    case (_, .count(let count)): return max(root, pages.count - min(count, pages.count))
    case (_, .to(let text)): return try existingIndex(of: target ?? .named(text)) + 1
    case (_, nil): return pages.count
    }
  }

  /// Returns the page with its style, level and stack above the remaining pages.
  private func placed(
    _ requested: Page, over remaining: Int, withStack: Bool
  ) throws(StackError) -> Page {
    var page = requested
    page.level = 0
    page.hasStack = true
    if requested.style == .replace, let replaced = pages.last {
      page.level = replaced.level
      page.hasStack = replaced.hasStack
    } else if requested.style != .root {
      page.style = .push
      if remaining > 0 {
        let below = pages[remaining - 1]
        page.level = below.level
        if requested.style == .present || !below.hasStack {
          page.style = .present
          page.level += 1
          page.hasStack = withStack
        }
      }
    }
    guard requested.style == .root || remaining + count - pages.count < Self.maxPages else {
      throw .stackFull(limit: Self.maxPages, of: "pages")
    }
    guard page.level < Self.maxLevels else {
      throw .stackFull(limit: Self.maxLevels, of: "modal stacks")
    }
    return page
  }
}

/// The `exts` that the stack itself reads.
struct StackExts {
  enum PopExtent {
    case count(Int)
    case root
    /// The page of a reference, as it was written.
    case to(String)
  }

  let hasOwnStack: Bool
  let pop: PopExtent?

  init(_ page: Page) throws(StackError) {
    switch page.exts["navigation"] {
    case nil: hasOwnStack = true
    case .bool(let value)?: hasOwnStack = value
    case _?: throw .invalidExts(name: "navigation", reason: "has to be true or false")
    }
    switch page.exts["pop"] {
    case nil: pop = nil
    case .string("root")?: pop = .root
    case .object(let target)?:
      guard let reference = PageReference.popTarget(target) else {
        throw .invalidExts(name: "pop", reason: "has to name a page as {\"to\": reference}")
      }
      pop = .to(reference)
    case .string("all")?:
      throw .invalidExts(
        name: "pop",
        reason: "has no value \"all\"; \"root\" closes all pages above the root, and the style "
          + "\"root\" closes the root too")
    case let value?:
      guard let count = value.exactInteger, count >= 0 else {
        throw .invalidExts(
          name: "pop", reason: "has to be a count of pages, \"root\" or {\"to\": reference}")
      }
      pop = .count(Int(clamping: count))
    }
    if pop != nil, page.style != .push {
      throw .invalidExts(
        name: "pop", reason: "applies only to the style \"push\", not to \"\(page.style.rawValue)\""
      )
    }
  }
}
