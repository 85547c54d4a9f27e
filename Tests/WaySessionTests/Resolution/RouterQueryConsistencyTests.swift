import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// `router.canOpen`, `router.explain` and `router.open` agree for any table, hosts and URI.
@Suite(.timeLimit(.minutes(2)))
struct RouterQueryConsistencyTests {
  @Test("canOpen and explain agree with open", arguments: 1...60)
  func queriesAgreeWithOpen(seed: Int) async throws {
    var random = SeededRandom(seed: UInt64(seed))
    let app = RandomRoutingApp(&random)
    let client = try await WireClient.connect(to: InMemoryBridge(app.router))
    try await client.call("hosts", "host.register", ["hosts": .array(app.hosts)])
    try #require(try await client.response("hosts")["error"] == nil, "seed \(seed)")
    for number in 0..<25 {
      let uri = RandomRoutingApp.uri(&random)
      let canOpen = try await client.queryResult("router.canOpen", uri)
      let explained = try await client.queryResult("router.explain", uri)
      let opens = try await client.openSucceeds(uri, id: .integer(Int64(number)), app)
      let comment: Comment = "seed \(seed), \(uri): \(explained)"
      #expect(canOpen["canOpen"] == explained["canOpen"], comment)
      if canOpen["canOpen"] == true { #expect(canOpen["kind"] == explained["kind"], comment) }
      if opens { #expect(canOpen["canOpen"] == true, comment) }
      if canOpen["canOpen"] == true, app.servesEveryCall { #expect(opens, comment) }
      // A router without sessions assumes hosts for declared routes and knows no others.
      if canOpen["canOpen"] == true, app.hosts.isEmpty {
        #expect(app.router.explain(uri).canOpen, comment)
      }
    }
  }
}

/// An app with a random table.
private struct RandomRoutingApp {
  let router = Router()
  private(set) var hosts: [Value] = []
  /// Whether no host declines and every redirection of a call is known to queries.
  let servesEveryCall: Bool

  private static let schemes = ["native", "flutter", "action", "own"]
  private static let segments = ["a", "b", "c"]

  init(_ random: inout SeededRandom) {
    servesEveryCall = Bool.random(using: &random)
    for number in 0..<Int.random(in: 0..<10, using: &random) { register(number, &random) }
    for _ in 0..<Int.random(in: 0..<3, using: &random) {
      // A redirect that forms a cycle at once is rejected.
      _ = try? router.redirect(Self.uri(&random), to: Self.uri(&random))
    }
    for scheme in Self.schemes {
      if Bool.random(using: &random) { try? router.setScheme(scheme, isClosed: true) }
      if Int.random(in: 0..<4, using: &random) == 0 {
        try? router.setUndefinedRoute(scheme: scheme, leadsTo: Self.uri(&random))
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

  /// Registers a random route. The router rejects a second route of one shape, and a kind that the
  /// scheme does not accept.
  private func register(_ number: Int, _ random: inout SeededRandom) {
    let declines = !servesEveryCall && Bool.random(using: &random)
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
    let choice = servesEveryCall ? 0 : Int.random(in: 0..<3, using: &random)
    router.setUndefinedRouteHandler { _ in
      switch choice {
      case 0: .respond(1)
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

  /// Returns whether a host accepts its requests.
  func accepts(_ host: Value?) -> Bool {
    servesEveryCall || host?["pattern"] == nil
  }
}

extension WireClient {
  fileprivate func queryResult(_ method: String, _ uri: String) async throws -> Value {
    try await call("told", method, ["uri": .string(uri)])
    return try await response("told")["result"] ?? .null
  }

  /// Returns whether a page is shown or a task runs.
  fileprivate func openSucceeds(_ uri: String, id: Value, _ app: RandomRoutingApp) async throws
    -> Bool
  {
    try await call(id, "router.open", ["uri": .string(uri)])
    while true {
      let message = try await nextMessage()
      switch message["method"] {
      case "page.open", "task.run":
        if app.accepts(message["params"]?["host"]) {
          try await respond(message, .null)
        } else {
          try await decline(message)
        }
      case "$/progress" where message["params"]?["id"] == id: return true
      default: if message["id"] == id, message["method"] == nil { return message["error"] == nil }
      }
    }
  }
}
