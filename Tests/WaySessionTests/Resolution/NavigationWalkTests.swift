import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Random walks over gates, guards, tabs, modals, deep links, changes of the router and resumed
/// connections: every call settles once, every page gives one outcome, calls keep their order at a
/// gate, and no gate has two pages.
@Suite(.timeLimit(.minutes(2)))
struct NavigationWalkTests {
  @Test(arguments: 1...24) func walk(_ seed: Int) async throws {
    let walker = try await Walker(seed: seed)
    for _ in 0..<60 { try await walker.step() }
    try await walker.finish()
  }
}

/// One client, which shows all pages, guards some of them, and makes all calls.
private actor Walker {
  private static let pages =
    (0..<4).map { "native://page/\($0)" } + ["native://secret/1", "native://vault/1"]
  private static let tabs = ["native://tab/0", "native://tab/1"]
  private static let gates = ["signedIn": "native://login", "unlocked": "native://pin"]

  private let seed: Int
  private var random: SeededRandom
  private let router = Router()
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
    for (name, pattern, groups) in [
      ("page", "native://page/:n", []), ("tab", "native://tab/:n", []),
      ("login", "native://login", []),
      ("pin", "native://pin", []), ("secret", "native://secret/:n", ["account"]),
      ("vault", "native://vault/:n", ["account", "safe"]),
    ] {
      try router.register(
        Route(
          name: name, patterns: [RoutePattern(pattern)], kind: .page, groups: groups,
          parents: name == "vault" ? [try PatternTarget("native://secret/:n")] : []))
    }
    try router.register(
      Route(
        name: "pay", patterns: [RoutePattern("action://pay")], kind: .task, groups: ["account"],
        handler: .task { call in .object(call.params) }))
    try router.setTabs(Self.tabs.map { try RouteURI($0) })
    for (name, group) in [("signedIn", "account"), ("unlocked", "safe")] {
      router.add(
        Gate(name, on: [.groups([group])], opens: try RouteURI(Self.gates[name] ?? "")))
    }
    let bridge = InMemoryBridge(router)
    client = try await SequencedClient(bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
  }

  func step() async throws {
    switch Int.random(in: 0..<17, using: &random) {
    case 0...3:
      let style: Value = .string(
        ["push", "present", "replace", "root", "popTo"].randomElement(using: &random) ?? "push")
      try await call("router.open", ["uri": .string(pick(Self.pages)), "style": style])
    case 4: try await call("router.open", ["uri": .string(pick(Self.tabs)), "style": "tab"])
    case 5, 6: tasks.append(try await call("router.invoke", ["uri": "action://pay"]))
    case 7:
      try await call(
        "navigation.back", ["count": .integer(Int64.random(in: 1...2, using: &random))])
    case 8:
      try await call(
        "navigation.selectTab", ["index": .integer(Int64.random(in: 0...1, using: &random))])
    case 9: try await call("router.deliver", ["uri": .string(pick(Self.pages))])
    case 10, 11:
      guard let page = shown.keys.sorted().randomElement(using: &random) else { return }
      try await call("navigation.finish", ["page": .string(page)])
    case 12:
      guard let page = shown.keys.sorted().randomElement(using: &random) else { return }
      try await call(
        "page.setGuard",
        ["page": .string(page), "enabled": .bool(Bool.random(using: &random)), "timeoutMs": 60_000])
    case 13:
      try await call(
        "session.setGate",
        [
          "gate": .string(pick(Self.gates.keys.sorted())),
          "open": .bool(Bool.random(using: &random)),
        ])
    case 14:
      // The order of the gates changes, as a new table may do.
      let name = pick(Self.gates.keys.sorted())
      if let gate = router.snapshot().gates.first(where: { $0.name == name }) {
        router.removeGate(name)
        router.add(gate)
      }
    case 15:
      guard let id = pending.keys.sorted().randomElement(using: &random) else { return }
      tasks.removeAll { $0 == id }
      try await client.notify("$/cancelRequest", ["id": .integer(id)])
    default:
      try await client.disconnect()
      let result = try await client.resume(after: received)
      #expect(result["resumed"] == true, "seed \(seed)")
    }
    try await exchange()
    if Bool.random(using: &random) { try await respondToDelayed() }
  }

  /// Lets everything end: guards allow, gates open, all pages close.
  func finish() async throws {
    guardsAllow = true
    for _ in 0..<40 {
      try await respondToDelayed()
      for gate in Self.gates.keys.sorted() {
        try await call("session.setGate", ["gate": .string(gate), "open": true])
      }
      for page in shown.keys.sorted() {
        try await call("navigation.finish", ["page": .string(page)])
      }
      try await exchange()
      if pending.isEmpty, delayed.isEmpty, shown.isEmpty { break }
    }
    #expect(pending.isEmpty, "seed \(seed): calls do not end")
    #expect(shown.isEmpty, "seed \(seed): pages do not close")
    #expect(opened == closed, "seed \(seed): pages are not closed once")
  }

  private func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }

  @discardableResult
  private func call(_ method: String, _ params: Value) async throws -> Int64 {
    lastID += 1
    pending[lastID] = method
    try await client.call(.integer(lastID), method, params)
    return lastID
  }

  /// Handles all messages until the response to a ping.
  private func exchange() async throws {
    let ping = Value.string("ping \(lastID) \(received)")
    try await client.call(ping, "$/ping", [:])
    while true {
      let message = try await client.wire.nextMessage()
      if let seq = message["seq"]?.integer { received = seq }
      if message["method"] == nil {
        if message["id"] == ping { return }
        receiveResponse(message)
      } else {
        try await receive(message)
      }
    }
  }

  private func receiveResponse(_ message: Value) {
    guard let id = message["id"]?.integer, pending.removeValue(forKey: id) != nil else {
      Issue.record("seed \(seed): a second response: \(message)")
      return
    }
    guard let place = tasks.firstIndex(of: id) else { return }
    #expect(place == 0, "seed \(seed): a task overtakes another one at its gate")
    tasks.remove(at: place)
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
