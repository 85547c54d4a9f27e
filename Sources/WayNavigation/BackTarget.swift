import WayValues

/// The distance or page to go back to; `Reference` is the type that names a page. The root page
/// always stays.
public enum BackTarget<Reference: Sendable>: Sendable {
  /// Goes back by a number of pages, through modals; a count past the root stops at the root.
  case count(Int)
  /// Goes back to this page, which stays.
  case to(Reference)
  /// Goes back to the page beneath this one.
  case before(Reference)
  /// Goes back to the root page.
  case root

  /// The page that it names.
  package var page: Reference? {
    switch self {
    case .to(let page), .before(let page): page
    case .count, .root: nil
    }
  }

  /// Returns the target with pages named in another way.
  package func map<Other: Sendable>(_ name: (Reference) -> Other) -> BackTarget<Other> {
    switch self {
    case .count(let count): .count(count)
    case .to(let page): .to(name(page))
    case .before(let page): .before(name(page))
    case .root: .root
    }
  }
}

extension BackTarget<String> {
  /// The params of `navigation.back`.
  package var params: ValueObject {
    switch self {
    case .count(let count): ["count": .integer(Int64(count))]
    case .to(let page): ["to": .string(page)]
    case .before(let page): ["before": .string(page)]
    case .root: ["root": true]
    }
  }
}
