/// How much of an open page the user sees, as far as the stack decides it.
public enum PageVisibility: String, Sendable, Hashable, CaseIterable {
  /// The page is on top.
  case shown
  /// Modal pages lie over the page, and nothing else does. The user may see a part of it.
  case covered
  /// Another page of the same stack lies over it.
  case hidden
  /// The page belongs to a tab that is not selected.
  case background

  /// A page with its visibility.
  package typealias PageState = (page: Page, visibility: PageVisibility)
}

extension NavigationStack {
  /// The visibility of each page: those of tabs in the background, then those of ``pages``, bottom
  /// first.
  package var visibilities: [PageVisibility.PageState] {
    let background = backgroundTabs.flatMap(\.pages).map { ($0, PageVisibility.background) }
    return background
      + pages.indices.map { index in
        let page = pages[index]
        guard index + 1 < pages.count else { return (page, .shown) }
        return (page, pages[index + 1].level > page.level ? .covered : .hidden)
      }
  }
}
