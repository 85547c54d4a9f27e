import WayRPC
import WayRouting
import WayValues

/// What `navigation.selectTab` asks for.
enum TabRequest {
  case index(Int)
  case uri(String)

  init(_ params: MethodParams) throws(RPCError) {
    switch (try params.count("index"), try params.optionalString("uri")) {
    case (let index?, nil): self = .index(index)
    case (nil, let uri?): self = .uri(uri)
    default: throw .invalidParams("params: give one of index and uri")
    }
  }

  /// Reads `navigation:selectTab?index=1`: a route's parameters are strings.
  init(selectBy params: ValueObject) throws(RPCError) {
    var typed = params
    if case .string(let text)? = params["index"], let index = Int64(text) {
      typed["index"] = .integer(index)
    }
    try self.init(
      MethodParams(Request(id: .null, method: "navigation:selectTab", params: .object(typed))))
  }
}

extension Session {
  /// Selects a tab, in its turn, and answers the call with `{page, closed}`. The host of the tab's first page is asked
  /// for it where the tab has none.
  func select(
    _ request: TabRequest, _ entry: Entry, _ caller: Caller
  ) throws(RPCError) -> Reply {
    let tab = try index(of: request)
    if stack.hasPages(tab: tab) {
      change(.select(tab: tab, first: nil), entry, try begin(caller, deadline: nil))
      return .later
    }
    let uri = routes.current().tabs[tab].text
    guard try resolve(uri, [:]).routeKind == .page else {
      throw RPCError(.wrongKind, "\(uri.quoted), the first page of tab \(tab), is no page")
    }
    return try proceed(
      try look(up: uri, [:]), entry, CallOptions(style: .tab, tab: tab, answersChange: true), caller
    )
  }

  /// The tab that a page with the style `tab` is the first of.
  func tab(of destination: Destination) throws(RPCError) -> Int {
    let reference =
      destination.route.map { .route(name: $0.name, pathParams: destination.pathParams) }
      ?? PageReference.uri(destination.uri.text)
    return try tab(of: reference, destination.uri.text)
  }

  private func index(of request: TabRequest) throws(RPCError) -> Int {
    switch request {
    case .uri(let uri): return try tab(of: reference(uri), uri)
    case .index(let index):
      let count = routes.current().tabs.count
      guard index < count else {
        throw RPCError(
          .noRoute, "There is no tab \(index): the table has \(count)", kind: "noTab")
      }
      return index
    }
  }

  private func tab(of wanted: PageReference, _ uri: String) throws(RPCError) -> Int {
    for (index, tab) in routes.current().tabs.enumerated() where reference(tab.text) == wanted {
      return index
    }
    throw RPCError(.noRoute, "\(uri.quoted) is the first page of no tab", kind: "noTab")
  }
}
