import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Asking where a URI leads has no side effect.
@Suite(.timeLimit(.minutes(1)))
struct AskingTests {
  private let router = Router()
  private let ran = Mailbox<String>()

  /// Whether each of these can be opened.
  private static let uris: [(uri: String, canOpen: Bool)] = [
    ("action://now", true), ("action://later", true), ("native://swift", true),
    ("flutter://hosted", true), ("own:thing", true), ("action://lazy", true),
    ("native://nowhere", true), ("closed://nowhere", false),
  ]

  /// Routes of every kind, of which each tells when it runs.
  private func register() throws {
    let ran = ran
    router.intercept("now") { call in
      ran.put("now \(call.uri)")
      return .next
    }
    router.intercept("later", on: .routes(["action://later", "action://ask"])) { call in
      await Task.yield()
      ran.put("later \(call.uri)")
      return .next
    }
    try router.task("action://now") { _ in
      ran.put("task")
      return 1
    }
    try router.task("action://later") { _ in
      await Task.yield()
      ran.put("task that waits")
      return 1
    }
    try router.page(
      "native://swift", PageHandler(open: { _, _ in ran.put("page") }, close: { _, _, _ in }))
    try router.register(
      Dispatcher(
        name: "own",
        action: .custom { _ in
          ran.put("dispatcher")
          return 1
        }), scheme: "own")
    try router.module(
      "lazy",
      routes: [Route(name: "lazy", patterns: [RoutePattern("action://lazy")], kind: .task)]
    ) { _ in ran.put("module") }
    // Who leads the scheme in a circle keeps the handler from being asked.
    try router.undefinedRoute(scheme: "closed", leadsTo: "other://x")
    try router.undefinedRoute(scheme: "other", leadsTo: "closed://x")
    router.undefinedRoute { _ in
      ran.put("undefined")
      return .answer(1)
    }
    try router.task("action://ask") { call in
      var answers: [Value] = []
      for (uri, _) in Self.uris { answers.append(.bool(await call.navigator.canOpen(uri))) }
      return .list(answers)
    }
  }

  @Test(arguments: ["router.canOpen", "router.explain"])
  func askingRunsNothing(method: String) async throws {
    try register()
    let client = try await WireClient.connect(to: WireBridge(router), hosting: ["flutter"])
    for (uri, canOpen) in Self.uris {
      try await client.call(1, method, ["uri": .string(uri)])
      let answer = try await client.message()
      #expect(answer["id"] == 1, "\(uri) asks the host")
      #expect(answer["result"]?["canOpen"] == .bool(canOpen), "\(uri)")
    }
    // By now whatever had been begun has told; the call itself is told last.
    let answers = try await client.invoke("action://ask")["result"]
    #expect(answers == .list(Self.uris.map { .bool($0.canOpen) }))
    ran.put("end")
    for expected in ["now action://ask", "later action://ask", "end"] {
      #expect(try await ran.take() == expected)
    }
    #expect(try await client.hasHeardNothing())
  }
}
