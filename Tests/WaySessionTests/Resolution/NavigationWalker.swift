import TestSupport
import Testing
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// One client, which shows all pages, guards some of them, makes all calls and changes the table.
actor NavigationWalker {
  private let seed: Int
  private var random: SeededRandom
  private var tables = RandomNavigationTable()
  private let client: SequencedClient
  /// The number of the last message of the server.
  private var received: Int64 = 0
  private var lastID: Int64 = 0
  /// The calls without a response, with the method.
  private var pending: [Int64: String] = [:]
  /// The calls of the gated task that were not cancelled, in order.
  private var tasks: [Int64] = []
  /// The pages that are shown, with the gate whose page it is.
  private var shown: [String: String?] = [:]
  private var opened: Set<String> = []
  private var closed: Set<String> = []
  /// Requests of the server that are answered later.
  private var delayed: [Value] = []
  private var guardsAllow = false

  init(seed: Int) async throws {
    self.seed = seed
    random = SeededRandom(seed: UInt64(seed))
    let router = Router()
    let table = try LiveTable(RouteTable(parsing: tables.next(using: &random)), for: router)
    try router.handle("pay", with: .task { call in .object(call.params) })
    let rules = try CompiledPolicy([Policy.Rule("all", .allow, ["*"])])
    client = try await SequencedClient(
      InMemoryBridge(router, rules: rules, table: table),
      ["hosts": [["scheme": "native", "kind": "page"]]])
  }

  func step() async throws {
    switch Int.random(in: 0..<24, using: &random) {
    case 0...3:
      let style = pick(["push", "present", "replace", "root", "popTo"])
      try await call(
        "router.open", ["uri": .string(pick(RandomNavigationTable.pages)), "style": .string(style)])
    case 4:
      try await call(
        "router.open", ["uri": .string(pick(RandomNavigationTable.tabs)), "style": "tab"])
    case 5, 6: tasks.append(try await call("router.invoke", ["uri": "action://pay"]))
    case 7:
      try await call(
        "navigation.back", ["count": .integer(Int64.random(in: 1...2, using: &random))])
    case 8:
      try await call(
        "navigation.selectTab", ["index": .integer(Int64.random(in: 0...2, using: &random))])
    case 9:
      try await call("router.deliver", ["uri": .string(pick(RandomNavigationTable.pages))])
    case 10, 11:
      guard let page = pickShown() else { return }
      try await call("navigation.finish", ["page": .string(page)])
    case 12:
      guard let page = pickShown() else { return }
      try await call(
        "page.setGuard",
        ["page": .string(page), "enabled": .bool(Bool.random(using: &random)), "timeoutMs": 60_000])
    case 13:
      try await call(
        "session.setGate",
        [
          "gate": .string(pick(RandomNavigationTable.gates)),
          "open": .bool(Bool.random(using: &random)),
        ])
    case 14, 15: try await changeTable()
    case 16:
      guard let id = pending.keys.sorted().randomElement(using: &random) else { return }
      tasks.removeAll { $0 == id }
      try await client.notify("$/cancelRequest", ["id": .integer(id)])
    case 17...21: try await edit()
    case 22:
      // A host that has not responded counts as silent.
      try await client.bridge.server.advance(by: .seconds(11))
    default:
      try await client.disconnect()
      let result = try await client.resume(after: received)
      #expect(result["resumed"] == true, "seed \(seed)")
    }
    try await exchange()
    if Bool.random(using: &random) { try await respondToDelayed() }
    if Bool.random(using: &random) { try await checkStack() }
  }

  /// Lets everything end: guards allow, gates open, all pages close.
  func finish() async throws {
    guardsAllow = true
    for _ in 0..<40 {
      try await respondToDelayed()
      for gate in RandomNavigationTable.gates {
        try await call("session.setGate", ["gate": .string(gate), "open": true])
      }
      for page in shown.keys.sorted() {
        try await call("navigation.finish", ["page": .string(page)])
      }
      try await exchange()
      if pending.isEmpty, delayed.isEmpty, shown.isEmpty { break }
    }
    #expect(pending.isEmpty, "seed \(seed): calls do not end: \(pending)")
    #expect(shown.isEmpty, "seed \(seed): pages do not close: \(shown)")
    #expect(opened == closed, "seed \(seed): pages are not closed once")
  }

  private func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

  private func pickShown() -> String? { shown.keys.sorted().randomElement(using: &random) }

  /// Removes pages, opens others, or both.
  private func edit() async throws {
    var params: ValueObject = [:]
    if let page = pickShown().map(Value.string), let other = pickShown().map(Value.string) {
      let ranges: [Value?] = [
        ["page": page], ["from": page], ["from": page, "through": other], ["above": page],
        ["all": true], nil,
      ]
      params["remove"] = ranges.randomElement(using: &random) ?? nil
    }
    let pages = (0..<Int.random(in: 0...3, using: &random)).map { _ -> Value in
      var page: ValueObject = ["uri": .string(pick(RandomNavigationTable.pages))]
      if Bool.random(using: &random) { page["style"] = .string(pick(["push", "present"])) }
      return .object(page)
    }
    if !pages.isEmpty { params["open"] = .array(pages) }
    try await call("navigation.edit", .object(params))
  }

  /// Replaces the table, or a part of it.
  private func changeTable() async throws {
    guard Int.random(in: 0..<3, using: &random) == 0 else {
      return try await checkedCall("table.update", ["table": tables.next(using: &random)])
    }
    let target: Value = .string("native://\(pick(["page/1", "secret/1", "tab/0"]))")
    try await checkedCall(
      "table.update",
      ["operations": [["op": "redirect", "from": "native://page/2", "to": target]]])
  }

  /// Makes a call that has to succeed at once.
  private func checkedCall(_ method: String, _ params: Value) async throws {
    lastID += 1
    let response = try await exchange(method, params, .string("checked \(lastID)"))
    #expect(response["error"] == nil, "seed \(seed): \(method) fails")
  }

  @discardableResult
  private func call(_ method: String, _ params: Value) async throws -> Int64 {
    lastID += 1
    pending[lastID] = method
    try await client.call(.integer(lastID), method, params)
    return lastID
  }

  /// Handles all messages until the response to a ping.
  private func exchange() async throws {
    _ = try await exchange("$/ping", [:], .string("ping \(lastID) \(received)"))
  }

  /// Makes a call, and handles all messages until its response, which is returned.
  private func exchange(_ method: String, _ params: Value, _ id: Value) async throws -> Value {
    try await client.call(id, method, params)
    while true {
      let message = try await client.wire.nextMessage()
      if let seq = message["seq"]?.integer { received = seq }
      if message["method"] == nil {
        if message["id"] == id { return message }
        receiveResponse(message)
      } else {
        try await receive(message)
      }
    }
  }

  /// Compares the stack with the pages that are shown, when the server has nothing to do.
  private func checkStack() async throws {
    var (stack, earlier) = (Value.null, Int64(-1))
    while earlier != received {
      // The response to the query itself is one message.
      earlier = received + 1
      let id = Value.string("stack \(received)")
      stack = try await exchange("navigation.stack", [:], id)["result"] ?? .null
    }
    let pages = ids(in: stack)
    let isEditing = pending.values.contains("navigation.edit")
    let expected = isEditing ? pages.intersection(shown.keys) : Set(shown.keys)
    #expect(pages == expected, "seed \(seed): the stack differs from the pages that are shown")
  }

  private func ids(in value: Value) -> Set<String> {
    var found = Set(value["id"]?.string.map { [$0] } ?? [])
    for list in ["tabs", "pages"] {
      for element in value[list]?.array ?? [] { found.formUnion(ids(in: element)) }
    }
    return found
  }

  private func receiveResponse(_ message: Value) {
    guard let id = message["id"]?.integer, let method = pending.removeValue(forKey: id) else {
      Issue.record("seed \(seed): a second response: \(message)")
      return
    }
    if method == "navigation.edit" { checkEdit(message) }
    guard let place = tasks.firstIndex(of: id) else { return }
    #expect(place == 0, "seed \(seed): a task overtakes another one at its gate")
    tasks.remove(at: place)
  }

  private func checkEdit(_ response: Value) {
    #expect(
      response["error"]?["code"] != -32_603,
      "seed \(seed): an edit fails in the server: \(response)")
    for page in response["result"]?["opened"]?.array ?? [] {
      #expect(page.string.map(opened.contains) == true, "seed \(seed): \(page) was not opened")
    }
    for page in response["result"]?["closed"]?.array ?? [] {
      #expect(page.string.map(closed.contains) == true, "seed \(seed): \(page) was not closed")
    }
  }

  private func receive(_ message: Value) async throws {
    switch message["method"]?.string {
    case "page.open", "page.leave":
      if Int.random(in: 0..<4, using: &random) == 0 {
        delayed.append(message)
      } else {
        try await respond(to: message)
      }
    case "page.close":
      let page = message["params"]?["page"]?.string ?? ""
      shown[page] = nil
      #expect(closed.insert(page).inserted, "seed \(seed): \(page) closes twice")
      try await client.respond(message, .null)
    case "$/cancelRequest":
      let id = message["params"]?["id"]
      for request in delayed where request["id"] == id {
        try await client.fail(request, -32_800)
      }
      delayed.removeAll { $0["id"] == id }
    default: break
    }
  }

  private func respondToDelayed() async throws {
    let requests = delayed
    delayed = []
    for request in requests { try await respond(to: request) }
    try await exchange()
  }

  private func respond(to request: Value) async throws {
    guard request["method"] == "page.open" else {
      let allows = guardsAllow || Bool.random(using: &random)
      return try await client.respond(request, ["allow": .bool(allows)])
    }
    // Some hosts refuse a page.
    if Int.random(in: 0..<12, using: &random) == 0 { return try await client.fail(request, 77) }
    let page = request["params"]?["page"]
    let id = page?["id"]?.string ?? ""
    let gate = page?["exts"]?["gate"]?["name"]?.string
    if let gate {
      let other = shown.first { $0.value == gate }
      #expect(other == nil, "seed \(seed): two pages of the gate \(gate)")
    }
    shown[id] = .some(gate)
    #expect(opened.insert(id).inserted, "seed \(seed): \(id) opens twice")
    try await client.respond(request, .null)
  }
}
