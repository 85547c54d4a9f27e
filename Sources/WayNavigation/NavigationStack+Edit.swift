import WayValues

extension NavigationStack {
  /// Removes a range of pages and puts others in its place, lowest first, or on top without a range.
  ///
  /// The first new page takes the place of the lowest removed one, as with ``Style/replace``; above a
  /// page that stays, it is pushed. The pages over the range keep their order and their modal stacks.
  mutating func edit(
    _ range: PageRange<PageReference>?, opening requested: [Page]
  ) throws(StackError) -> StackChange {
    let removed = try indices(of: range)
    var change = StackChange()
    if removed.count == pages.count, requested.isEmpty, !pages.isEmpty { throw .nothingStays }
    guard count - removed.count + requested.count <= Self.maxPages else {
      throw .stackFull(limit: Self.maxPages, of: "pages")
    }
    var edited = Array(pages[..<removed.lowerBound])
    // Above a page that stays, the new pages are pushed, whatever was there.
    let isAbove = if case .above = range { true } else { false }
    var replaced = removed.isEmpty || isAbove ? nil : pages[removed.lowerBound]
    let level = replaced?.level ?? edited.last?.level ?? 0
    for page in requested {
      if edited.contains(where: { $0.id.isSameASCII(as: page.id) }) {
        throw .pageExists(id: page.id)
      }
      edited.append(try placed(page, over: edited.last, insteadOf: replaced))
      replaced = nil
    }
    let upper = pages[removed.upperBound...]
    if let last = edited.last, !requested.isEmpty, let first = upper.first {
      var shift = last.level - level
      if !last.hasStack, first.level + shift == last.level { shift += 1 }
      edited += upper.map { page in
        var page = page
        page.level += shift
        return page
      }
      change.coveringPage = first.id
    } else {
      edited += upper
    }
    let outcome = requested.isEmpty ? Outcome.dismissed : .replaced
    change.closed = pages[removed].reversed().map { .init(page: $0, outcome: outcome) }
    var copy = self
    copy.pages = edited
    copy.renumberLevels()
    guard copy.pages.last.map({ $0.level < Self.maxLevels }) != false else {
      throw .stackFull(limit: Self.maxLevels, of: "modal stacks")
    }
    self = copy
    change.opened = Array(pages[removed.lowerBound...].prefix(requested.count))
    return change
  }

  /// Returns the indices of a range among the pages that are shown.
  private func indices(of range: PageRange<PageReference>?) throws(StackError) -> Range<Int> {
    switch range {
    case nil: return pages.count..<pages.count
    case .page(let page):
      let index = try existingIndex(of: page)
      return index..<index + 1
    case .between(let page, let other):
      let (first, last) = (try existingIndex(of: page), try existingIndex(of: other))
      return min(first, last)..<max(first, last) + 1
    case .from(let page): return try existingIndex(of: page)..<pages.count
    case .above(let page): return try existingIndex(of: page) + 1..<pages.count
    case .all: return 0..<pages.count
    }
  }

  /// Returns a new page with its style, level and stack above another page.
  private func placed(
    _ requested: Page, over below: Page?, insteadOf replaced: Page?
  ) throws(StackError) -> Page {
    if containsID(requested.id) { throw .pageExists(id: requested.id) }
    let exts = try StackExts(requested)
    guard exts.pop == nil else {
      throw .invalidExts(name: "pop", reason: "is not for pages that an edit of the stack opens")
    }
    var page = requested
    page.level = below?.level ?? 0
    page.hasStack = true
    if let below, requested.style == .present || replaced == nil && !below.hasStack {
      page.level += 1
      page.hasStack = exts.hasOwnStack
    } else if let replaced {
      page.level = replaced.level
      page.hasStack = replaced.hasStack
    }
    page.style = below.map { page.level > $0.level } == true ? .present : .push
    return page
  }
}
