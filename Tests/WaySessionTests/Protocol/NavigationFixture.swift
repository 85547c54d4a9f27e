import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// A session whose pages are named as in `protocol/navigation.json`: one client opens them, and
/// hosts show them.
final class NavigationFixture {
  /// What the clients saw of one operation, in the names of the table.
  struct NavigationObservation: Equatable, Sendable {
    var closed: [String] = []
    var outcomes: [String: String] = [:]
    var data: [String: Value] = [:]
    var shown: [String]?
    var resumed: String?
    var found: String?
    var error: String?
  }

  private let driver: WireClient
  private var hosts: [String: WireClient] = [:]
  private var clientNames: [String: String] = [:]
  /// The server's ids by the table's, and the other way round.
  private var served: [String: Value] = [:]
  private var named: [Value: String] = [:]
  /// The name of the page that is being opened.
  private var opening = ""
  private var pings: Int64 = 0
  private var seen = NavigationObservation()
  /// The answer to the operation.
  private var answer: Value?
  /// The reasons by which hosts were told to close pages.
  private var reasons: [String: String] = [:]

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
    let session = try #require(try await driver.answer("hello")["result"])
    let join: Value = [
      "session": session["session"] ?? .null, "token": session["joinToken"] ?? .null,
    ]
    let pages = try StackDescription(stack).parts.flatMap(\.pages)
    for host in Set(pages.map(\.host) + ["native"]).sorted() {
      let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
      let patterns = pages.filter { $0.host == host }.map { Value.string($0.uri) }
      let own: Value =
        host == "native"
        ? [["scheme": "page", "kind": "page"], ["scheme": "http", "kind": "page"]]
        : [["patterns": .list(patterns), "kind": "page"]]
      try await client.call("hello", "session.open", ["join": join, "hosts": own])
      let answer = try #require(try await client.answer("hello")["result"])
      clientNames[try #require(answer["client"]?.string)] = host
      hosts[host] = client
    }
  }

  private static func routeName(_ uri: String) -> String? {
    guard uri.hasPrefix("page://") else { return nil }
    return uri.dropFirst("page://".count).split(separator: "/").first.map(String.init)
  }

  /// Opens the pages of the notation, those of waiting tabs first.
  func build(_ text: String) async throws {
    for part in try StackDescription(text).parts.reversed() {
      var style = part.tab == nil ? "push" : "tab"
      for page in part.pages {
        if page.opening != nil { style = "present" }
        try await open(page, style: style, exts: page.opening == "(" ? ["navigation": false] : [:])
        style = "push"
      }
      if let tab = part.tab, part.pages.isEmpty {
        opening = "gone"
        _ = try await ask("navigation.selectTab", ["index": .integer(Int64(tab))])
        _ = try await ask("navigation.finish", ["page": served["gone"] ?? .null])
      }
    }
    #expect(try await stack() == Self.shownText(text))
  }

