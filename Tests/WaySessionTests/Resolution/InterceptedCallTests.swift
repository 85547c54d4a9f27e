import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Interceptors and redirects, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct InterceptedCallTests {
  private let router = Router()

  private func connect(hosting schemes: [String] = []) async throws -> WireClient {
    try await WireClient.connect(to: InMemoryBridge(router), hosting: schemes)
  }

  private func registerLoginGate() throws {
    try router.page("native://order/:id", name: "order")
    try router.page("native://login", name: "login")
    router.intercept("login", on: .all(except: ["login", "native://home"])) { call in
      let outcome = try await call.navigator.open(
        "native://login", ["for": .string(call.uri.text)], style: .present)
      return outcome.kind == .finished ? .next : .refuse("the user did not log in")
    }
  }

  @Test func continuesCallAfterLogin() async throws {
    try registerLoginGate()
    try router.page("native://home")
    let client = try await connect(hosting: ["native"])
    try await client.call(0, "router.open", ["uri": "native://home"])
    _ = try await client.acceptPageOpen()
    try await client.call(
      1, "router.open",
      [
        "uri": "native://order/7?a=b#top", "params": ["n": 2], "exts": ["animated": false],
        "style": "present",
      ])
    let login = try await client.acceptPageOpen()
    #expect(login["route"] == "login")
    #expect(login["params"] == ["for": "native://order/7?a=b#top"])
    try await client.call(2, "navigation.finish", ["page": login["id"] ?? .null])
    try await client.respond(try await client.nextRequest("page.close"), .null)
    let order = try await client.acceptPageOpen()
    #expect(order["uri"] == "native://order/7?a=b#top")
    #expect(order["params"] == ["a": "b", "id": "7", "n": 2])
    #expect(order["exts"] == ["animated": false])
    #expect(order["style"] == "present")
    try await client.call(
      3, "navigation.finish", ["page": order["id"] ?? .null, "result": ["data": "paid"]])
    let response = try await client.response(1)
    #expect(response["result"]?["outcome"] == "finished")
    #expect(response["result"]?["data"] == "paid")
  }

  @Test func refusesCallWhenLoginIsDismissed() async throws {
    try registerLoginGate()
    let client = try await connect(hosting: ["native"])
    try await client.call(1, "router.open", ["uri": "native://order/7"])
    let login = try await client.acceptPageOpen()
    try await client.call(2, "navigation.finish", ["page": login["id"] ?? .null])
    try await client.respond(try await client.nextRequest("page.close"), .null)
    _ = try await client.acceptPageOpen()
    try await client.call(3, "router.open", ["uri": "native://order/8"])
    _ = try await client.acceptPageOpen()
    try await client.call(4, "navigation.back", [:])
    let response = try await client.response(3)
    #expect(response["error"]?["code"] == 2423)
    #expect(
      response["error"]?["data"]
        == [
          "interceptor": "login", "reason": "the user did not log in", "kind": "refused",
          "retryable": false,
        ])
    try await client.call(5, "navigation.stack", [:])
    #expect(try await client.response(5)["result"]?["pages"]?.array?.count == 1)
  }

  @Test func pendingInterceptorDoesNotBlockOthersAndIsCancelled() async throws {
    try router.task("action://held", name: "held") { _ in "held" }
    try router.task("action://free") { _ in "free" }
    let waiting = Mailbox<Bool>()
    let never = Mailbox<Bool>()
    router.intercept("slow", on: .routes(["held"]), timeout: .seconds(5)) { _ in
      waiting.put(true)
      _ = try await never.receive()
      return .next
    }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "router.invoke", ["uri": "action://held"])
    _ = try await waiting.receive()
    #expect(try await client.invoke("action://free")["result"] == "free")
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.response(1)["error"]?["code"] == -32800)
    try await client.call(2, "router.invoke", ["uri": "action://held", "deadlineMs": 1000])
    _ = try await waiting.receive()
    try await client.call(3, "router.invoke", ["uri": "action://held"])
    _ = try await waiting.receive()
    try await bridge.server.advance(by: .seconds(1))
    #expect(try await client.response(2)["error"]?["code"] == 2408)
    try await bridge.server.advance(by: .seconds(4))
    let late = try await client.response(3)["error"]
    #expect(late?["code"] == 2423)
    #expect(late?["data"]?["interceptor"] == "slow")
  }

  @Test(arguments: [true, false])
  func interceptorChangesRedirectsOrRefusesCall(waits: Bool) async throws {
    try router.register(
      Route(
        name: "echo", patterns: [RoutePattern("action://echo(/:id)")], kind: .task,
        parameters: [ParameterDeclaration("n", .integer, defaultValue: 5)],
        handler: .task { call in .object(call.params) }))
    let decide: @Sendable (Call) throws -> Interception = { call in
      switch call.uri.fragment {
      case "change": return .change(params: ["n": 1, "was": call.params["n"] ?? .null])
      case "wrong": return .change(params: ["n": "1"])
      case "redirect": return .redirect(to: "action://echo/8")
      case "redirect-params": return .redirect(to: "action://echo/8", params: ["p": 1])
      case "loop": return .redirect(to: call.uri.text)
      case "refuse": return .refuse("not today")
      case "own": throw CallError(code: 1234, message: "own", data: 1)
      case "fail": throw Declined()
      default: return .next
      }
    }
    if waits {
      router.intercept("gate") { call in
        await Task.yield()
        return try decide(call)
      }
    } else {
      router.intercept("gate", decide)
    }
    let client = try await connect()
    let results: [(String, Value)] = [
      ("none", ["n": 5, "x": 1]), ("change", ["n": 1, "was": 5]),
      ("redirect", ["id": "8", "x": 1, "n": 5]), ("redirect-params", ["id": "8", "p": 1, "n": 5]),
    ]
    for (fragment, expected) in results {
      let response = try await client.invoke("action://echo#\(fragment)", ["x": 1])
      #expect(response["result"] == expected, "\(fragment)")
    }
    let errors: [(String, Value, Value?)] = [
      ("wrong", 2422, nil), ("loop", 2508, nil), ("refuse", 2423, "not today"), ("own", 1234, nil),
      ("fail", 2423, nil),
    ]
    for (fragment, code, reason) in errors {
      let error = try await client.invoke("action://echo#\(fragment)")["error"]
      #expect(error?["code"] == code, "\(fragment)")
      if let reason { #expect(error?["data"]?["reason"] == reason) }
      if fragment == "loop" { #expect(error?["data"]?["chain"]?.array?.count == 10) }
    }
  }

  @Test func skipsInterceptorsForUnresolvedCalls() async throws {
    try router.task("action://hosted-nowhere", name: "bound") { _ in nil }
    try router.removeHandler("bound")
    router.intercept("gate") { _ in
      Issue.record("asked")
      return .next
    }
    let client = try await connect()
    #expect(try await client.invoke("action://none")["error"]?["code"] == 2404)
    #expect(try await client.invoke("action://hosted-nowhere")["error"]?["code"] == 2504)
    try await client.call(1, "router.canOpen", ["uri": "action://hosted-nowhere"])
    #expect(try await client.response(1)["result"] == ["canOpen": false])
  }

  @Test func interceptsUndeclaredPages() async throws {
    router.intercept("gate") { _ in .refuse("no") }
    let client = try await connect(hosting: ["native"])
    try await client.call(1, "router.open", ["uri": "native://anything"])
    #expect(try await client.response(1)["error"]?["code"] == 2423)
  }

  @Test func followsTableRedirect() async throws {
    try router.task("action://new", name: "new") { call in .string(call.uri.text) }
    try router.redirect("action://old/:id", to: "action://new")
    try router.redirect("action://a", to: "action://b")
    try router.redirect("action://b", to: "action://a")
    let client = try await connect()
    for _ in 0..<2 {
      #expect(try await client.invoke("action://old/7?q=1")["result"] == "action://new?q=1&id=7")
    }
    let error = try await client.invoke("action://a")["error"]
    #expect(error?["code"] == 2508)
    #expect(error?["data"]?["chain"] == ["action://a", "action://b", "action://a"])
  }

  @Test func rejectsParametersThatTypedTaskCannotDecode() async throws {
    struct Request: Decodable {
      let count: Int
    }
    try router.task("action://typed") { (request: Request, _) in request.count + 1 }
    let client = try await connect()
    #expect(try await client.invoke("action://typed?count=2")["result"] == 3)
    let error = try await client.invoke("action://typed", ["count": []])["error"]
    #expect(error?["code"] == 2422)
    #expect(error?["data"]?["errors"]?.array?.first?["path"] == "$.count")
  }
}
