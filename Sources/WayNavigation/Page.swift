import WayValues

/// An opened page: one instance of a route, told apart from others of the same route by its id.
public struct Page: Sendable, Hashable {
  /// Unique in the session; never contains a colon, by which a reference is told to be a URI.
  public let id: String
  /// The URI as it was asked for.
  public let uri: String
  /// The name of the declared route; nil where no declared route matched.
  public let route: String?
  /// What the route's pattern captured from the URI.
  public let pathParams: ValueObject
  /// The kind of the route, as the table names it.
  public let kind: String
  /// How the page was opened. The stack sets what it came to: a `popTo` that found nothing
  /// was a `push`.
  public internal(set) var style: Style
  /// The business parameters: query, path and caller's, merged.
  public let params: ValueObject
  /// What is no business of the page (`animated`, `navigation`, `pop`, …), as it came.
  public let exts: ValueObject
  /// The client that shows the page; opaque here.
  public let host: String
  /// The modal stack that the page is in: 0 is the bottom one. Set by the stack.
  public internal(set) var level = 0
  /// False for a modal that was presented without a stack of its own: a push from it is presented
  /// over it. Set by the stack.
  public internal(set) var hasStack = true

  /// A page that is about to be opened; with a level, one that was.
  package init(
    id: String, uri: String, route: String?, pathParams: ValueObject = [:], kind: String = "page",
    style: Style = .push, params: ValueObject = [:], exts: ValueObject = [:], host: String,
    level: Int = 0, hasStack: Bool = true
  ) {
    self.id = id
    self.uri = uri
    self.route = route
    self.pathParams = pathParams
    self.kind = kind
    self.style = style
    self.params = params
    self.exts = exts
    self.host = host
    self.level = level
    self.hasStack = hasStack
  }
}
