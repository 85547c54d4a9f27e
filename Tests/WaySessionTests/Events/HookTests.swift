import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// The events of calls and navigation that the app's hook receives.
@Suite(.timeLimit(.minutes(1)))
struct HookTests {
  private let router = Router()
  private let hookEvents = Mailbox<String>()
  private let visibilityEvents = Mailbox<String>()

  private func connect() async throws -> WireClient {
    let events = hookEvents
    let visibilityEvents = visibilityEvents
    router.addHook("statistics") { notice, _ in
      switch notice {
      case .willOpen(let page): events.put("willOpen \(page.uri)")
      case .didOpen(let page, _): events.put("didOpen \(page.uri)")
      case .didClose(let page, let outcome, _):
        events.put("didClose \(page.uri) \(outcome.kind.rawValue)")
      case .didResume(let page): events.put("didResume \(page.uri)")
      case .didChangeVisibility(let page, let visibility):
        visibilityEvents.put("\(visibility) \(page.uri)")
      case .didRun(let uri, let route, _): events.put("didRun \(uri) \(route ?? "-")")
      case .didFail(let failure):
        let (uri, route, kind) = (failure.uri ?? "-", failure.route ?? "-", failure.kind ?? "-")
        let method = failure.method.map { " \($0)" } ?? ""
        events.put("failed\(method) \(uri) \(route) \(failure.code) \(kind): \(failure.message)")
      }
    }
    return try await WireClient.connect(to: InMemoryBridge(router))
  }

