import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Where a call goes on that what its URI leads to does not serve, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct FallbackTests {
  private let router = Router()

  private func connect(hosting schemes: [String] = []) async throws -> WireClient {
    try await WireClient.connect(to: InMemoryBridge(router), hosting: schemes)
  }

  @Test func aHandlerThatDeclinesLeavesTheCallToTheNext() async throws {
    try router.task("action://a/b", name: "sync") { _ in throw Declined() }
    try router.task("action://a/:x", name: "async") { _ in
      await Task.yield()
      throw Declined()
    }
    let client = try await connect()
    let none = try await client.invoke("action://a/b")["error"]
    #expect(none?["code"] == 2404)
    #expect(none?["data"]?["kind"] == "declined")
    router.undefinedRoute { call in .answer(.string("undefined \(call.uri.text)")) }
    #expect(try await client.invoke("action://a/b")["result"] == "undefined action://a/b")
    try router.undefinedRoute(scheme: "action", leadsTo: "action://upgrade")
    try router.task("action://upgrade") { call in call.params["uri"] ?? .null }
    #expect(try await client.invoke("action://a/b")["result"] == "action://a/b")
    try router.task("/a/*", name: "global") { call in .object(call.params) }
    #expect(
      try await client.invoke("action://a/b", ["p": 1])["result"] == ["*": ["b"], "p": 1])
  }

  @Test func aPageInSwiftThatDeclinesLeavesTheCallToTheNext() async throws {
    try router.page(
      "native://a/b", PageHandler(open: { _, _ in throw Declined() }, close: { _, _, _ in }))
    try router.page("native://a/:x", name: "hosted")
    let client = try await connect(hosting: ["native"])
    try await client.call(1, "router.open", ["uri": "native://a/b"])
    let page = try await client.show()
    #expect(page["route"] == "hosted")
    #expect(page["params"] == ["x": "b"])
  }

  @Test func aRouteWithoutHostGoesOnWithItsFallbackThenItsSchemes() async throws {
    try router.register(
      Route(
        name: "order", patterns: [RoutePattern("native://order/:id")], kind: .page,
        fallback: PatternTarget("https://h5.example/order/:id")))
    try router.undefinedRoute(scheme: "native", leadsTo: "https://h5.example/upgrade")
    let client = try await connect(hosting: ["https"])
    try await client.call(1, "router.open", ["uri": "native://order/7?q=1", "params": ["p": 2]])
    let page = try await client.show()
    #expect(page["uri"] == "https://h5.example/order/7?q=1")
    #expect(page["params"] == ["q": "1", "p": 2])
    try await client.call(2, "router.open", ["uri": "native://new"])
    #expect(
      try await client.show()["uri"] == "https://h5.example/upgrade?uri=native://new")
    try await client.call(3, "router.canOpen", ["uri": "native://order/7"])
    #expect(try await client.answer(3)["result"]?["canOpen"] == true)
    try await client.call(4, "router.explain", ["uri": "native://order/7"])
    let explanation = try await client.answer(4)["result"]
    #expect(explanation?["canOpen"] == true)
    #expect(explanation?["fallback"] == "https://h5.example/order/7")
    #expect(explanation?["reason"]?.string?.contains("goes on with") == true)
  }

  @Test func aSchemesTargetIsAskedBeforeTheGeneralHandler() async throws {
    try router.task("action://upgrade", name: "upgrade") { call in call.params["uri"] ?? .null }
    try router.undefinedRoute(scheme: "action", leadsTo: "action://upgrade")
    router.undefinedRoute { call in .answer(.string("undefined \(call.uri.text)")) }
    let client = try await connect()
    #expect(try await client.invoke("action://new")["result"] == "action://new")
    #expect(try await client.invoke("other://new")["result"] == "undefined other://new")
    try router.undefinedRoute(scheme: "action", leadsTo: "action://gone")
    #expect(
      try await client.invoke("action://new")["result"]
        == "undefined action://gone?uri=action://new")
    router.undefinedRoute(nil)
    let error = try await client.invoke("action://new")["error"]
    #expect(error?["code"] == 2404, "a target that nobody serves leads no further")
  }

  @Test func fallbacksThatLeadInACircleAreRefused() async throws {
    try router.undefinedRoute(scheme: "a", leadsTo: "b://x")
    try router.undefinedRoute(scheme: "b", leadsTo: "a://x")
    let client = try await connect()
    let error = try await client.invoke("a://x")["error"]
    #expect(error?["code"] == 2508)
    #expect(error?["data"]?["chain"]?.list?.count == 10)
    try await client.call(1, "router.canOpen", ["uri": "a://x"])
    #expect(try await client.answer(1)["result"] == ["canOpen": false])
  }
}
