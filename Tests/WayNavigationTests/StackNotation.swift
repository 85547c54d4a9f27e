import TestSupport
import WayValues

@testable import WayNavigation

/// The notation of `protocol/navigation.json`, which its `about` describes.
struct StackNotation: CustomStringConvertible {
  let description: String

  /// Builds the stack that the notation describes by opening page after page.
  func stack() throws -> NavigationStack {
    var stack = NavigationStack()
    // The notation starts with the selected tab, which is selected last.
    for part in try StackDescription(description).sections.reversed() {
      var tab = part.tab
      for text in part.pages {
        let page = Self.page(
          text, style: text.modalBracket == nil ? .push : .present,
          exts: text.modalBracket == "(" ? ["navigation": false] : [:])
        _ = try stack.apply(tab.map { .select(tab: $0, first: page) } ?? .open(page))
        tab = nil
      }
      if let empty = tab {
        // A tab that has no pages left.
        let page = try Self.page("gone")
        _ = try stack.apply(.select(tab: empty, first: page))
        _ = try stack.apply(.finish(page: page.id, result: .finished()))
      }
    }
    return stack
  }

  static func page(
    _ text: String, style: Style = .push, params: ValueObject = [:], exts: ValueObject = [:]
  ) throws -> Page {
    try page(StackDescription.NotatedPage(text), style: style, params: params, exts: exts)
  }

  private static func page(
    _ text: StackDescription.NotatedPage, style: Style, params: ValueObject = [:],
    exts: ValueObject
  ) -> Page {
    let uri = Self.uri(text.uri)
    var merged = query(of: text.uri)
    merged.merge(uri.pathParams)
    merged.merge(params)
    return Page(
      id: text.id, uri: text.uri, route: uri.route, pathParams: uri.pathParams, style: style,
      params: merged, exts: exts, host: text.host)
  }

  /// Returns the parameters in the query of a URI.
  static func query(of uri: String) -> ValueObject {
    let query = uri.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    return ValueObject(
      query.split(separator: "&").map { pair -> (String, Value) in
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), .string(parts.count > 1 ? String(parts[1]) : ""))
      })
  }

  /// Returns what a URI resolves to. `page://ROUTE` and `page://ROUTE/VALUE` are declared routes.
  private static func uri(_ text: String) -> PageURI {
    guard text.hasPrefix("page://") else { return PageURI(text) }
    let path = text.dropFirst("page://".count).prefix { $0 != "?" }.split(separator: "/")
    return PageURI(
      text, route: String(path[0]),
      pathParams: path.count > 1 ? ["id": .string(String(path[1]))] : [:])
  }

  /// Returns a page id, a route name or a URI.
  static func reference(_ text: String) -> PageReference {
    text.contains(":") ? .uri(uri(text)) : .named(text)
  }

  /// Creates the notation of a stack, with ids only.
  init(_ stack: NavigationStack) {
    var parts = [Self.notation(stack.pages, tab: stack.selected)]
    parts += stack.backgroundTabs.map { Self.notation($0.pages, tab: $0.tab) }
    description = parts.joined(separator: " / ")
  }

  private static func notation(_ pages: [Page], tab: Int?) -> String {
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
