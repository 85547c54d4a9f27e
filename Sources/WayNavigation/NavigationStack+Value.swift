import WayValues

extension Page {
  /// The page as clients receive it: `{id, uri, route, kind, style, params, host}`.
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
  /// Returns the stack as clients receive it, `{tabs?, selected?, pages}`, bottom first; a modal
  /// stack is in `pages` of the page that presents it. Each of the tabs is `{uri, pages?}`, with
  /// the pages of one in the background. `uris` are the URIs of the tabs; `describe` returns the
  /// members of a page. Tabs of an earlier table that have pages follow those of the table, with the
  /// URI that selects them.
  package func value(
    tabs uris: [String], _ describe: (Page) -> ValueObject = \.value
  ) -> Value {
    var stack: ValueObject = [:]
    let lastTab = max(selected ?? -1, backgroundTabs.last?.tab ?? -1)
    let tabs =
      uris
      + (0..<lastTab + 1).dropFirst(uris.count).map {
        "navigation:selectTab?index=\($0)"
      }
    if !tabs.isEmpty {
      stack["tabs"] = .array(
        tabs.enumerated().map { index, uri in
          var tab: ValueObject = ["uri": .string(uri)]
          if let waiting = backgroundTabs.first(where: { $0.tab == index }) {
            tab["pages"] = .array(waiting.pages.map { .object(describe($0)) })
          }
          return .object(tab)
        })
      stack["selected"] = selected.map { .integer(Int64($0)) } ?? .null
    }
    stack["pages"] = nested(describe)
    return .object(stack)
  }

  private func nested(_ describe: (Page) -> ValueObject) -> Value {
    var level = pages.last?.level ?? 0
    var topFirst: [Value] = []
    for page in pages.reversed() {
      var object = describe(page)
      if page.level < level {
        object["pages"] = .array(topFirst.reversed())
        topFirst = []
        level = page.level
      }
      topFirst.append(.object(object))
    }
    return .array(topFirst.reversed())
  }
}
