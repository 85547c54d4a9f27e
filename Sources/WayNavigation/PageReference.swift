import WayValues

/// A reference to a page in `to`, `before`, `contains`, `popTo` and `exts.pop`.
///
/// In messages a string with a colon is a URI, and any other a page id or the name of a route.
/// Resolving a URI needs the routes, which the stack does not know.
package enum PageReference: Sendable, Equatable {
  /// The page with this id.
  case page(String)
  /// The page with this id; if there is none, the nearest from the top of the route with this name.
  case named(String)
  /// The page that a URI means.
  indirect case uri(PageURI)
}

extension PageReference {
  /// Returns the text of a reference `{"to": reference}` in `exts.pop`; `nil` for any other object.
  package static func popTarget(_ target: ValueObject) -> String? {
    guard target.count == 1, let text = target["to"]?.string else { return nil }
    return text
  }
}

/// A URI that means a page, with what it resolves to now. It means
///
/// 1. the nearest page from the top that was opened with this URI, before redirects;
/// 2. otherwise the nearest page that was opened with a URI which resolved to this one, or to the
///    one that this one resolves to;
/// 3. otherwise the nearest page with the same route and equal path parameters.
///
/// A page stays reachable by the first two if the routes have changed since it was opened.
package struct PageURI: Sendable, Equatable {
  /// The URI before redirects.
  package let called: String
  /// The URI after redirects.
  package let resolved: String
  /// The name of the declared route that it resolves to; `nil` if there is none.
  package let route: String?
  /// The values that the route's pattern captures.
  package let pathParams: ValueObject

  /// Creates a reference; `resolved` is `nil` if the URI has no redirect or cannot be resolved.
  package init(
    _ called: String, resolved: String? = nil, route: String? = nil, pathParams: ValueObject = [:]
  ) {
    self.called = called
    self.resolved = resolved ?? called
    self.route = route
    self.pathParams = pathParams
  }

  /// Whether two URIs mean the same page.
  package func isSamePage(as other: PageURI) -> Bool {
    let uris = NavigationURI(resolved)
    if uris.isEqual(to: other.resolved) || uris.isEqual(to: other.called) { return true }
    if NavigationURI(called).isEqual(to: other.called) { return true }
    return isSameRoute(other.route, other.pathParams)
  }

  fileprivate func isSameRoute(_ otherRoute: String?, _ otherParams: ValueObject) -> Bool {
    guard let route, let otherRoute, route.isSameUTF8(as: otherRoute) else { return false }
    return pathParams == otherParams
  }

  /// Returns the index of the page that the URI means.
  fileprivate func index(in pages: [Page]) -> Int? {
    guard !pages.isEmpty else { return nil }
    let calledKey = NavigationURI(called)
    if let index = pages.lastIndex(where: { calledKey.isEqual(to: $0.calledURI) }) { return index }
    let resolvedKey = called.isSameUTF8(as: resolved) ? calledKey : NavigationURI(resolved)
    return pages.lastIndex { resolvedKey.isEqual(to: $0.uri) || calledKey.isEqual(to: $0.uri) }
      ?? pages.lastIndex { isSameRoute($0.route, $0.pathParams) }
  }
}

extension PageReference: CustomStringConvertible {
  package var description: String {
    switch self {
    case .page(let id): "page \"\(id)\""
    case .named(let name): "a page with the id or the route \"\(name)\""
    case .uri(let uri): "a page with the URI \"\(uri.called)\""
    }
  }
}

extension Page {
  /// The reference that a `popTo` of this page resolves.
  package var reference: PageReference {
    .uri(PageURI(calledURI, resolved: uri, route: route, pathParams: pathParams))
  }
}

extension NavigationStack {
  /// Returns the page of a reference, or `nil` if it is not on the stack. Pages that are shown come
  /// before those of other tabs.
  package func find(_ reference: PageReference) -> Page? {
    if let index = index(of: reference) { return pages[index] }
    return backgroundPlace(of: reference)?.page
  }

  /// The place of a page of a tab in the background.
  struct BackgroundPlace {
    let tab: Int
    /// The index of the page among those of the tab.
    let index: Int
    let page: Page
    /// The number of pages of the tab.
    let count: Int
  }

  /// Returns the place of the page of a reference among those of the tabs in the background; `nil` if
  /// it is not there. Does not look among the pages that are shown.
  func backgroundPlace(of reference: PageReference) -> BackgroundPlace? {
    guard !backgroundTabs.isEmpty else { return nil }
    // An id has precedence over a name, in any tab.
    if case .named(let id) = reference, let place = backgroundPlace(of: .page(id)) { return place }
    for tab in backgroundTabs {
      guard let index = Self.index(of: reference, in: tab.pages) else { continue }
      return BackgroundPlace(
        tab: tab.tab, index: index, page: tab.pages[index], count: tab.pages.count)
    }
    return nil
  }

  /// Returns the index of the page of a reference among those that are shown.
  func index(of reference: PageReference) -> Int? {
    // An id has precedence over a name, in any tab.
    if case .named(let id) = reference, backgroundPlace(of: .page(id)) != nil { return nil }
    return Self.index(of: reference, in: pages)
  }

  static func index(of reference: PageReference, in pages: [Page]) -> Int? {
    switch reference {
    case .page(let id):
      return pages.lastIndex { $0.id.isSameUTF8(as: id) }
    case .named(let name):
      return pages.lastIndex { $0.id.isSameUTF8(as: name) }
        ?? pages.lastIndex { $0.route.map { $0.isSameUTF8(as: name) } == true }
    case .uri(let uri):
      return uri.index(in: pages)
    }
  }
}
