import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// A session whose pages are named as in `protocol/navigation.json`. One client opens them; hosts
/// show them.
final class NavigationFixture {
  /// The effects of one operation that clients observe, in the names of the table.
  struct NavigationObservation: Equatable, Sendable {
    var closed: [String] = []
    var outcomes: [String: String] = [:]
    var data: [String: Value] = [:]
    var shown: [String]?
    var opened: [[String]] = []
    /// The pages of `page.resume`, in order, each with the parameters and `exts` that it gets.
    var resumed: [[Value]] = []
    var found: String?
    var error: String?
  }

  private let driver: WireClient
  private var hosts: [String: WireClient] = [:]
  private var clientNames: [String: String] = [:]
  /// The server's ids by the table's ids, and the reverse mapping.
  private var serverIDs: [String: Value] = [:]
  private var tableNames: [Value: String] = [:]
  /// The name of the page that is being opened.
  private var openingPage = ""
  /// The names of the pages that an edit opens and whose hosts are not asked yet.
  private var editedPages: [String] = []
  private var pingCount: Int64 = 0
  private var observation = NavigationObservation()
  /// The response to the operation.
  private var operationResponse: Value?
  /// The reasons with which hosts were requested to close pages.
  private var closeReasons: [String: String] = [:]

  init(_ stack: String, _ uris: [String], tabs: [String]) async throws {
    let router = Router()
    for name in Set(uris.compactMap(Self.routeName)).sorted() {
      try router.register(
        Route(
          name: name,
          patterns: [RoutePattern("page://\(name)"), RoutePattern("page://\(name)/:id")],
          kind: .page))
    }
    try router.setTabs(try tabs.map { try RouteURI($0) })
    let bridge = InMemoryBridge(router)
    driver = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
    try await driver.call("hello", "session.open", [:])
    let session = try #require(try await driver.response("hello")["result"])
    let join: Value = [
      "session": session["session"] ?? .null, "token": session["joinToken"] ?? .null,
    ]
    let pages = try StackDescription(stack).sections.flatMap(\.pages)
    for host in Set(pages.map(\.host) + ["native"]).sorted() {
      let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
      let patterns = pages.filter { $0.host == host }.map { Value.string($0.uri) }
      let own: Value =
        host == "native"
        ? [["scheme": "page", "kind": "page"], ["scheme": "http", "kind": "page"]]
        : [["patterns": .array(patterns), "kind": "page"]]
      try await client.call("hello", "session.open", ["join": join, "hosts": own])
      let response = try #require(try await client.response("hello")["result"])
      clientNames[try #require(response["client"]?.string)] = host
      hosts[host] = client
    }
  }

  private static func routeName(_ uri: String) -> String? {
    guard uri.hasPrefix("page://") else { return nil }
    return uri.dropFirst("page://".count).prefix { $0 != "?" }.split(separator: "/").first
      .map(String.init)
  }

  /// Opens the pages of the notation, those of background tabs first.
  func build(_ text: String) async throws {
    for part in try StackDescription(text).sections.reversed() {
      var style = part.tab == nil ? "push" : "tab"
      for page in part.pages {
        if page.modalBracket != nil { style = "present" }
        try await open(
          page, style: style, exts: page.modalBracket == "(" ? ["navigation": false] : [:])
        style = "push"
      }
      if let tab = part.tab, part.pages.isEmpty {
        openingPage = "gone"
        _ = try await requestOperation("navigation.selectTab", ["index": .integer(Int64(tab))])
        _ = try await requestOperation("navigation.finish", ["page": serverIDs["gone"] ?? .null])
      }
    }
    #expect(try await stack() == Self.normalizedStack(text))
  }

  /// Performs the operation of a row and returns what the clients observed.
  func perform(_ operation: Value) async throws -> NavigationObservation {
    observation = NavigationObservation()
    closeReasons = [:]
    if let arguments = operation["open"] {
      let page = try StackDescription.NotatedPage(try #require(arguments["page"]?.string))
      var exts = arguments["exts"]?.object ?? [:]
      if let target = exts["pop"]?["to"]?.string { exts["pop"] = ["to": pageReference(target)] }
      try await open(
        page, style: arguments["style"]?.string ?? "push", params: arguments["params"] ?? [:],
        exts: .object(exts))
    } else if let arguments = operation["cancel"] {
      try await driver.notify(
        "$/cancelRequest", ["id": .string(try #require(arguments["page"]?.string))])
      try await drainMessages()
    } else if let arguments = operation["hostGone"] {
      try await hosts.removeValue(forKey: try #require(arguments["host"]?.string))?.close()
      try await drainMessages()
    } else {
      try await performClientOperation(operation)
    }
    for (id, reason) in closeReasons {
      #expect(observation.outcomes[id] == reason, "page.close of \(id)")
    }
    return observation
  }

  private func performClientOperation(_ operation: Value) async throws {
    if let reference = operation["contains"]?.string {
      let page = try await requestOperation(
        "navigation.contains", ["uri": self.pageReference(reference)])
      observation.found = page?["id"].flatMap { tableNames[$0] } ?? "nothing"
      return
    }
    var changed: Value?
    if let back = operation["back"]?.object {
      var params = back
      for name in ["to", "before"] {
        if let text = back[name]?.string { params[name] = pageReference(text) }
      }
      changed = try await requestOperation("navigation.back", .object(params))
    } else if let finish = operation["finish"]?.object {
      var params = finish
      params["page"] = pageReference(try #require(finish["page"]?.string))
      changed = try await requestOperation("navigation.finish", .object(params))
    } else if let edit = operation["edit"]?.object {
      let pages = edit["open"]?.array ?? []
      editedPages = pages.compactMap { $0["page"]?.string?.split(separator: "=").first }
        .map(String.init)
      changed = try await requestOperation("navigation.edit", .object(try params(of: edit)))
      editedPages = []
    } else if let select = operation["select"] {
      openingPage = select["page"]?.string ?? ""
      var params = select["params"]?.object ?? [:]
      params["index"] = select["tab"]
      if params.count == 1, select["exts"] == nil {
        changed = try await requestOperation("navigation.selectTab", .object(params))
      } else {
        changed = try await requestOperation(
          "router.invoke",
          [
            "uri": "navigation:selectTab", "params": .object(params),
            "exts": select["exts"] ?? [:],
          ])
      }
    }
    guard observation.error == nil else { return }
    let result = try #require(changed)
    #expect(result["closed"]?.array?.map { tableNames[$0] } == observation.closed)
  }

  /// Returns the params of `navigation.edit` for the operation of a row.
  private func params(of edit: ValueObject) throws -> ValueObject {
    var params = ValueObject()
    if var remove = edit["remove"]?.object {
      for name in ["page", "from", "through", "above"] {
        if let text = remove[name]?.string { remove[name] = pageReference(text) }
      }
      params["remove"] = .object(remove)
    }
    if let pages = edit["open"]?.array {
      params["open"] = .array(
        try pages.map { page in
          var members = page.object ?? [:]
          let text = try #require(members["page"]?.string)
          members["page"] = nil
          members["uri"] = .string(try StackDescription.NotatedPage(text).uri)
          return .object(members)
        })
    }
    return params
  }

  private func pageReference(_ text: String) -> Value {
    text.contains(":") ? .string(text) : serverIDs[text] ?? .string(text)
  }

  private func open(
    _ page: StackDescription.NotatedPage, style: String, params: Value = [:], exts: Value
  ) async throws {
    openingPage = page.id
    try await driver.call(
      .string(page.id), "router.open",
      ["uri": .string(page.uri), "params": params, "style": .string(style), "exts": exts])
    try await drainMessages()
  }

  /// Returns the parameters of a page on the stack.
  func params(of page: Value) async throws -> Value? {
    let id = page.string.flatMap { serverIDs[$0] } ?? .null
    return try await requestOperation("navigation.contains", ["uri": id])?["params"]
  }

  private func requestOperation(_ method: String, _ params: Value) async throws -> Value? {
    operationResponse = nil
    try await driver.call("operation", method, params)
    try await drainMessages()
    let response = try #require(operationResponse, "\(method) is not answered")
    observation.error = response["error"].map { $0["data"]?["kind"]?.string ?? "?" }
    return response["result"]
  }

  /// Receives the messages of every client until none is left.
  private func drainMessages() async throws {
    var isQuiet = false
    while !isQuiet {
      isQuiet = try await receiveMessages(from: driver)
      for (_, host) in hosts.sorted(by: { $0.key < $1.key }) {
        if try await !receiveMessages(from: host) { isQuiet = false }
      }
    }
  }

  /// Returns whether there was no message.
  private func receiveMessages(from client: WireClient) async throws -> Bool {
    pingCount += 1
    try await client.call(.integer(pingCount), "$/ping", [:])
    var isQuiet = true
    while true {
      let message = try await client.nextMessage()
      if message["id"] == .integer(pingCount), message["method"] == nil { return isQuiet }
      isQuiet = false
      try await handle(message, client)
    }
  }

  private func handle(_ message: Value, _ client: WireClient) async throws {
    switch message["method"]?.string {
    case "page.open":
      let page = try #require(message["params"]?["page"])
      let id = try #require(page["id"])
      let style = try #require(page["style"]?.string)
      if editedPages.isEmpty {
        observation.shown = [openingPage, style]
      } else {
        openingPage = editedPages.removeFirst()
        observation.opened.append([openingPage, style])
      }
      serverIDs[openingPage] = id
      tableNames[id] = openingPage
      try await client.respond(message, .null)
    case "page.close":
      let id = try #require(message["params"]?["page"])
      closeReasons[try #require(tableNames[id])] = message["params"]?["reason"]?.string
      try await client.respond(message, .null)
    case "page.resume":
      let params = message["params"]
      let page = try #require(params?["page"].flatMap { tableNames[$0] })
      observation.resumed.append([
        .string(page), params?["params"] ?? .null, params?["exts"] ?? .null,
      ])
    case nil: try handleResponse(message)
    default: break
    }
  }

  private func handleResponse(_ message: Value) throws {
    guard let id = message["id"]?.string, id != "operation" else {
      operationResponse = message
      return
    }
    guard let outcome = message["result"] else {
      observation.error = message["error"]?["data"]?["kind"]?.string ?? "?"
      return
    }
    observation.closed.append(id)
    observation.outcomes[id] = outcome["outcome"]?.string
    if let data = outcome["data"], data != .null { observation.data[id] = data }
  }

  /// Returns the stack in the notation of the table, with every modal in `[ ]`.
  func stack() async throws -> String {
    let view = try #require(try await requestOperation("navigation.stack", [:]))
    let tabs = try #require(view["tabs"]?.array)
    let selected = view["selected"]?.integer.map(Int.init)
    var parts = [stackText(view["pages"], tab: selected)]
    for (index, tab) in tabs.enumerated() where tab["pages"] != nil {
      parts.append(stackText(tab["pages"], tab: index))
    }
    return parts.joined(separator: " / ")
  }

  /// Returns what ``stack()`` returns for a notation: ids only, because the wire does not
  /// distinguish a modal without a stack from one with a stack.
  static func normalizedStack(_ notation: String) -> String {
    notation.split(separator: " ").map { word in
      let closers = word.reversed().prefix { "])".contains($0) }.map { _ in "]" }.joined()
      let start = word.prefix { "[(".contains($0) }.map { _ in "[" }.joined()
      let id = word.drop { "[(".contains($0) }.prefix { !"=@])".contains($0) }
      return start + id + closers
    }.joined(separator: " ")
  }

  private func stackText(_ pages: Value?, tab: Int?) -> String {
    var words = tab.map { ["\($0):"] } ?? []
    for page in pages?.array ?? [] {
      words.append(page["id"].flatMap { tableNames[$0] } ?? "?")
      if let modal = page["pages"] { words.append("[" + stackText(modal, tab: nil) + "]") }
    }
    return words.joined(separator: " ")
  }
}
