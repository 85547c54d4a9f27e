import WayValues

/// What `to`, `before`, `contains` and `popTo` name a page by.
///
/// Over the wire a text with a colon is a URI, any other a page id or the name of a route; who
/// resolves a URI knows the routes, the stack does not.
package enum PageReference: Sendable, Equatable {
  /// The page with this id.
  case page(String)
  /// The page with this id; where there is none, the nearest from the top of the route of this
  /// name.
  case named(String)
  /// The nearest page from the top with this route and equal path parameters.
  case route(name: String, pathParams: ValueObject)
  /// The nearest page from the top that belongs to no declared route and has this URI. Query,
  /// fragment, one trailing slash, and the case of scheme and authority do not count.
  case uri(String)
}

extension PageReference: CustomStringConvertible {
  package var description: String {
    switch self {
    case .page(let id): "page '\(id)'"
    case .named(let name): "a page with the id or of the route '\(name)'"
    case .route(let name, let pathParams):
      pathParams.isEmpty
        ? "a page of route '\(name)'" : "a page of route '\(name)' with these path parameters"
    case .uri(let uri): "a page with the URI '\(uri)'"
    }
  }
}

extension Page {
  /// What a `popTo` of this page looks for.
  package var reference: PageReference {
    if let route { .route(name: route, pathParams: pathParams) } else { .uri(uri) }
  }
}

extension NavigationStack {
  /// The page that is meant, or nil if none on the stack is. Those that are shown come before those
  /// of other tabs.
  package func contains(_ reference: PageReference) -> Page? {
    if let index = index(of: reference) { return pages[index] }
    if case .named(let id) = reference, let page = pageBeside(id) { return page }
    for tab in beside {
      if let index = Self.index(of: reference, in: tab.pages) { return tab.pages[index] }
    }
    return nil
  }

  /// The place of the page that is meant among those that are shown.
  func index(of reference: PageReference) -> Int? {
    // An id goes before a name, wherever its page is.
    if case .named(let id) = reference, pageBeside(id) != nil { return nil }
    return Self.index(of: reference, in: pages)
  }

  private func pageBeside(_ id: String) -> Page? {
    guard !beside.isEmpty else { return nil }
    return beside.lazy.flatMap(\.pages).first { $0.id.isSameUTF8(as: id) }
  }

  private static func index(of reference: PageReference, in pages: [Page]) -> Int? {
    switch reference {
    case .page(let id):
      return pages.lastIndex { $0.id.isSameUTF8(as: id) }
    case .named(let name):
      return pages.lastIndex { $0.id.isSameUTF8(as: name) }
        ?? pages.lastIndex { $0.route.map { $0.isSameUTF8(as: name) } == true }
    case .route(let name, let pathParams):
      return pages.lastIndex { page in
        page.route.map { $0.isSameUTF8(as: name) } == true && page.pathParams == pathParams
      }
    case .uri(let uri):
      let wanted = comparable(uri)
      return pages.lastIndex { $0.route == nil && comparable($0.uri) == wanted }
    }
  }

  /// The bytes by which URIs without a route are compared.
  private static func comparable(_ uri: String) -> [UInt8] {
    let question = UInt8(ascii: "?")
    let hash = UInt8(ascii: "#")
    let slash = UInt8(ascii: "/")
    var bytes = Array(uri.utf8.prefix { $0 != question && $0 != hash })
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return bytes }
    var path = colon + 1
    if bytes[path...].starts(with: [slash, slash]) {
      path = bytes[(path + 2)...].firstIndex(of: slash) ?? bytes.endIndex
    }
    for index in 0..<path where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
      bytes[index] |= 0x20
    }
    if bytes.endIndex > path, bytes.last == slash { bytes.removeLast() }
    return bytes
  }
}
