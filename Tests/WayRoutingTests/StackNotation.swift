import Foundation
import Testing
import WayValues

@testable import WayRouting

/// The notation of `protocol/navigation.json`, which its `about` describes.
struct StackNotation: CustomStringConvertible {
  let description: String

  struct Malformed: Error {
    let text: String
  }

  /// The stack that the text describes, built by opening page after page.
  func stack() throws -> NavigationStack {
    var stack = NavigationStack()
    // The tab that is shown stands first, and is selected last.
    for part in description.components(separatedBy: " / ").reversed() {
      try open(part, in: &stack)
    }
    return stack
  }

  private func open(_ part: String, in stack: inout NavigationStack) throws {
    var opening: Character?
    var tab: Int?
    for token in part.split(separator: " ") {
      if token.last == ":" {
        tab = Int(token.dropLast())
        continue
      }
      var text = token
      if let first = text.first, first == "[" || first == "(" {
        opening = first
        text.removeFirst()
      }
      while let last = text.last, last == "]" || last == ")" { text.removeLast() }
      let page = try Self.page(
        String(text), style: opening == nil ? .push : .present,
        exts: opening == "(" ? ["navigation": false] : [:])
      if let first = tab {
        _ = try stack.apply(.select(tab: first, first: page))
      } else {
        _ = try stack.apply(.open(page))
      }
      tab = nil
      opening = nil
    }
    if let empty = tab {
      // A tab whose pages have all gone.
      let page = try Self.page("gone")
      _ = try stack.apply(.select(tab: empty, first: page))
      _ = try stack.apply(.finish(page: page.id, result: .finished()))
    }
  }

  /// `ID`, `ID=ROUTE`, `ID=ROUTE/VALUE` or `ID=URI`, with `@HOST`.
  static func page(
    _ text: String, style: Style = .push, exts: ValueObject = [:]
  ) throws -> Page {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    let parts = halves[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let id = parts.first, !id.isEmpty, halves.count <= 2 else { throw Malformed(text: text) }
    let place = parts.count > 1 ? String(parts[1]) : String(id)
    let host = halves.count > 1 ? String(halves[1]) : "native"
    switch reference(place.contains(":") ? place : "page://\(place)") {
    case .route(let name, let pathParams):
      return Page(
        id: String(id), uri: "page://\(place)", route: name, pathParams: pathParams, style: style,
        exts: exts, host: host)
    default:
      return Page(id: String(id), uri: place, route: nil, style: style, exts: exts, host: host)
    }
  }

  /// A page id, or a URI: `page://ROUTE` and `page://ROUTE/VALUE` are declared routes.
  static func reference(_ text: String) -> PageReference {
    guard text.contains(":") else { return .page(text) }
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
