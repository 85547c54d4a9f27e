import WayValues

/// An opened page: one instance of a route, distinguished from others of the same route by its id.
public struct Page: Sendable {
  /// The constant properties, so that a page is passed on as one reference.
  fileprivate final class PageStorage: Sendable {
    let id: String
    let uri: String
    let calledURI: String?
    let route: String?
    let pathParams: ValueObject
    let kind: String
    let params: ValueObject
    let exts: ValueObject
    let host: String

    init(
      id: String, uri: String, calledURI: String?, route: String?, pathParams: ValueObject,
      kind: String, params: ValueObject, exts: ValueObject, host: String
    ) {
      self.id = id
      self.uri = uri
      self.calledURI = calledURI
      self.route = route
      self.pathParams = pathParams
      self.kind = kind
      self.params = params
      self.exts = exts
      self.host = host
    }
  }

  fileprivate let storage: PageStorage
  /// The style with which the page was opened. The stack sets the effective one: a `popTo` that
  /// found nothing was a `push`.
  public internal(set) var style: Style
  /// The modal stack that the page is in: 0 is the bottom one. Set by the stack.
  public internal(set) var level: Int
  /// Whether the page has a stack. `false` for a modal that was presented without one: a push from
  /// it is presented over it. Set by the stack.
  public internal(set) var hasStack: Bool

  /// Creates a page that is about to be opened; with a level, one that was. `calledURI` is `nil` if
  /// it is the same as `uri`.
  package init(
    id: String, uri: String, calledURI: String? = nil, route: String?,
    pathParams: ValueObject = [:], kind: String = "page", style: Style = .push,
    params: ValueObject = [:], exts: ValueObject = [:], host: String, level: Int = 0,
    hasStack: Bool = true
  ) {
    storage = PageStorage(
      id: id, uri: uri, calledURI: calledURI, route: route, pathParams: pathParams, kind: kind,
      params: params, exts: exts, host: host)
    self.style = style
    self.level = level
    self.hasStack = hasStack
  }

  /// The id, unique in the session. It never contains a colon, which distinguishes it from a URI.
  public var id: String { storage.id }
  /// The URI that the call resolved to, after redirects and fallbacks.
  public var uri: String { storage.uri }
  /// The URI that the page was opened with, before redirects and fallbacks.
  package var calledURI: String { storage.calledURI ?? storage.uri }
  /// ``calledURI``, if it is another one than ``uri``.
  package var otherCalledURI: String? { storage.calledURI }
  /// The name of the declared route; `nil` if no declared route matched.
  public var route: String? { storage.route }
  /// The values that the route's pattern captured from the URI.
  public var pathParams: ValueObject { storage.pathParams }
  /// The kind of the route, as in the table.
  public var kind: String { storage.kind }
  /// The business parameters: query, path and the caller's, merged.
  public var params: ValueObject { storage.params }
  /// The options that are no business data (`animated`, `navigation`, `pop`, …), as they were sent.
  public var exts: ValueObject { storage.exts }
  /// The id of the client that shows the page; opaque here.
  public var host: String { storage.host }
}

extension Page: Hashable {
  public static func == (left: Page, right: Page) -> Bool {
    left.style == right.style && left.level == right.level && left.hasStack == right.hasStack
      && left.storage == right.storage
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(storage.id)
    hasher.combine(style)
  }
}

extension Page.PageStorage: Equatable {
  static func == (left: Page.PageStorage, right: Page.PageStorage) -> Bool {
    left === right
      || left.id == right.id && left.uri == right.uri && left.calledURI == right.calledURI
        && left.route == right.route && left.pathParams == right.pathParams
        && left.kind == right.kind
        && left.params == right.params && left.exts == right.exts && left.host == right.host
  }
}