  /// Carries out the operation of a row and gives what the clients saw of it.
  func perform(_ operation: Value) async throws -> NavigationObservation {
    seen = NavigationObservation()
    reasons = [:]
    if let asked = operation["open"] {
      let page = try StackDescription.Page(try #require(asked["page"]?.string))
      try await open(page, style: asked["style"]?.string ?? "push", exts: asked["exts"] ?? [:])
    } else if let asked = operation["cancel"] {
      try await driver.notify(
        "$/cancelRequest", ["id": .string(try #require(asked["page"]?.string))])
      try await pump()
    } else if let asked = operation["hostGone"] {
      try await hosts.removeValue(forKey: try #require(asked["host"]?.string))?.close()
      try await pump()
    } else {
      try await askAsClient(operation)
    }
    for (id, reason) in reasons { #expect(seen.outcomes[id] == reason, "page.close of \(id)") }
    return seen
  }

  private func askAsClient(_ operation: Value) async throws {
    if let reference = operation["contains"]?.string {
      let page = try await ask("navigation.contains", ["uri": self.reference(reference)])
      seen.found = page?["id"].flatMap { named[$0] } ?? "nothing"
      return
    }
    var changed: Value?
    if let back = operation["back"]?.object {
      var params = back
      for name in ["to", "before"] {
        if let text = back[name]?.string { params[name] = reference(text) }
      }
      changed = try await ask("navigation.back", .object(params))
    } else if let finish = operation["finish"]?.object {
      var params = finish
      params["page"] = reference(try #require(finish["page"]?.string))
      changed = try await ask("navigation.finish", .object(params))
    } else if let select = operation["select"] {
      opening = select["page"]?.string ?? ""
      changed = try await ask("navigation.selectTab", ["index": select["tab"] ?? .null])
    }
    guard seen.error == nil else { return }
    let result = try #require(changed)
    #expect(result["closed"]?.list?.map { named[$0] } == seen.closed)
  }

  private func reference(_ text: String) -> Value {
    text.contains(":") ? .string(text) : served[text] ?? .string(text)
  }

  private func open(_ page: StackDescription.Page, style: String, exts: Value) async throws {
    opening = page.id
    try await driver.call(
      .string(page.id), "router.open",
      ["uri": .string(page.uri), "style": .string(style), "exts": exts])
    try await pump()
  }

  private func ask(_ method: String, _ params: Value) async throws -> Value? {
    answer = nil
    try await driver.call("operation", method, params)
    try await pump()
    let answer = try #require(answer, "\(method) is not answered")
    seen.error = answer["error"].map { $0["data"]?["kind"]?.string ?? "?" }
    return answer["result"]
  }

  /// Lets every client take what has come for it, until nothing comes any more.
  private func pump() async throws {
    var isQuiet = false
    while !isQuiet {
      isQuiet = try await take(from: driver)
      for (_, host) in hosts.sorted(by: { $0.key < $1.key }) {
        if try await !take(from: host) { isQuiet = false }
      }
    }
  }

  /// Whether nothing had come.
  private func take(from client: WireClient) async throws -> Bool {
    pings += 1
    try await client.call(.integer(pings), "$/ping", [:])
    var isQuiet = true
    while true {
      let message = try await client.message()
      if message["id"] == .integer(pings), message["method"] == nil { return isQuiet }
      isQuiet = false
      try await take(message, client)
    }
  }

  private func take(_ message: Value, _ client: WireClient) async throws {
    switch message["method"]?.string {
    case "page.open":
      let page = try #require(message["params"]?["page"])
      let id = try #require(page["id"])
      served[opening] = id
      named[id] = opening
      seen.shown = [opening, try #require(page["style"]?.string)]
      try await client.reply(message, .null)
    case "page.close":
      let id = try #require(message["params"]?["page"])
      reasons[try #require(named[id])] = message["params"]?["reason"]?.string
      try await client.reply(message, .null)
    case "page.resume":
      seen.resumed = message["params"]?["page"].flatMap { named[$0] }
    case nil: try takeAnswer(message)
    default: break
    }
  }

  private func takeAnswer(_ message: Value) throws {
    guard let id = message["id"]?.string, id != "operation" else {
      answer = message
      return
    }
    guard let outcome = message["result"] else {
      seen.error = message["error"]?["data"]?["kind"]?.string ?? "?"
      return
    }
    seen.closed.append(id)
    seen.outcomes[id] = outcome["outcome"]?.string
    if let data = outcome["data"], data != .null { seen.data[id] = data }
  }

  /// The stack in the notation of the table, where `[ ]` encloses every modal.
  func stack() async throws -> String {
    let view = try #require(try await ask("navigation.stack", [:]))
    let tabs = try #require(view["tabs"]?.list)
    let selected = view["selected"]?.integer.map(Int.init)
    var parts = [text(view["pages"], tab: selected)]
    for (index, tab) in tabs.enumerated() where tab["pages"] != nil {
      parts.append(text(tab["pages"], tab: index))
    }
    return parts.joined(separator: " / ")
  }

  /// What ``stack()`` gives for a notation: ids alone, since the wire does not tell a modal without
  /// a stack from one with.
  static func shownText(_ notation: String) -> String {
    notation.split(separator: " ").map { word in
      let closers = word.reversed().prefix { "])".contains($0) }.map { _ in "]" }.joined()
      let start = word.prefix { "[(".contains($0) }.map { _ in "[" }.joined()
      let id = word.drop { "[(".contains($0) }.prefix { !"=@])".contains($0) }
      return start + id + closers
    }.joined(separator: " ")
  }

  private func text(_ pages: Value?, tab: Int?) -> String {
    var words = tab.map { ["\($0):"] } ?? []
    for page in pages?.list ?? [] {
      words.append(page["id"].flatMap { named[$0] } ?? "?")
      if let modal = page["pages"] { words.append("[" + text(modal, tab: nil) + "]") }
    }
    return words.joined(separator: " ")
  }
}
