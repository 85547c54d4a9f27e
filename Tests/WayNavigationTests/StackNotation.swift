import TestSupport
import WayValues

@testable import WayNavigation

/// The notation of `protocol/navigation.json`, which its `about` describes.
struct StackNotation: CustomStringConvertible {
  let description: String

  /// The stack that the text describes, built by opening page after page.
  func stack() throws -> NavigationStack {
    var stack = NavigationStack()
    // The tab that is shown stands first, and is selected last.
    for part in try StackDescription(description).parts.reversed() {
      var tab = part.tab
      for text in part.pages {
        let page = try Self.page(
          text, style: text.opening == nil ? .push : .present,
          exts: text.opening == "(" ? ["navigation": false] : [:])
        _ = try stack.apply(tab.map { .select(tab: $0, first: page) } ?? .open(page))
        tab = nil
      }
      if let empty = tab {
        // A tab whose pages have all gone.
        let page = try Self.page("gone")
        _ = try stack.apply(.select(tab: empty, first: page))
        _ = try stack.apply(.finish(page: page.id, result: .finished()))
      }
    }
    return stack
  }

  static func page(
    _ text: String, style: Style = .push, exts: ValueObject = [:]
  ) throws -> Page {
    try page(StackDescription.Page(text), style: style, exts: exts)
  }

  private static func page(
    _ text: StackDescription.Page, style: Style, exts: ValueObject
  ) throws -> Page {
    switch reference(text.uri) {
    case .route(let name, let pathParams):
      Page(
        id: text.id, uri: text.uri, route: name, pathParams: pathParams, style: style,
        exts: exts, host: text.host)
    default:
      Page(id: text.id, uri: text.uri, route: nil, style: style, exts: exts, host: text.host)
    }
  }

  /// A page id or the name of a route, or a URI: `page://ROUTE` and `page://ROUTE/VALUE` are declared routes.
  static func reference(_ text: String) -> PageReference {
    guard text.contains(":") else { return .named(text) }
    guard text.hasPrefix("page://") else { return .uri(text) }
    let path = text.dropFirst("page://".count).prefix { $0 != "?" }.split(separator: "/")
    return .route(
      name: String(path[0]), pathParams: path.count > 1 ? ["id": .string(String(path[1]))] : [:])
  }

  /// The text for a stack, with ids only.
  init(_ stack: NavigationStack) {
    var parts = [Self.text(stack.pages, tab: stack.selected)]
    parts += stack.beside.map { Self.text($0.pages, tab: $0.tab) }
    description = parts.joined(separator: " / ")
  }

  private static func text(_ pages: [Page], tab: Int?) -> String {
    var text = tab.map { "\($0):" } ?? ""
    var closers: [Character] = []
    var level = 0
    for page in pages {
      if !text.isEmpty { text += " " }
      if page.level > level {
        text += page.hasStack ? "[" : "("
        closers.append(page.hasStack ? "]" : ")")
        level = page.level
      }
      text += page.id
    }
    return text + String(closers.reversed())
  }

  init(_ text: String) {
    description = text
  }
}
