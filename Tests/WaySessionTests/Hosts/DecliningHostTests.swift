import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Where a call goes on that a host declines, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct DecliningHostTests {
  private let router = Router()

  private func connect(_ hosts: Value...) async throws -> WireClient {
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call("host", "host.register", ["hosts": .list(hosts)])
    _ = try await client.answer("host")
    return client
  }

  /// The call's id is the URI.
  private func open(_ uri: Value, _ client: WireClient) async throws {
    try await client.call(uri, "router.open", ["uri": uri])
  }

  /// What the next host is asked, which declines; gives that, and the host.
  @discardableResult
  private func decline(
    _ client: WireClient, _ method: String = "page.open"
  ) async throws -> (asked: Value, host: Value) {
    let request = try await client.request(method)
    try await client.decline(request)
    let params = request["params"] ?? .null
    return (params["page"] ?? params, params["host"] ?? .null)
  }

  @Test func theNextHostIsAskedThenTheNextRoute() async throws {
    try router.page("native://a/:x", name: "own")
    try router.page("/a/b", name: "global")
    let client = try await connect(
      ["scheme": "native", "kind": "page"],
      ["patterns": ["native://:first/b", "native://a/:y"], "kind": "page"])
    try await open("native://a/b", client)
    let first = try await decline(client)
    #expect(first.host == ["pattern": "native://a/:y", "kind": "page"])
    #expect(first.asked["params"] == ["x": "b", "y": "b"])
    let second = try await decline(client)
    #expect(second.host == ["scheme": "native", "kind": "page"])
    #expect(second.asked["route"] == "own")
    #expect(second.asked["params"] == ["x": "b"], "nothing of the host before is left")
    #expect(try await decline(client).asked["route"] == "global")
    #expect(try await client.show()["params"] == [:])
  }

  @Test func whoeverServesItNextMayBeSwiftCode() async throws {
    try router.register(
      Route(name: "hosted", patterns: [RoutePattern("action://a/b")], kind: .task))
    try router.task("action://a/:x") { call in ["swift": call.params["x"] ?? .null] }
    let client = try await connect(["patterns": ["action://*"], "kind": "task"])
    try await client.call(1, "router.invoke", ["uri": "action://a/b"])
    let first = try await decline(client, "task.run")
    #expect(first.asked["params"] == ["*": ["a", "b"]])
    #expect(try await client.answer(1)["result"] == ["swift": "b"])
  }

  @Test func whenAllHaveDeclinedTheFallbackIsNext() async throws {
    try router.register(
      Route(
        name: "order", patterns: [RoutePattern("native://order/:id")], kind: .page,
        fallback: PatternTarget("https://h5.example/order/:id")))
    try router.page("/order/:id", name: "any")
    let client = try await connect(
      ["scheme": "native", "kind": "page"], ["scheme": "https", "kind": "page"])
    try await open("native://order/7", client)
    #expect(try await decline(client).asked["route"] == "order")
    #expect(try await decline(client).asked["route"] == "any")
    #expect(try await client.show()["uri"] == "https://h5.example/order/7")
  }

  @Test(arguments: [true, false])
  func thenTheSchemesTargetThenTheHandlerThenItFails(isDeclared: Bool) async throws {
    if isDeclared { try router.page("native://a") }
    let client = try await connect(["scheme": "native", "kind": "page"])
    try await open("native://a", client)
    try await decline(client)
    let error = try await client.answer("native://a")["error"]
    #expect(error?["code"] == 2404)
    #expect(error?["data"]?["kind"] == "declined")

    router.undefinedRoute { call in .answer(.string("handler: \(call.uri)")) }
    try await open("native://a", client)
    try await decline(client)
    #expect(try await client.answer("native://a")["result"]?["data"] == "handler: native://a")

    try router.undefinedRoute(scheme: "native", leadsTo: "native://upgrade")
    try router.page("native://upgrade", name: "upgrade")
    try await open("native://a", client)
    try await decline(client)
    #expect(try await client.show()["uri"] == "native://upgrade?uri=native://a")
  }

  @Test func inAClosedSchemeAHostWithoutPatternsServesDeclaredRoutesAlone() async throws {
    try router.closeScheme("native")
    try router.page("native://a", name: "a")
    let client = try await connect(
      ["scheme": "native", "kind": "page"], ["patterns": ["native://own/*"], "kind": "page"])
    try await open("native://a", client)
    #expect(try await client.show()["route"] == "a")
    try await open("native://own/b", client)
    #expect(try await client.show()["route"] == .null)
    try await open("native://new", client)
    #expect(try await client.answer("native://new")["error"]?["data"]?["kind"] == "noRoute")
    router.undefinedRoute { _ in .redirect(uri: "native://a", params: ["from": "new"]) }
    try await open("native://newer", client)
    #expect(try await client.show()["params"] == ["from": "new"])
    try router.undefinedRoute(scheme: "native", leadsTo: "native://a")
    try await open("native://newest", client)
    #expect(try await client.show()["params"] == ["uri": "native://newest"])
  }

  @Test func aHostsPatternGoesOverTheQueryAndUnderTheCaller() async throws {
    let client = try await connect(["patterns": ["native://a/:id"], "kind": "page"])
    try await open("native://a/5?id=7&q=1", client)
    #expect(try await client.show()["params"] == ["id": "5", "q": "1"])
    try await client.call(
      "more", "router.open", ["uri": "native://a/5?id=7", "params": ["id": 9]])
    #expect(try await client.show()["params"] == ["id": 9])
    try await open("native://a/%FF", client)
    #expect(try await client.answer("native://a/%FF")["error"]?["code"] == 2422)
  }

  @Test func whatAnInterceptorPutsInTheirPlaceStays() async throws {
    router.intercept("gate") { call in .change(params: ["id": "changed"]) }
    let client = try await connect(["patterns": ["native://a/:id/:more"], "kind": "page"])
    try await open("native://a/5/6", client)
    #expect(try await client.show()["params"] == ["id": "changed", "more": "6"])
  }

  @Test func anOpeningThatIsDeclinedKeepsItsTurn() async throws {
    let client = try await connect(
      ["scheme": "native", "kind": "page"], ["patterns": ["native://a"], "kind": "page"])
    try await open("native://root", client)
    _ = try await client.show()
    try await open("native://a", client)
    let request = try await client.request("page.open")
    try await client.call("back", "navigation.back", [:])
    try await client.decline(request)
    let page = try await client.show()["id"]
    let back = try await client.answer("back")["result"]
    #expect(back?["closed"] == .list([page ?? .null]), "the page was opened first")
  }

  @Test func aMethodOfAPageDoesNotGoOn() async throws {
    let client = try await connect(["scheme": "native", "kind": "page"])
    try await open("native://a", client)
    let page = try await client.show()["id"] ?? .null
    try await client.call("call", "page.call", ["page": page, "method": "m"])
    try await client.decline(try await client.request("page.call"))
    #expect(try await client.answer("call")["error"]?["code"] == 2502)
  }

  @Test func aTaskThatDeclinesIsToldAsSuchAndNotAsAFailure() async throws {
    try router.task("action://a/b", name: "sync") { _ in throw Declined() }
    try router.task("action://a/:x", name: "async") { _ in
      await Task.yield()
      throw Declined()
    }
    try router.register(
      Route(name: "hosted", patterns: [RoutePattern("action://a/*")], kind: .task))
    try router.task("/a/:x", name: "last") { _ in "done" }
    let told = Mailbox<String>()
    router.hook("all") { notice, _ in
      switch notice {
      case .didRun(_, let route, _): told.put("didRun \(route ?? "-")")
      default: told.put("\(notice)")
      }
    }
    let client = try await connect(["scheme": "action", "kind": "task"])
    try await client.subscribe("task.*", "route.*")
    try await client.call("invoke", "router.invoke", ["uri": "action://a/b"])
    var events: [String] = []
    while events.last != "task.finished last" {
      let message = try await client.message()
      if message["method"] == "task.run" { try await client.decline(message) }
      guard message["method"] == "event" else { continue }
      let (topic, data) = (message["params"]?["topic"]?.string, message["params"]?["data"])
      events.append("\(topic ?? "") \(data?["route"]?.string ?? "")")
    }
    let names = ["sync", "async", "hosted"]
    #expect(
      events == names.flatMap { ["task.started \($0)", "task.declined \($0)"] }
        + ["task.started last", "task.finished last"])
    #expect(try await told.take() == "didRun last")
  }
}
