import WayValues

extension NavigationStack {
  mutating func open(_ asked: Page) throws(StackError) -> StackChange {
    if isTaken(asked.id) { throw .pageExists(id: asked.id) }
    if asked.style == .tab { throw .notByTab }
    let exts = try OpeningExts(asked)
    var change = StackChange()

    if asked.style == .popTo, let index = index(of: asked.reference) {
      change.closed = cut(from: index + 1, lowest: .dismissed)
      change.existing = pages[index]
      return change
    }

    let kept = keptCount(asked.style, pop: exts.pop)
    let page = try placed(asked, over: kept, withStack: exts.navigation)
    let outcome = asked.style == .dismissThenPush ? Outcome.dismissed : .replaced
    change.closed =
      asked.style == .root
      ? removeAll(outcome) : cut(from: kept, lowest: outcome, others: outcome)
    pages.append(page)
    change.shown = page
    return change
  }

  /// How many pages stay beneath the new one. Popping leaves a tab its first page.
  private func keptCount(_ style: Style, pop: OpeningExts.Pop?) -> Int {
    let floor = selected == nil ? 0 : min(1, pages.count)
    switch (style, pop) {
    case (.root, _): return 0
    case (.replace, _): return max(0, pages.count - 1)
    case (.dismissThenPush, _):
      let top = pages.last?.level ?? 0
      return top == 0 ? pages.count : pages.prefix { $0.level < top }.count
    case (_, .all): return floor
    case (_, .count(let count)): return max(floor, pages.count - min(count, pages.count))
    case (_, nil): return pages.count
    }
  }

  /// The page with the style, level and stack that it comes to over so many pages.
  private func placed(
    _ asked: Page, over kept: Int, withStack: Bool
  ) throws(StackError) -> Page {
    var page = asked
    page.level = 0
    page.hasStack = true
    if asked.style == .replace, let replaced = pages.last {
      page.level = replaced.level
      page.hasStack = replaced.hasStack
    } else if asked.style != .root {
      page.style = .push
      if kept > 0 {
        let below = pages[kept - 1]
        page.level = below.level
        if asked.style == .present || !below.hasStack {
          page.style = .present
          page.level += 1
          page.hasStack = withStack
        }
      }
    }
    guard asked.style == .root || kept + count - pages.count < Self.maxPages else {
      throw .stackFull(limit: Self.maxPages, of: "pages")
    }
    guard page.level < Self.maxLevels else {
      throw .stackFull(limit: Self.maxLevels, of: "modal stacks")
    }
    return page
  }
}

/// What the stack itself reads from `exts`.
private struct OpeningExts {
  enum Pop {
    case count(Int)
    case all
  }

  let navigation: Bool
  let pop: Pop?

  init(_ page: Page) throws(StackError) {
    switch page.exts["navigation"] {
    case nil: navigation = true
    case .bool(let value)?: navigation = value
    case _?: throw .invalidExts(name: "navigation", reason: "has to be true or false")
    }
    switch page.exts["pop"] {
    case nil: pop = nil
    case .integer(let count)? where count >= 0: pop = .count(Int(clamping: count))
    case .string("all")?: pop = .all
    case _?: throw .invalidExts(name: "pop", reason: "has to be a count of pages or 'all'")
    }
    if pop != nil, page.style != .push {
      throw .invalidExts(
        name: "pop", reason: "goes with style 'push'; the style is '\(page.style.rawValue)'")
    }
  }
}
