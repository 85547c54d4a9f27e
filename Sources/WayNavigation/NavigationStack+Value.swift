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
  /// The stack as clients see it, `{tabs?, selected?, pages}`, bottom first; a modal stack lies
  /// under `pages` of the page that presents it. Each of the tabs is `{uri, pages?}`, with the
  /// pages of one that waits; `uris` are the tabs' own. `told` is what is told of a page.
  package func value(
    tabs uris: [String], _ told: (Page) -> ValueObject = \.value
  ) -> Value {
    var stack: ValueObject = [:]
    if !uris.isEmpty {
      stack["tabs"] = .list(
        uris.enumerated().map { index, uri in
          var tab: ValueObject = ["uri": .string(uri)]
          if let waiting = beside.first(where: { $0.tab == index }) {
            tab["pages"] = .list(waiting.pages.map { .object(told($0)) })
          }
          return .object(tab)
        })
      stack["selected"] = selected.map { .integer(Int64($0)) } ?? .null
    }
    stack["pages"] = nested(told)
    return .object(stack)
  }

  private func nested(_ told: (Page) -> ValueObject) -> Value {
    var level = pages.last?.level ?? 0
    var topFirst: [Value] = []
    for page in pages.reversed() {
      var object = told(page)
      if page.level < level {
        object["pages"] = .list(topFirst.reversed())
        topFirst = []
        level = page.level
      }
      topFirst.append(.object(object))
    }
    return .list(topFirst.reversed())
  }
}
