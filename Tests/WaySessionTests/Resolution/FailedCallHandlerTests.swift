import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// What the failure handler makes of calls that fail, over the wire.
@Suite(.timeLimit(.minutes(1)))
struct FailedCallHandlerTests {
  private let router = Router()
  private let asked = Mailbox<String>()

  /// The handler tells what it is asked, and does as `decide` says.
  private func connect(
    hosting schemes: [String] = [],
    _ decide: @escaping @Sendable (Call, CallError) async throws -> FailedCallDecision
  ) async throws -> WireClient {
    let asked = asked
    router.failedCall { call, error in
      asked.put("\(call.uri) \(error.code) \(error.kind)")
      return try await decide(call, error)
    }
    return try await WireClient.connect(to: InMemoryBridge(router), hosting: schemes)
  }

  private func register() throws {
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
    router.undefinedRoute { call in
      if call.uri.text == "action://bad" { throw CallError(code: 9, message: "own") }
      return .decline
    }
  }

  /// What fails, and how the handler is told.
  private static let failures = [
    ("action://sync", "7 application"), ("action://async", "8 application"),
    ("action://hosted", "2504 hostAbsent"), ("action://typed", "2422 invalidParameters"),
    ("action://secret", "2423 refused"), ("action://here", "2508 redirectLoop"),
    ("action://none", "2404 noRoute"), ("action://bad", "9 application"),
  ]

  @Test(arguments: failures)
  func whateverFailedMayBeAnsweredRedirectedOrLeft(uri: String, told: String) async throws {
    try register()
    try router.task("action://end") { call in .object(call.params) }
    let client = try await connect { call, error in
      switch call.params["do"] {
      case "answer": .answer(["instead of": .integer(Int64(error.code))])
      case "redirect": .redirect(uri: "action://end", params: ["was": .integer(Int64(error.code))])
      default: .fail
      }
    }
    let code = Value.integer(Int64(told.prefix { $0 != " " }) ?? 0)
    #expect(try await client.invoke(uri)["error"]?["code"] == code)
    #expect(try await client.invoke(uri, ["do": "answer"])["result"] == ["instead of": code])
    #expect(try await client.invoke(uri, ["do": "redirect"])["result"] == ["was": code])
    for _ in 0..<3 { #expect(try await asked.take() == "\(uri) \(told)") }
  }

  @Test func aPageThatItsHostRefusesMayBeAnother() async throws {
    try router.page("native://order/:id", name: "order")
    let client = try await connect(hosting: ["native", "https"]) { call, _ in
      .redirect(uri: "https://h5.example/order", params: call.params)
    }
    try await client.call(1, "router.open", ["uri": "native://order/7", "params": ["p": 1]])
    try await client.refuse(try await client.request("page.open"), 1404)
    let page = try await client.show()
    #expect(page["uri"] == "https://h5.example/order")
    #expect(page["params"] == ["id": "7", "p": 1])
    #expect(try await asked.take() == "native://order/7 2502 hostFailed")
    try await client.call(2, "navigation.finish", ["page": page["id"] ?? .null])
    #expect(try await client.answer(1)["result"]?["outcome"] == "finished")
  }

  @Test func leadingACallInACircleEnds() async throws {
    try register()
    let client = try await connect { _, _ in .redirect(uri: "action://sync", params: [:]) }
    let error = try await client.invoke("action://sync")["error"]
    #expect(error?["code"] == 2508)
    #expect(error?["data"]?["chain"]?.list?.count == 10)
    for _ in 0..<9 { #expect(try await asked.take() == "action://sync 7 application") }
    asked.put("no more")
    #expect(try await asked.take() == "no more")
  }

  @Test func whatItThrowsIsTheCallsError() async throws {
    let client = try await connect { _, _ in throw CallError(code: 1001, message: "sorry") }
    #expect(try await client.invoke("action://none")["error"]?["code"] == 1001)
  }

  @Test func aCallThatIsCancelledOrLateOrNoURIIsNotAskedAbout() async throws {
    let (started, held) = (Mailbox<Void>(), Mailbox<Void>())
    try router.task("action://wait") { _ in
      started.put(())
      try await held.take()
      return nil
    }
    let bridge = InMemoryBridge(router)
    let asked = asked
    router.failedCall { call, _ in
      asked.put("\(call.uri)")
      return .answer("helped")
    }
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "router.invoke", ["uri": "action://wait"])
    try await started.take()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.answer(1)["error"]?["code"] == -32800)
    try await client.call(2, "router.invoke", ["uri": "action://wait", "deadlineMs": 50])
    try await started.take()
    try await bridge.server.advance(by: .milliseconds(60))
    #expect(try await client.answer(2)["error"]?["code"] == 2408)
    #expect(try await client.invoke("no uri")["error"]?["code"] == -32602)
    #expect(try await client.invoke("action://none")["result"] == "helped")
    #expect(try await asked.take() == "action://none")
  }

  @Test func theHandlerIsStoppedWithTheCall() async throws {
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
    try await started.take()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.answer(1)["error"]?["code"] == -32800)
    #expect(try await ended.take())
    #expect(try await client.hasHeardNothing())
  }

  @Test func whatIsHelpedHasNotFailedAndWhatIsNotHas() async throws {
    try register()
    let told = Mailbox<String>()
    router.hook("all") { notice, _ in
      switch notice {
      case .didRun(let uri, _, _): told.put("didRun \(uri)")
      case .failed(let failure): told.put("failed \(failure.uri ?? "") \(failure.code)")
      default: told.put("\(notice)")
      }
    }
    let client = try await connect { call, _ in call.params.isEmpty ? .fail : .answer(1) }
    for uri in ["action://none", "action://async"] {
      _ = try await client.invoke(uri)
      _ = try await client.invoke(uri, ["help": true])
    }
    for line in [
      "failed action://none 2404", "didRun action://none", "failed action://async 8",
      "failed action://async 8", "didRun action://async",
    ] {
      #expect(try await told.take() == line)
    }
  }

  @Test func aCallOfSwiftCodeIsHelpedToo() async throws {
    try router.task("action://outer") { call in
      try await call.navigator.invoke("action://none", ["n": 1])
    }
    let client = try await connect { call, _ in .answer(.object(call.params)) }
    #expect(try await client.invoke("action://outer")["result"] == ["n": 1])
  }
}
