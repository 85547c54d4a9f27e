import WayValues

/// An opened page: one instance of a route, told apart from others of the same route by its id.
public struct Page: Sendable {
  /// What does not change, so that a page is handed on as one reference.
  fileprivate final class Content: Sendable {
    let id: String
    let uri: String
    let route: String?
    let pathParams: ValueObject
    let kind: String
    let params: ValueObject
    let exts: ValueObject
    let host: String

    init(
      id: String, uri: String, route: String?, pathParams: ValueObject, kind: String,
      params: ValueObject, exts: ValueObject, host: String
    ) {
      self.id = id
      self.uri = uri
      self.route = route
      self.pathParams = pathParams
      self.kind = kind
      self.params = params
      self.exts = exts
      self.host = host
    }
  }

  fileprivate let content: Content
  /// How the page was opened. The stack sets what it came to: a `popTo` that found nothing
  /// was a `push`.
  public internal(set) var style: Style
  /// The modal stack that the page is in: 0 is the bottom one. Set by the stack.
  public internal(set) var level: Int
  /// False for a modal that was presented without a stack of its own: a push from it is presented
  /// over it. Set by the stack.
  public internal(set) var hasStack: Bool

  /// A page that is about to be opened; with a level, one that was.
  package init(
    id: String, uri: String, route: String?, pathParams: ValueObject = [:], kind: String = "page",
    style: Style = .push, params: ValueObject = [:], exts: ValueObject = [:], host: String,
    level: Int = 0, hasStack: Bool = true
  ) {
    content = Content(
      id: id, uri: uri, route: route, pathParams: pathParams, kind: kind, params: params,
      exts: exts, host: host)
    self.style = style
    self.level = level
    self.hasStack = hasStack
  }

  /// Unique in the session; never contains a colon, by which a reference is told to be a URI.
  public var id: String { content.id }
  /// The URI as it was asked for.
  public var uri: String { content.uri }
  /// The name of the declared route; nil where no declared route matched.
  public var route: String? { content.route }
  /// What the route's pattern captured from the URI.
  public var pathParams: ValueObject { content.pathParams }
  /// The kind of the route, as the table names it.
  public var kind: String { content.kind }
  /// The business parameters: query, path and caller's, merged.
  public var params: ValueObject { content.params }
  /// What is no business of the page (`animated`, `navigation`, `pop`, …), as it came.
  public var exts: ValueObject { content.exts }
  /// The client that shows the page; opaque here.
  public var host: String { content.host }
}

extension Page: Hashable {
  public static func == (left: Page, right: Page) -> Bool {
    left.style == right.style && left.level == right.level && left.hasStack == right.hasStack
      && left.content == right.content
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(content.id)
    hasher.combine(style)
  }
}

extension Page.Content: Equatable {
  static func == (left: Page.Content, right: Page.Content) -> Bool {
    left === right
      || left.id == right.id && left.uri == right.uri && left.route == right.route
        && left.pathParams == right.pathParams && left.kind == right.kind
        && left.params == right.params && left.exts == right.exts && left.host == right.host
  }
}