  private func expect(_ lines: String...) async throws {
    for line in lines { #expect(try await hookEvents.receive() == line) }
  }

  private func openPage(_ client: WireClient) async throws -> Value {
    try await client.call(0, "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    try await client.call(1, "router.open", ["uri": "native://a"])
    return try await client.nextRequest("page.open")
  }

  @Test func reportsPageLifecycle() async throws {
    try router.page("native://a", name: "a")
    let client = try await connect()
    let open = try await openPage(client)
    try await expect("willOpen native://a")
    try await client.respond(open, .null)
    try await expect("didOpen native://a")
    let page = open["params"]?["page"]?["id"] ?? .null
    try await client.call(2, "navigation.finish", ["page": page])
    try await expect("didClose native://a finished")
  }

  @Test func reportsResumedPage() async throws {
    try router.page("native://a", name: "a")
    let client = try await connect()
    try await client.respond(try await openPage(client), .null)
    try await client.call(2, "router.open", ["uri": "native://b"])
    try await client.respond(try await client.nextRequest("page.open"), .null)
    try await client.call(3, "navigation.back", [:])
    try await expect(
      "willOpen native://a", "didOpen native://a", "willOpen native://b", "didOpen native://b",
      "didClose native://b dismissed", "didResume native://a")
  }

  @Test func reportsVisibilityOfPages() async throws {
    try router.page("native://a", name: "a")
    let client = try await connect()
    try await client.respond(try await openPage(client), .null)
    try await client.call(2, "router.open", ["uri": "native://b", "style": "present"])
    try await client.respond(try await client.nextRequest("page.open"), .null)
    for line in ["shown native://a", "covered native://a", "shown native://b"] {
      #expect(try await visibilityEvents.receive() == line)
    }
  }

  @Test func reportsCallsOfUndefinedRouteHandler() async throws {
    try router.task("action://now", name: "now") { _ in 1 }
    router.setUndefinedRouteHandler { call in
      call.uri.path.isEmpty ? .respond(1) : .redirect(uri: "action://now", params: [:])
    }
    let client = try await connect()
    for uri in ["native://nowhere", "native://nowhere/now"] {
      #expect(try await client.invoke(uri)["result"] == 1)
    }
    try await expect("didRun native://nowhere -", "didRun action://now now")
  }

  @Test func reportsRejectedPageAsFailure() async throws {
    try router.page("native://a", name: "a")
    let client = try await connect()
    try await client.reject(try await openPage(client), 7, "not today")
    try await expect(
      "willOpen native://a", "failed native://a a 2502 hostFailed: The host answered: not today")
  }

  @Test func reportsSynchronousAndAsynchronousTasks() async throws {
    try router.task("action://now", name: "now") { _ in 1 }
    try router.task("action://later", name: "later") { _ in
      await Task.yield()
      return 1
    }
    try router.task("action://bad", name: "bad") { _ in
      throw CallError(code: 7, message: "out of tea")
    }
    let client = try await connect()
    for (id, name) in ["now", "later", "bad"].enumerated() {
      try await client.call(
        .integer(Int64(id)), "router.invoke", ["uri": .string("action://\(name)")])
      _ = try await client.response(.integer(Int64(id)))
    }
    try await expect(
      "didRun action://now now", "didRun action://later later",
      "failed action://bad bad 7 -: out of tea")
  }

  @Test func reportsUnresolvedAndRejectedCallsAsFailures() async throws {
    try router.task("action://secret", name: "secret") { _ in 1 }
    router.intercept("guard", on: .routes(["secret"])) { _ in .refuse("no") }
    let client = try await connect()
    try await client.call(1, "router.invoke", ["uri": "native://nowhere"])
    try await client.call(2, "router.invoke", ["uri": "action://secret"])
    try await expect(
      "failed native://nowhere - 2404 noRoute: No route matches \"native://nowhere\"",
      "failed action://secret - 2423 refused: Refused by \"guard\": no")
  }

  @Test func reportsFailedNavigationAndPageMethods() async throws {
    try router.page("native://a", name: "a")
    try router.task("action://now", name: "now") { _ in 1 }
    try router.setTabs([try RouteURI("native://a")])
    let client = try await connect()
    let open = try await openPage(client)
    try await client.respond(open, .null)
    try await expect("willOpen native://a", "didOpen native://a")
    let page = open["params"]?["page"]?["id"] ?? .null
    let missing = "is not on the stack; navigation.stack lists the pages that are"
    try await client.call(2, "navigation.back", ["to": "native://b"])
    try await expect(
      "failed navigation.back native://b - 2404 notOnStack: "
        + "a page with the URI \"native://b\" \(missing)")
    try await client.call(3, "navigation.back", ["before": "a"])
    try await expect(
      "failed navigation.back native://a - 2404 nothingBefore: "
        + "no page is below page \"\(page.string ?? "")\", which is the root")
    try await client.call(4, "navigation.finish", ["page": "p99"])
    try await expect("failed navigation.finish - - 2404 notOnStack: page \"p99\" \(missing)")
    try await client.call(5, "navigation.contains", ["uri": 7])
    try await expect(
      "failed navigation.contains - - -32602 invalidParams: params.uri must be a string, not number"
    )
    try await client.call(6, "navigation.selectTab", ["uri": "native://b"])
    try await expect(
      "failed navigation.selectTab native://b - 2404 noTab: "
        + "No tab begins with the page \"native://b\"")
    try await client.call(7, "page.call", ["page": page, "method": "x"])
    try await client.reject(try await client.nextRequest("page.call"), 7, "no x")
    try await expect("failed page.call native://a - 7 -: no x")
    try await client.call(8, "router.invoke", ["uri": "navigation:back?to=b"])
    try await expect(
      "failed navigation:back?to=b - 2404 notOnStack: "
        + "a page with the id or the route \"b\" \(missing)")
    try await client.call(9, "navigation.stack", [:])
    try await client.call(10, "navigation.none", [:])
    try await client.call(11, "router.invoke", ["uri": "action://now"])
    try await expect("didRun action://now now")
  }

  @Test func reportsFailedNavigationOfTasks() async throws {
    try router.page("native://a", name: "a")
    try router.task("action://go") { call in
      let navigator = call.navigator
      _ = try? await navigator.back(.to("b"))
      _ = try? await navigator.finish(nil, page: "p99")
      _ = try? await navigator.selectTab(3)
      _ = try? await navigator.call(page: "p99", "x", params: [:])
      return .null
    }
    let client = try await connect()
    try await client.call(1, "router.invoke", ["uri": "action://go"])
    var failed: [String] = []
    for _ in 0..<4 {
      failed.append(
        try await hookEvents.receive().split(separator: ":").first.map(String.init) ?? "")
    }
    #expect(
      failed == [
        "failed navigation.back - - 2404 notOnStack",
        "failed navigation.finish - - 2404 notOnStack",
        "failed navigation.selectTab - - 2404 noTab", "failed page.call - - 2404 notOnStack",
      ])
  }

  @Test func replacesAndRemovesHook() async throws {
    try router.task("action://now", name: "now") { _ in 1 }
    let client = try await connect()
    let others = Mailbox<String>()
    router.addHook("statistics") { _, _ in others.put("replaced") }
    try await client.call(1, "router.invoke", ["uri": "action://now"])
    #expect(try await others.receive() == "replaced")
    #expect(router.removeHook("statistics"))
    #expect(!router.removeHook("statistics"))
    router.addHook("other") { _, _ in others.put("other") }
    try await client.call(2, "router.invoke", ["uri": "action://now"])
    #expect(try await others.receive() == "other")
  }

  @Test func measuresDurationsWithLoopClock() async throws {
    try router.page("native://a", name: "a")
    let bridge = InMemoryBridge(router)
    let times = Mailbox<Duration>()
    router.addHook("times") { notice, _ in
      switch notice {
      case .didOpen(_, let after), .didClose(_, _, let after): times.put(after)
      default: break
      }
    }
    let client = try await WireClient.connect(to: bridge)
    let open = try await openPage(client)
    try await bridge.server.advance(by: .seconds(3))
    try await client.respond(open, .null)
    #expect(try await times.receive() == .seconds(3))
    try await bridge.server.advance(by: .seconds(20))
    try await client.call(2, "navigation.finish", ["page": open["params"]?["page"]?["id"] ?? .null])
    #expect(try await times.receive() == .seconds(20))
  }
}
