import WayValues

/// How far to go back; `Page` is what a page is named by. The root page always stays.
public enum BackTarget<Page: Sendable>: Sendable {
  /// So many pages, through modals; a count past the root stops at the root.
  case count(Int)
  /// To this page, which stays.
  case to(Page)
  /// To the page beneath this one.
  case before(Page)
  /// To the root page.
  case root

  /// The page that it names.
  package var page: Page? {
    switch self {
    case .to(let page), .before(let page): page
    case .count, .root: nil
    }
  }

  /// The same with pages named in another way.
  package func map<Other: Sendable>(_ name: (Page) -> Other) -> BackTarget<Other> {
    switch self {
    case .count(let count): .count(count)
    case .to(let page): .to(name(page))
    case .before(let page): .before(name(page))
    case .root: .root
    }
  }
}

extension BackTarget<String> {
  /// As `navigation.back` takes it.
  package var params: ValueObject {
    switch self {
    case .count(let count): ["count": .integer(Int64(count))]
    case .to(let page): ["to": .string(page)]
    case .before(let page): ["before": .string(page)]
    case .root: ["root": true]
    }
  }
}
