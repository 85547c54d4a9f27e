import WayValues

extension Page {
  /// The page as clients see it: `{id, uri, route, kind, style, params, host}`.
  package var value: ValueObject {
    var object = ValueObject()
    object.reserveCapacity(8)
    object["id"] = .string(id)
    object["uri"] = .string(uri)
    object["route"] = route.map(Value.string) ?? .null
    object["kind"] = .string(kind)
    object["style"] = .string(style.rawValue)
    object["params"] = .object(params)
    object["host"] = .string(host)
    return object
  }
}

extension NavigationStack {
  /// The stack as clients see it, `{pages: […]}`, bottom first; a modal stack lies under `pages` of
  /// the page that presents it.
  package var value: Value {
    var level = pages.last?.level ?? 0
    var topFirst: [Value] = []
    for page in pages.reversed() {
      var object = page.value
      if page.level < level {
        object["pages"] = .list(topFirst.reversed())
        topFirst = []
        level = page.level
      }
      topFirst.append(.object(object))
    }
    return ["pages": .list(topFirst.reversed())]
  }
}
