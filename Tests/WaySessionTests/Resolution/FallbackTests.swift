import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Resolution of a call whose destination does not serve it, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct FallbackTests {
  private let router = Router()

  private func connect(hosting schemes: [String] = []) async throws -> WireClient {
    try await WireClient.connect(to: InMemoryBridge(router), hosting: schemes)
  }

  @Test func triesNextRouteWhenTaskDeclines() async throws {
    try router.task("action://a/b", name: "sync") { _ in throw Declined() }
    try router.task("action://a/:x", name: "async") { _ in
      await Task.yield()
      throw Declined()
    }
    let client = try await connect()
    let none = try await client.invoke("action://a/b")["error"]
    #expect(none?["code"] == 2404)
    #expect(none?["data"]?["kind"] == "declined")
    router.setUndefinedRouteHandler { call in .respond(.string("undefined \(call.uri.text)")) }
    #expect(try await client.invoke("action://a/b")["result"] == "undefined action://a/b")
    try router.setUndefinedRoute(scheme: "action", leadsTo: "action://upgrade")
    try router.task("action://upgrade") { call in call.params["uri"] ?? .null }
    #expect(try await client.invoke("action://a/b")["result"] == "action://a/b")
    try router.task("/a/*", name: "global") { call in .object(call.params) }
    #expect(
      try await client.invoke("action://a/b", ["p": 1])["result"] == ["*": ["b"], "p": 1])
  }

  @Test func triesNextRouteWhenPageDeclines() async throws {
    try router.page(
      "native://a/b", PageHandler(open: { _, _ in throw Declined() }, close: { _, _, _ in }))
    try router.page("native://a/:x", name: "hosted")
    let client = try await connect(hosting: ["native"])
    try await client.call(1, "router.open", ["uri": "native://a/b"])
    let page = try await client.acceptPageOpen()
    #expect(page["route"] == "hosted")
    #expect(page["params"] == ["x": "b"])
  }

  @Test func usesFallbackThenSchemeTargetWithoutHost() async throws {
    try router.register(
      Route(
        name: "order", patterns: [RoutePattern("native://order/:id")], kind: .page,
        fallback: PatternTarget("https://h5.example/order/:id")))
    try router.setUndefinedRoute(scheme: "native", leadsTo: "https://h5.example/upgrade")
    let client = try await connect(hosting: ["https"])
    try await client.call(1, "router.open", ["uri": "native://order/7?q=1", "params": ["p": 2]])
    let page = try await client.acceptPageOpen()
    #expect(page["uri"] == "https://h5.example/order/7?q=1")
    #expect(page["params"] == ["q": "1", "p": 2])
    try await client.call(2, "router.open", ["uri": "native://new"])
    #expect(
      try await client.acceptPageOpen()["uri"] == "https://h5.example/upgrade?uri=native://new")
    try await client.call(3, "router.canOpen", ["uri": "native://order/7"])
    #expect(try await client.response(3)["result"]?["canOpen"] == true)
    try await client.call(4, "router.explain", ["uri": "native://order/7"])
    let explanation = try await client.response(4)["result"]
    #expect(explanation?["canOpen"] == true)
    #expect(explanation?["fallback"] == "https://h5.example/order/7")
    #expect(explanation?["reason"]?.string?.contains("continues with") == true)
  }

  @Test func usesSchemeTargetBeforeGeneralHandler() async throws {
    try router.task("action://upgrade", name: "upgrade") { call in call.params["uri"] ?? .null }
    try router.setUndefinedRoute(scheme: "action", leadsTo: "action://upgrade")
    router.setUndefinedRouteHandler { call in .respond(.string("undefined \(call.uri.text)")) }
    let client = try await connect()
    #expect(try await client.invoke("action://new")["result"] == "action://new")
    #expect(try await client.invoke("other://new")["result"] == "undefined other://new")
    try router.setUndefinedRoute(scheme: "action", leadsTo: "action://gone")
    #expect(
      try await client.invoke("action://new")["result"]
        == "undefined action://gone?uri=action://new")
    router.setUndefinedRouteHandler(nil)
    let error = try await client.invoke("action://new")["error"]
    #expect(error?["code"] == 2404, "a target without a handler has no fallback")
  }

  @Test func rejectsFallbackLoop() async throws {
    try router.setUndefinedRoute(scheme: "a", leadsTo: "b://x")
    try router.setUndefinedRoute(scheme: "b", leadsTo: "a://x")
    let client = try await connect()
    let error = try await client.invoke("a://x")["error"]
    #expect(error?["code"] == 2508)
    #expect(error?["data"]?["chain"]?.array?.count == 10)
    try await client.call(1, "router.canOpen", ["uri": "a://x"])
    #expect(try await client.response(1)["result"] == ["canOpen": false])
  }
}
