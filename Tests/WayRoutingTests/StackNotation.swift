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
    var opening: Character?
    for token in description.split(separator: " ") {
      var text = token
      if let first = text.first, first == "[" || first == "(" {
        opening = first
        text.removeFirst()
      }
      while let last = text.last, last == "]" || last == ")" { text.removeLast() }
      let page = try Self.page(
        String(text), style: opening == nil ? .push : .present,
        exts: opening == "(" ? ["navigation": false] : [:])
      _ = try stack.apply(.open(page))
      opening = nil
    }
    return stack
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
    var text = ""
    var closers: [Character] = []
    var level = 0
    for page in stack.pages {
      if !text.isEmpty { text += " " }
      if page.level > level {
        text += page.hasStack ? "[" : "("
        closers.append(page.hasStack ? "]" : ")")
        level = page.level
      }
      text += page.id
    }
    description = text + String(closers.reversed())
  }

  init(_ text: String) {
    description = text
  }
}
