import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Routes with Swift handlers, called over the wire.
@Suite(.timeLimit(.minutes(1)))
struct AppRouteTests {
  private let router = Router()

  private func connect() async throws -> WireClient {
    try await WireClient.connect(to: InMemoryBridge(router))
  }

  @Test func taskReturnsResultOfItsPage() async throws {
    try router.page("native://share/sheet")
    try router.task("action://share") { call in
      let outcome = try await call.navigator.open(
        "native://share/sheet", call.params, style: .present)
      return ["shared": .bool(outcome.kind == .finished), "channel": outcome.data]
    }
    let client = try await connect()
    try await client.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    _ = try await client.response("host")
    try await client.call(
      1, "router.invoke", ["uri": "action://share", "params": ["title": "Tea"]])
    let open = try await client.nextRequest("page.open")
    #expect(open["params"]?["page"]?["style"] == "push")
    #expect(open["params"]?["page"]?["params"] == ["title": "Tea"])
    let page = try #require(open["params"]?["page"]?["id"])
    try await client.respond(open, .null)
    try await client.call(2, "navigation.finish", ["page": page, "result": ["data": "mail"]])
    let close = try await client.nextRequest("page.close")
    try await client.respond(close, .null)
    let responses = [try await client.nextMessage(), try await client.nextMessage()]
    #expect(
      responses.contains([
        "jsonrpc": "2.0", "id": 1, "result": ["shared": true, "channel": "mail"],
      ]))
  }

  @Test func forwardsErrorOfNestedCall() async throws {
    try router.register(
      Route(
        name: "typed", patterns: [RoutePattern("action://typed")], kind: .task,
        parameters: [ParameterDeclaration("n", .integer, isRequired: true)],
        handler: .task { _ in 1 }))
    try router.task("action://secret", name: "secret") { _ in 1 }
    router.intercept("gate", on: .routes(["secret"])) { _ in .refuse("no") }
    try router.task("action://middle/:x") { call in
      try await call.navigator.invoke("action://\(call.params["x"]?.string ?? "")")
    }
    try router.task("action://open/:x") { call in
      try await call.navigator.open("action://\(call.params["x"]?.string ?? "")").value
    }
    try router.task("action://back") { call in
      _ = try await call.navigator.back(.to("native://nowhere"))
      return .null
    }
    let client = try await connect()
    for (uri, code) in [("none", 2404), ("typed", 2422), ("secret", 2423)] as [(String, Value)] {
      let direct = try await client.invoke("action://\(uri)")["error"]
      #expect(direct?["code"] == code)
      for outer in ["middle/\(uri)", "open/\(uri)", "middle/middle%2F\(uri)"] {
        #expect(try await client.invoke("action://\(outer)")["error"] == direct, "\(outer)")
      }
    }
    #expect(try await client.invoke("action://back")["error"]?["data"]?["kind"] == "notOnStack")
  }

  @Test(arguments: [
    (CallError(code: 1001, message: "out of tea", data: ["left": 0]), 1001, "out of tea"),
    (CallError(code: 3000, message: "own"), 3000, "own"),
    (CallError(code: 2404, message: "not its to give"), -32603, "not its to give"),
  ])
  func forwardsOnlyApplicationErrorCodes(
    error: CallError, code: Int64, message: String
  ) async throws {
    try router.task("action://sync") { _ in throw error }
    try router.task("action://async") { _ in
      await Task.yield()
      throw error
    }
    let client = try await connect()
    for uri in ["action://sync", "action://async"] {
      try await client.call(1, "router.invoke", ["uri": .string(uri)])
      let response = try await client.response(1)
      #expect(response["error"]?["code"]?.integer == code)
      #expect(response["error"]?["message"]?.string == message)
    }
  }

  @Test func cancellationReachesTask() async throws {
    let cancelled = Mailbox<Bool>()
    let started = Mailbox<Bool>()
    try router.task("action://wait") { _ in
      await withTaskCancellationHandler {
        started.put(true)
        _ = try? await cancelled.receive()
      } onCancel: {
        cancelled.put(true)
        cancelled.put(true)
      }
      return .null
    }
    let client = try await connect()
    try await client.call(1, "router.invoke", ["uri": "action://wait"])
    _ = try await started.receive()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.response(1)["error"]?["code"] == -32800)
    #expect(try await cancelled.receive())
  }

  @Test func taskReportsProgressAndReceivesDeadline() async throws {
    try router.task("action://steps") { call in
      await Task.yield()
      for step in 1...3 { call.reportProgress(["step": .integer(Int64(step))]) }
      return .bool(call.deadline != nil)
    }
    let client = try await connect()
    try await client.call(1, "router.invoke", ["uri": "action://steps", "deadlineMs": 60_000])
    for step in 1...3 {
      let progress = try await client.nextMessage()
      #expect(progress["method"] == "$/progress")
      #expect(
        progress["params"] == ["id": 1, "value": ["step": .integer(Int64(step))]])
    }
    #expect(try await client.response(1)["result"] == true)
  }

  @Test func rejectsRedirectedPageInBatch() async throws {
    try router.page("native://page", PageHandler(open: { _, _ in }, close: { _, _, _ in }))
    router.setUndefinedRouteHandler { _ in .redirect(uri: "native://page", params: [:]) }
    let bridge = InMemoryBridge(router)
    let client = try await WireClient.connect(to: bridge)
    try await client.batch([
      ["jsonrpc": "2.0", "id": 1, "method": "router.open", "params": ["uri": "native://old"]]
    ])
    let responses = try await client.nextMessage().array
    #expect(responses?.first?["error"]?["code"] == 2405)
  }

  @Test func opensAndClosesPageOfApp() async throws {
    let closed = Mailbox<String>()
    try router.page(
      "native://sdk/pay",
      PageHandler(open: { _, _ in }, close: { _, reason, _ in closed.put(reason.rawValue) }))
    let client = try await connect()
    try await client.call(1, "router.open", ["uri": "native://sdk/pay"])
    let progress = try await client.nextRequest("$/progress")
    let page = try #require(progress["params"]?["value"]?["opened"]?["page"])
    try await client.call(2, "navigation.finish", ["page": page, "result": ["code": 7]])
    let outcome = try await client.response(1)
    #expect(outcome["result"]?["outcome"] == "finished")
    #expect(outcome["result"]?["code"] == 7)
    #expect(try await closed.receive() == "finished")
  }

  @Test func closesPageWhenSessionEnds() async throws {
    let closed = Mailbox<String>()
    try router.page(
      "native://sdk/pay",
      PageHandler(open: { _, _ in }, close: { _, reason, _ in closed.put(reason.rawValue) }))
    let bridge = InMemoryBridge(router)
    let (client, _) = try await WireClient.open(bridge)
    let deliveries = try await bridge.sessionServer.dispatch.open(
      "native://sdk/pay", [:], exts: [:], style: .push, in: .all, timeout: .seconds(3))
    let opened = try #require(try deliveries.first?.result.get())
    try await client.close()
    #expect(try await closed.receive() == "cancelled")
    #expect(try await opened.outcome().kind == .cancelled)
  }

  @Test func decodesPageParameters() async throws {
    struct Payment: Decodable {
      let amount: Double
      let note: String?
    }
    let shown = Mailbox<Double>()
    try router.page(
      "native://sdk/pay/:amount",
      PageHandler(
        open: { page, _ in
          let payment: Payment = try page.decode()
          shown.put(payment.amount)
        }, close: { _, _, _ in }))
    let client = try await connect()
    try await client.call(1, "router.open", ["uri": "native://sdk/pay/2.5"])
    #expect(try await shown.receive() == 2.5)
    try await client.call(
      2, "router.open", ["uri": "native://sdk/pay/1", "params": ["note": 7]])
    let error = try await client.response(2)["error"]
    #expect(error?["code"] == 2422)
    #expect(error?["data"]?["errors"]?.array?.map { $0["path"] } == ["$.note"])
  }

  @Test func rejectsPageWhoseHandlerThrows() async throws {
    try router.page(
      "native://sdk/pay",
      PageHandler(
        open: { _, _ in throw CallError(code: 1, message: "no wallet") }, close: { _, _, _ in }))
    let client = try await connect()
    try await client.call(1, "router.open", ["uri": "native://sdk/pay"])
    let response = try await client.response(1)
    #expect(response["error"]?["code"] == 2502)
    #expect(response["error"]?["message"]?.string?.contains("no wallet") == true)
  }

  @Test func customDispatcherHandlesDeclaredRoutes() async throws {
    try router.register(
      SchemeDispatcher(
        name: "own",
        action: .custom { call in [.string(call.route?.name ?? "none"), .object(call.params)] }),
      scheme: "own")
    try router.page("own://page/:id", name: "page")
    try router.task("own://task", name: "task") { _ in "its own handler" }
    let client = try await connect()
    for (uri, expected) in [
      ("own://page/7?a=b", ["page", ["a": "b", "id": "7"]]), ("own://task", ["task", [:]]),
      ("own://other", ["none", [:]]),
    ] as [(String, Value)] {
      #expect(try await client.invoke(uri)["result"] == expected)
      try await client.call(1, "router.open", ["uri": .string(uri)])
      #expect(try await client.response(1)["result"]?["data"] == expected)
    }
  }

  @Test func undefinedRouteHandlerRespondsOrRedirects() async throws {
    try router.task("action://upgrade") { call in ["from": call.params["from"] ?? .null] }
    router.setUndefinedRouteHandler { call in
      switch call.uri.path {
      case "/answer": .respond("answered")
      case "/redirect": .redirect(uri: "action://upgrade?from=old", params: [:])
      case "/loop": .redirect(uri: call.uri.text, params: [:])
      default: .decline
      }
    }
    let client = try await connect()
    let expected: [(String, Value)] = [
      ("native://old/answer", ["result": "answered"]),
      ("native://old/redirect", ["result": ["from": "old"]]),
    ]
    for (uri, wanted) in expected {
      try await client.call(1, "router.invoke", ["uri": .string(uri)])
      #expect(try await client.response(1)["result"] == wanted["result"])
    }
    for (uri, code) in [("native://old/loop", 2508 as Int64), ("native://old/gone", 2404)] {
      try await client.call(1, "router.invoke", ["uri": .string(uri)])
      #expect(try await client.response(1)["error"]?["code"]?.integer == code)
    }
  }

  @Test func canOpenRunsNoHandler() async throws {
    let ran = Mailbox<String>()
    router.setUndefinedRouteHandler { _ in
      ran.put("undefined")
      return .respond(.null)
    }
    try router.task("action://touch") { _ in
      ran.put("task")
      return .null
    }
    let client = try await connect()
    try await client.call(1, "router.canOpen", ["uri": "action://touch"])
    #expect(
      try await client.response(1)["result"]
        == ["canOpen": true, "kind": "task", "route": "action://touch"])
    try await client.call(2, "router.canOpen", ["uri": "native://unknown"])
    #expect(
      try await client.response(2)["result"] == ["canOpen": true, "kind": "task"],
      "the handler is not called")
    ran.put("nothing")
    #expect(try await ran.receive() == "nothing")
  }

  @Test func appliesRouteChangesToConnectedClients() async throws {
    let client = try await connect()
    let registration = try router.task("action://late") { _ in 1 }
    try await client.call(1, "router.invoke", ["uri": "action://late"])
    #expect(try await client.response(1)["result"] == 1)
    router.remove(registration)
    try await client.call(2, "router.invoke", ["uri": "action://late"])
    #expect(try await client.response(2)["error"]?["code"] == 2404)
    try router.register(
      SchemeDispatcher(name: "own", action: .custom { call in .string(call.uri.path) }),
      scheme: "own")
    try await client.call(3, "router.invoke", ["uri": "own:thing"])
    #expect(try await client.response(3)["result"] == "thing")
    try router.removeDispatcher(scheme: "own")
    try await client.call(4, "router.invoke", ["uri": "own:thing"])
    #expect(try await client.response(4)["error"]?["code"] == 2404)
  }
}
