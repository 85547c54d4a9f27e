import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// The results of the failure handler for failed calls, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct FailedCallHandlerTests {
  private let router = Router()
  private let handledFailures = Mailbox<String>()

  /// Connects to a bridge whose handler records each failure and returns the result of `decide`.
  private func connect(
    hosting schemes: [String] = [],
    _ decide: @escaping @Sendable (Call, CallError) async throws -> FailedCallDecision
  ) async throws -> WireClient {
    let recordedFailures = handledFailures
    router.setFailedCallHandler { call, error in
      recordedFailures.put("\(call.uri) \(error.code) \(error.kind)")
      return try await decide(call, error)
    }
    return try await WireClient.connect(to: InMemoryBridge(router), hosting: schemes)
  }

  private func registerRoutes() throws {
    try router.task("action://sync") { _ in throw CallError(code: 7, message: "own") }
    try router.task("action://async") { _ in
      await Task.yield()
      throw CallError(code: 8, message: "own")
    }
    try router.register(
      Route(name: "hosted", patterns: [RoutePattern("action://hosted")], kind: .task))
    try router.register(
      Route(
        name: "typed", patterns: [RoutePattern("action://typed")], kind: .task,
        parameters: [ParameterDeclaration("n", .integer, isRequired: true)],
        handler: .task { _ in 1 }))
    try router.task("action://secret", name: "secret") { _ in 1 }
    router.intercept("gate", on: .routes(["secret"])) { _ in .refuse("no") }
    try router.redirect("action://here", to: "action://there")
    try router.redirect("action://there", to: "action://here")
    router.setUndefinedRouteHandler { call in
      if call.uri.text == "action://bad" { throw CallError(code: 9, message: "own") }
      return .decline
    }
  }

  /// Failing calls, and the failures that the handler receives.
  private static let failures = [
    ("action://sync", "7 application"), ("action://async", "8 application"),
    ("action://hosted", "2504 hostAbsent"), ("action://typed", "2422 invalidParameters"),
    ("action://secret", "2423 refused"), ("action://here", "2508 redirectLoop"),
    ("action://none", "2404 noRoute"), ("action://bad", "9 application"),
  ]

  @Test(arguments: failures)
  func handlerRespondsRedirectsOrFails(uri: String, expected: String) async throws {
    try registerRoutes()
    try router.task("action://end") { call in .object(call.params) }
    let client = try await connect { call, error in
      switch call.params["do"] {
      case "answer": .respond(["instead of": .integer(Int64(error.code))])
      case "redirect": .redirect(uri: "action://end", params: ["was": .integer(Int64(error.code))])
      default: .fail
      }
    }
    let code = Value.integer(Int64(expected.prefix { $0 != " " }) ?? 0)
    #expect(try await client.invoke(uri)["error"]?["code"] == code)
    #expect(try await client.invoke(uri, ["do": "answer"])["result"] == ["instead of": code])
    #expect(try await client.invoke(uri, ["do": "redirect"])["result"] == ["was": code])
    for _ in 0..<3 { #expect(try await handledFailures.receive() == "\(uri) \(expected)") }
  }

  @Test func redirectsPageRejectedByHost() async throws {
    try router.page("native://order/:id", name: "order")
    let client = try await connect(hosting: ["native", "https"]) { call, _ in
      .redirect(uri: "https://h5.example/order", params: call.params)
    }
    try await client.call(1, "router.open", ["uri": "native://order/7", "params": ["p": 1]])
    try await client.reject(try await client.nextRequest("page.open"), 1404)
    let page = try await client.acceptPageOpen()
    #expect(page["uri"] == "https://h5.example/order")
    #expect(page["params"] == ["id": "7", "p": 1])
    #expect(try await handledFailures.receive() == "native://order/7 2502 hostFailed")
    try await client.call(2, "navigation.finish", ["page": page["id"] ?? .null])
    #expect(try await client.response(1)["result"]?["outcome"] == "finished")
  }

  @Test func rejectsRedirectLoop() async throws {
    try registerRoutes()
    let client = try await connect { _, _ in .redirect(uri: "action://sync", params: [:]) }
    let error = try await client.invoke("action://sync")["error"]
    #expect(error?["code"] == 2508)
    #expect(error?["data"]?["chain"]?.array?.count == 10)
    for _ in 0..<9 { #expect(try await handledFailures.receive() == "action://sync 7 application") }
    handledFailures.put("no more")
    #expect(try await handledFailures.receive() == "no more")
  }

  @Test func thrownErrorBecomesCallError() async throws {
    let client = try await connect { _, _ in throw CallError(code: 1001, message: "sorry") }
    #expect(try await client.invoke("action://none")["error"]?["code"] == 1001)
  }

  @Test func skipsCancelledTimedOutAndInvalidCalls() async throws {
    let (started, held) = (Mailbox<Void>(), Mailbox<Void>())
    try router.task("action://wait") { _ in
      started.put(())
      try await held.receive()
      return nil
    }
    let bridge = InMemoryBridge(router)
    let recordedFailures = handledFailures
    router.setFailedCallHandler { call, _ in
      recordedFailures.put("\(call.uri)")
      return .respond("helped")
    }
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "router.invoke", ["uri": "action://wait"])
    try await started.receive()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.response(1)["error"]?["code"] == -32800)
    try await client.call(2, "router.invoke", ["uri": "action://wait", "deadlineMs": 50])
    try await started.receive()
    try await bridge.server.advance(by: .milliseconds(60))
    #expect(try await client.response(2)["error"]?["code"] == 2408)
    #expect(try await client.invoke("no uri")["error"]?["code"] == -32602)
    #expect(try await client.invoke("action://none")["result"] == "helped")
    #expect(try await recordedFailures.receive() == "action://none")
  }

  @Test func cancellingCallCancelsHandler() async throws {
    let (started, ended) = (Mailbox<Void>(), Mailbox<Bool>())
    let client = try await connect { _, _ in
      started.put(())
      let (never, end) = AsyncStream.makeStream(of: Void.self)
      await withTaskCancellationHandler {
        for await _ in never {}
      } onCancel: {
        end.finish()
      }
      ended.put(Task.isCancelled)
      return .fail
    }
    try await client.call(1, "router.invoke", ["uri": "action://none"])
    try await started.receive()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.response(1)["error"]?["code"] == -32800)
    #expect(try await ended.receive())
    #expect(try await client.hasNoPendingMessages())
  }

  @Test func reportsOnlyUnrecoveredFailures() async throws {
    try registerRoutes()
    let events = Mailbox<String>()
    router.addHook("all") { notice, _ in
      switch notice {
      case .didRun(let uri, _, _): events.put("didRun \(uri)")
      case .didFail(let failure): events.put("failed \(failure.uri ?? "") \(failure.code)")
      default: events.put("\(notice)")
      }
    }
    let client = try await connect { call, _ in call.params.isEmpty ? .fail : .respond(1) }
    for uri in ["action://none", "action://async"] {
      _ = try await client.invoke(uri)
      _ = try await client.invoke(uri, ["help": true])
    }
    for line in [
      "failed action://none 2404", "didRun action://none", "failed action://async 8",
      "failed action://async 8", "didRun action://async",
    ] {
      #expect(try await events.receive() == line)
    }
  }

  @Test func handlesFailedCallOfTask() async throws {
    try router.task("action://outer") { call in
      try await call.navigator.invoke("action://none", ["n": 1])
    }
    let client = try await connect { call, _ in .respond(.object(call.params)) }
    #expect(try await client.invoke("action://outer")["result"] == ["n": 1])
  }
}
