import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// `router.canOpen`, `router.explain` and `router.open` agree, whatever table, hosts and URI.
@Suite(.timeLimit(.minutes(2)))
struct RouterQueryConsistencyTests {
  @Test("what opens is told as what opens", arguments: 1...60)
  func askingAgreesWithOpening(seed: Int) async throws {
    var random = SeededRandom(seed: UInt64(seed))
    let app = RandomRoutingApp(&random)
    let client = try await WireClient.connect(to: InMemoryBridge(app.router))
    try await client.call("hosts", "host.register", ["hosts": .list(app.hosts)])
    try #require(try await client.answer("hosts")["error"] == nil, "seed \(seed)")
    for number in 0..<25 {
      let uri = RandomRoutingApp.uri(&random)
      let canOpen = try await client.told("router.canOpen", uri)
      let explained = try await client.told("router.explain", uri)
      let opens = try await client.opens(uri, id: .integer(Int64(number)), app)
      let comment: Comment = "seed \(seed), \(uri): \(explained)"
      #expect(canOpen["canOpen"] == explained["canOpen"], comment)
      if canOpen["canOpen"] == true { #expect(canOpen["kind"] == explained["kind"], comment) }
      if opens { #expect(canOpen["canOpen"] == true, comment) }
      if canOpen["canOpen"] == true, app.isWilling { #expect(opens, comment) }
      // A router alone takes the hosts of declared routes for granted, and knows of no others.
      if canOpen["canOpen"] == true, app.hosts.isEmpty {
        #expect(app.router.explain(uri).canOpen, comment)
      }
    }
  }
}

/// An app with whatever a table may have.
private struct RandomRoutingApp {
  let router = Router()
  private(set) var hosts: [Value] = []
  /// Nobody declines, and nothing leads a call elsewhere that asking does not know of.
  let isWilling: Bool

  private static let schemes = ["native", "flutter", "action", "own"]
  private static let segments = ["a", "b", "c"]

  init(_ random: inout SeededRandom) {
    isWilling = Bool.random(using: &random)
    for number in 0..<Int.random(in: 0..<10, using: &random) { register(number, &random) }
    for _ in 0..<Int.random(in: 0..<3, using: &random) {
      // One that leads in a circle at once is refused.
      _ = try? router.redirect(Self.uri(&random), to: Self.uri(&random))
    }
    for scheme in Self.schemes {
      if Bool.random(using: &random) { try? router.closeScheme(scheme) }
      if Int.random(in: 0..<4, using: &random) == 0 {
        try? router.undefinedRoute(scheme: scheme, leadsTo: Self.uri(&random))
      }
    }
    if Bool.random(using: &random) { setHandler(&random) }
    for number in 0..<Int.random(in: 0..<5, using: &random) { addHost(number, &random) }
  }

  static func uri(_ random: inout SeededRandom) -> String {
    let path = (0..<Int.random(in: 1...3, using: &random))
      .map { _ in segments.randomElement(using: &random) ?? "a" }
    return "\(schemes.randomElement(using: &random) ?? "own")://\(path.joined(separator: "/"))"
  }

  private static func pattern(_ random: inout SeededRandom) -> String {
    let path = (0..<Int.random(in: 1...3, using: &random))
      .map { number in
        Bool.random(using: &random) ? ":p\(number)" : segments.randomElement(using: &random) ?? "a"
      }
    let end = Int.random(in: 0..<5, using: &random) == 0 ? "/*" : ""
    let scheme = schemes.randomElement(using: &random).map { "\($0):/" } ?? ""
    let beginning = Int.random(in: 0..<4, using: &random) == 0 ? "" : scheme
    return "\(beginning)/\(path.joined(separator: "/"))\(end)"
  }

  /// Two routes of one shape, and one of a kind that its scheme does not take, are refused.
  private func register(_ number: Int, _ random: inout SeededRandom) {
    let declines = !isWilling && Bool.random(using: &random)
    let fallback = Bool.random(using: &random) ? nil : try? PatternTarget(Self.uri(&random))
    let isPage = Bool.random(using: &random)
    let run: RouteHandler =
      isPage
      ? .page(
        PageHandler(
          open: { _, _ in if declines { throw Declined() } }, close: { _, _, _ in }))
      : .task { _ in
        if declines { throw Declined() }
        return 1
      }
    guard let pattern = try? RoutePattern(Self.pattern(&random)) else { return }
    _ = try? router.register(
      Route(
        name: "r\(number)", patterns: [pattern], kind: isPage ? .page : .task, fallback: fallback,
        handler: Bool.random(using: &random) ? .hosted : run))
  }

  private func setHandler(_ random: inout SeededRandom) {
    let target = Self.uri(&random)
    let choice = isWilling ? 0 : Int.random(in: 0..<3, using: &random)
    router.undefinedRoute { _ in
      switch choice {
      case 0: .answer(1)
      case 1: .decline
      default: .redirect(uri: target, params: [:])
      }
    }
  }

  private mutating func addHost(_ number: Int, _ random: inout SeededRandom) {
    let scheme = Self.schemes.randomElement(using: &random) ?? "own"
    let isTask = scheme == "action" || scheme == "own" && Bool.random(using: &random)
    var host: ValueObject = ["kind": isTask ? "task" : "page", "scheme": .string(scheme)]
    if Bool.random(using: &random) {
      host["patterns"] = ["/\(Self.segments.randomElement(using: &random) ?? "a")/:h\(number)"]
    }
    if !hosts.contains(.object(host)) { hosts.append(.object(host)) }
  }

  /// Whether a host serves what it is asked.
  func serves(_ host: Value?) -> Bool {
    isWilling || host?["pattern"] == nil
  }
}

extension WireClient {
  fileprivate func told(_ method: String, _ uri: String) async throws -> Value {
    try await call("told", method, ["uri": .string(uri)])
    return try await answer("told")["result"] ?? .null
  }

  /// Whether a page is shown, or a task run.
  fileprivate func opens(_ uri: String, id: Value, _ app: RandomRoutingApp) async throws -> Bool {
    try await call(id, "router.open", ["uri": .string(uri)])
    while true {
      let message = try await message()
      switch message["method"] {
      case "page.open", "task.run":
        if app.serves(message["params"]?["host"]) {
          try await reply(message, .null)
        } else {
          try await decline(message)
        }
      case "$/progress" where message["params"]?["id"] == id: return true
      default: if message["id"] == id, message["method"] == nil { return message["error"] == nil }
      }
    }
  }
}
