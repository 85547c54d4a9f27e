import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Resolution of a call after a host declines it, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct DecliningHostTests {
  private let router = Router()

  private func connect(_ hosts: Value...) async throws -> WireClient {
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call("host", "host.register", ["hosts": .array(hosts)])
    _ = try await client.response("host")
    return client
  }

  /// Opens a URI; the URI is also the id of the call.
  private func open(_ uri: Value, _ client: WireClient) async throws {
    try await client.call(uri, "router.open", ["uri": uri])
  }

  /// Declines the next request to a host. Returns the request's page or params, and the host.
  @discardableResult
  private func declineNextRequest(
    _ client: WireClient, _ method: String = "page.open"
  ) async throws -> (request: Value, host: Value) {
    let request = try await client.nextRequest(method)
    try await client.decline(request)
    let params = request["params"] ?? .null
    return (params["page"] ?? params, params["host"] ?? .null)
  }

  @Test func triesNextHostThenNextRoute() async throws {
    try router.page("native://a/:x", name: "own")
    try router.page("/a/b", name: "global")
    let client = try await connect(
      ["scheme": "native", "kind": "page"],
      ["patterns": ["native://:first/b", "native://a/:y"], "kind": "page"])
    try await open("native://a/b", client)
    let first = try await declineNextRequest(client)
    #expect(first.host == ["pattern": "native://a/:y", "kind": "page"])
    #expect(first.request["params"] == ["x": "b", "y": "b"])
    let second = try await declineNextRequest(client)
    #expect(second.host == ["scheme": "native", "kind": "page"])
    #expect(second.request["route"] == "own")
    #expect(second.request["params"] == ["x": "b"], "nothing of the host before is left")
    #expect(try await declineNextRequest(client).request["route"] == "global")
    #expect(try await client.acceptPageOpen()["params"] == [:])
  }

  @Test func fallsBackToTaskOfApp() async throws {
    try router.register(
      Route(name: "hosted", patterns: [RoutePattern("action://a/b")], kind: .task))
    try router.task("action://a/:x") { call in ["swift": call.params["x"] ?? .null] }
    let client = try await connect(["patterns": ["action://*"], "kind": "task"])
    try await client.call(1, "router.invoke", ["uri": "action://a/b"])
    let first = try await declineNextRequest(client, "task.run")
    #expect(first.request["params"] == ["*": ["a", "b"]])
    #expect(try await client.response(1)["result"] == ["swift": "b"])
  }

  @Test func usesFallbackWhenAllHostsDecline() async throws {
    try router.register(
      Route(
        name: "order", patterns: [RoutePattern("native://order/:id")], kind: .page,
        fallback: PatternTarget("https://h5.example/order/:id")))
    try router.page("/order/:id", name: "any")
    let client = try await connect(
      ["scheme": "native", "kind": "page"], ["scheme": "https", "kind": "page"])
    try await open("native://order/7", client)
    #expect(try await declineNextRequest(client).request["route"] == "order")
    #expect(try await declineNextRequest(client).request["route"] == "any")
    #expect(try await client.acceptPageOpen()["uri"] == "https://h5.example/order/7")
  }

  @Test(arguments: [true, false])
  func usesSchemeTargetBeforeHandlerThenFails(isDeclared: Bool) async throws {
    if isDeclared { try router.page("native://a") }
    let client = try await connect(["scheme": "native", "kind": "page"])
    try await open("native://a", client)
    try await declineNextRequest(client)
    let error = try await client.response("native://a")["error"]
    #expect(error?["code"] == 2404)
    #expect(error?["data"]?["kind"] == "declined")

    router.setUndefinedRouteHandler { call in .respond(.string("handler: \(call.uri)")) }
    try await open("native://a", client)
    try await declineNextRequest(client)
    #expect(try await client.response("native://a")["result"]?["data"] == "handler: native://a")

    try router.setUndefinedRoute(scheme: "native", leadsTo: "native://upgrade")
    try router.page("native://upgrade", name: "upgrade")
    try await open("native://a", client)
    try await declineNextRequest(client)
    #expect(try await client.acceptPageOpen()["uri"] == "native://upgrade?uri=native://a")
  }

  @Test func schemeHostServesOnlyDeclaredRoutesOfClosedScheme() async throws {
    try router.setScheme("native", isClosed: true)
    try router.page("native://a", name: "a")
    let client = try await connect(
      ["scheme": "native", "kind": "page"], ["patterns": ["native://own/*"], "kind": "page"])
    try await open("native://a", client)
    #expect(try await client.acceptPageOpen()["route"] == "a")
    try await open("native://own/b", client)
    #expect(try await client.acceptPageOpen()["route"] == .null)
    try await open("native://new", client)
    #expect(try await client.response("native://new")["error"]?["data"]?["kind"] == "noRoute")
    router.setUndefinedRouteHandler { _ in .redirect(uri: "native://a", params: ["from": "new"]) }
    try await open("native://newer", client)
    #expect(try await client.acceptPageOpen()["params"] == ["from": "new"])
    try router.setUndefinedRoute(scheme: "native", leadsTo: "native://a")
    try await open("native://newest", client)
    #expect(try await client.acceptPageOpen()["params"] == ["uri": "native://newest"])
  }

  @Test func hostPatternOverridesQueryButNotParams() async throws {
    let client = try await connect(["patterns": ["native://a/:id"], "kind": "page"])
    try await open("native://a/5?id=7&q=1", client)
    #expect(try await client.acceptPageOpen()["params"] == ["id": "5", "q": "1"])
    try await client.call(
      "more", "router.open", ["uri": "native://a/5?id=7", "params": ["id": 9]])
    #expect(try await client.acceptPageOpen()["params"] == ["id": 9])
    try await open("native://a/%FF", client)
    #expect(try await client.response("native://a/%FF")["error"]?["code"] == 2422)
  }

  @Test func keepsParamsChangedByInterceptor() async throws {
    router.intercept("gate") { call in .change(params: ["id": "changed"]) }
    let client = try await connect(["patterns": ["native://a/:id/:more"], "kind": "page"])
    try await open("native://a/5/6", client)
    #expect(try await client.acceptPageOpen()["params"] == ["id": "changed", "more": "6"])
  }

  @Test func declinedOpenKeepsQueuePosition() async throws {
    let client = try await connect(
      ["scheme": "native", "kind": "page"], ["patterns": ["native://a"], "kind": "page"])
    try await open("native://root", client)
    _ = try await client.acceptPageOpen()
    try await open("native://a", client)
    let request = try await client.nextRequest("page.open")
    try await client.call("back", "navigation.back", [:])
    try await client.decline(request)
    let page = try await client.acceptPageOpen()["id"]
    let back = try await client.response("back")["result"]
    #expect(back?["closed"] == .array([page ?? .null]), "the page was opened first")
  }

  @Test func declinedPageMethodFails() async throws {
    let client = try await connect(["scheme": "native", "kind": "page"])
    try await open("native://a", client)
    let page = try await client.acceptPageOpen()["id"] ?? .null
    try await client.call("call", "page.call", ["page": page, "method": "m"])
    try await client.decline(try await client.nextRequest("page.call"))
    #expect(try await client.response("call")["error"]?["code"] == 2502)
  }

  @Test func reportsDeclinedTaskWithoutFailure() async throws {
    try router.task("action://a/b", name: "sync") { _ in throw Declined() }
    try router.task("action://a/:x", name: "async") { _ in
      await Task.yield()
      throw Declined()
    }
    try router.register(
      Route(name: "hosted", patterns: [RoutePattern("action://a/*")], kind: .task))
    try router.task("/a/:x", name: "last") { _ in "done" }
    let hookLog = Mailbox<String>()
    router.addHook("all") { notice, _ in
      switch notice {
      case .didRun(_, let route, _): hookLog.put("didRun \(route ?? "-")")
      default: hookLog.put("\(notice)")
      }
    }
    let client = try await connect(["scheme": "action", "kind": "task"])
    try await client.subscribe("task.*", "route.*")
    try await client.call("invoke", "router.invoke", ["uri": "action://a/b"])
    var events: [String] = []
    while events.last != "task.finished last" {
      let message = try await client.nextMessage()
      if message["method"] == "task.run" { try await client.decline(message) }
      guard message["method"] == "event" else { continue }
      let (topic, data) = (message["params"]?["topic"]?.string, message["params"]?["data"])
      events.append("\(topic ?? "") \(data?["route"]?.string ?? "")")
    }
    let names = ["sync", "async", "hosted"]
    #expect(
      events == names.flatMap { ["task.started \($0)", "task.declined \($0)"] }
        + ["task.started last", "task.finished last"])
    #expect(try await hookLog.receive() == "didRun last")
  }
}
