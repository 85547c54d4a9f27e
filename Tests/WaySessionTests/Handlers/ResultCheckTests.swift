import TestSupport
import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// Results of Swift code that do not fit their declarations, and what reports them.
@Suite(.timeLimit(.minutes(1)))
struct ResultCheckTests {
  private let router = Router()
  private let reports = Mailbox<InvalidResultReport>()
  private static let number = ValueSchema(.integer)

  private func bridge(_ check: ResultCheck = .reject) -> InMemoryBridge {
    var observer = EventSink()
    observer.emit = { [reports] _, event, _ in
      if case .resultInvalid(let report) = event { reports.put(report) }
    }
    return InMemoryBridge(router, observer: observer, resultCheck: check)
  }

  private func register(
    _ name: String, _ handler: RouteHandler = .hosted, kind: RouteKind = .task,
    methods: [RoutePageMethod] = []
  ) throws {
    try router.register(
      Route(
        name: name, patterns: [RoutePattern("x://\(name)")], kind: kind, result: Self.number,
        methods: methods, handler: handler))
  }

  private func registerTasks() throws {
    try register("sync", .task { _ in "no" })
    try register("async", .asyncTask { _ in "no" })
    try router.register(
      SchemeDispatcher(name: "own", action: .custom { _ in "no" }), scheme: "own")
    try router.register(
      Route(
        name: "custom", patterns: [RoutePattern("own://custom")], kind: .task, result: Self.number))
  }

  private static let tasks = ["x://sync", "x://async", "own://custom"]

  @Test(arguments: tasks)
  func rejectsResultOfTask(uri: String) async throws {
    try registerTasks()
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge)
    for method in ["router.invoke", "router.open"] {
      let error = try await client.request(method, ["uri": .string(uri)])["error"]
      #expect(error?["code"] == 2502)
      let data = error?["data"]
      #expect(data?["kind"] == "invalidResult")
      #expect(data?["retryable"] == false)
      #expect(data?["errors"]?.array?.map { $0["path"] } == ["$.result"])
      let report = try await reports.receive()
      #expect(report.host == "server")
      #expect(report.uri == uri)
      #expect(report.isRejected)
    }
    #expect(bridge.sessionServer.invalidResults.withLock { $0 } == [.task: 2])
  }

  @Test(arguments: tasks)
  func passesOnResultIfItOnlyLogs(uri: String) async throws {
    try registerTasks()
    let bridge = bridge(.log)
    let client = try await WireClient.connect(to: bridge)
    let result = try await client.request("router.invoke", ["uri": .string(uri)])["result"]
    #expect(result == "no")
    let outcome = try await client.request("router.open", ["uri": .string(uri)])["result"]
    #expect(outcome == ["outcome": "finished", "code": 0, "message": "", "data": "no"])
    for _ in 0..<2 { #expect(try await reports.receive().isRejected == false) }
    #expect(bridge.sessionServer.invalidResults.withLock { $0 } == [.task: 2])
  }

  @Test func passesOnResultThatFits() async throws {
    try register("sync", .task { _ in 7 })
    try register("async", .asyncTask { _ in 8 })
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge)
    #expect(try await client.invoke("x://sync")["result"] == 7)
    #expect(try await client.invoke("x://async")["result"] == 8)
    #expect(bridge.sessionServer.invalidResults.withLock { $0 }.isEmpty)
  }

  @Test func passesOnAttachedResult() async throws {
    try register("sync", .task { try $0.attachResult([1, 2]) })
    try register("async", .asyncTask { try $0.attachResult([3]) })
    try router.task("x://outer") { call in
      let first = try await call.navigator.invoke("x://sync", returning: [Int].self)
      let second = try await call.navigator.invoke("x://async", returning: [Int].self)
      return .integer(Int64((first + second).reduce(0, +)))
    }
    let client = try await WireClient.connect(to: bridge())
    #expect(try await client.invoke("x://outer")["result"] == 6)
  }

  @Test func checksHandlerAgainstCurrentTable() async throws {
    func load(_ type: String, _ version: String) throws {
      let table = try RouteTable(parsing: [
        "version": .string(version),
        "routes": [
          [
            "name": "sync", "pattern": "x://sync", "kind": "task",
            "result": ["type": .string(type)],
          ]
        ],
      ])
      try table.apply(to: router, replacing: true)
    }
    try load("string", "1")
    try router.handle("sync", with: .task { _ in "no" })
    let client = try await WireClient.connect(to: bridge())
    #expect(try await client.invoke("x://sync")["result"] == "no")
    try load("integer", "2")
    let error = try await client.request("router.invoke", ["uri": "x://sync"])["error"]
    #expect(error?["code"] == 2502)
    try load("string", "3")
    #expect(try await client.invoke("x://sync")["result"] == "no")
  }

  @Test func swiftPageStaysOpenUntilItsResultFits() async throws {
    let failures = Mailbox<CallError?>()
    try register(
      "page",
      .page(
        PageHandler(
          open: { _, call in
            let navigator = call.navigator
            Task {
              do {
                try await navigator.finish(PageResult("no"))
                failures.put(nil)
              } catch {
                failures.put(error as? CallError)
                try await navigator.finish(PageResult(7))
              }
            }
          }, close: { _, _, _ in })), kind: .page)
    let client = try await WireClient.connect(to: bridge())
    try await client.call("open", "router.open", ["uri": "x://page"])
    let error = try await failures.receive()
    #expect(error?.protocolCode == .invalidParameters)
    #expect(error?.kind == "invalidResult")
    #expect(try await client.response("open")["result"]?["data"] == 7)
    #expect(try await reports.receive().source == .page)
  }

  @Test(arguments: [ResultCheck.reject, .log])
  func checksMethodOfSwiftPage(check: ResultCheck) async throws {
    let handler = PageHandler(
      open: { _, _ in }, close: { _, _, _ in }, call: { _, _, call in call.params["n"] ?? .null })
    try register(
      "page", .page(handler), kind: .page,
      methods: [RoutePageMethod("add", parameters: [], result: Self.number)])
    let client = try await WireClient.connect(to: bridge(check))
    try await client.call("open", "router.open", ["uri": "x://page"])
    _ = try await client.nextRequest("$/progress")
    func call(_ n: Value) async throws -> Value {
      try await client.request("page.call", ["page": "p1", "method": "add", "params": ["n": n]])
    }
    #expect(try await call(7)["result"] == 7)
    let response = try await call("no")
    if check == .reject {
      #expect(response["error"]?["data"]?["kind"] == "invalidResult")
    } else {
      #expect(response["result"] == "no")
    }
    let report = try await reports.receive()
    #expect(report.method == "add")
    #expect(report.route == "page")
  }

  @Test func logModeNotifiesHostOfPage() async throws {
    try register("page", kind: .page)
    let client = try await WireClient.connect(to: bridge(.log), hosting: ["x"])
    try await client.call("open", "router.open", ["uri": "x://page"])
    let page = try await client.acceptPageOpen()["id"] ?? .null
    _ = try await client.nextRequest("$/progress")
    try await client.call(
      "finish", "navigation.finish", ["page": page, "result": ["data": "no"]])
    let event = try await client.nextEvent()
    #expect(event["topic"] == "route.invalidResult")
    #expect(event["data"]?["errors"]?.array?.map { $0["path"] } == ["$.result.data"])
    #expect(try await client.response("open")["result"]?["data"] == "no")
  }

  @Test(arguments: [Value.string("no"), 7])
  func checksResultOfFailureHandler(value: Value) async throws {
    try register("sync", .task { _ in throw CallError(code: 7, message: "own") })
    let calls = Locked(0)
    router.setFailedCallHandler { _, _ in
      calls.withLock { $0 += 1 }
      return .respond(value)
    }
    let client = try await WireClient.connect(to: bridge())
    let response = try await client.request("router.invoke", ["uri": "x://sync"])
    if value == 7 {
      #expect(response["result"] == 7)
    } else {
      #expect(response["error"]?["data"]?["kind"] == "invalidResult")
    }
    // The handler does not run for its own result.
    #expect(calls.withLock { $0 } == 1)
  }

  @Test func failureHandlerRecoversFromInvalidResult() async throws {
    try register("sync", .task { _ in "no" })
    router.setFailedCallHandler { _, error in
      error.kind == "invalidResult" ? .respond(7) : .fail
    }
    let client = try await WireClient.connect(to: bridge())
    #expect(try await client.invoke("x://sync")["result"] == 7)
  }

  @Test func deepLinkOfInvalidTaskIsFollowedOnce() async throws {
    try register("task")
    let bridge = bridge()
    let (client, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "x", "kind": "task"]]])
    _ = try await client.request("router.deliver", ["uri": "x://task"])
    try await client.respond(try await client.nextRequest("task.run"), "no")
    #expect(try await client.nextEvent()["topic"] == "route.invalidResult")
    #expect(try await client.hasNoPendingMessages())
  }

  @Test func appPublishesOnlyDataThatFits() async throws {
    let table = try RouteTable(parsing: [
      "version": "1", "routes": [], "topics": ["cart": ["data": ["type": "integer"]]],
    ])
    try table.apply(to: router)
    let bridge = bridge(.log)
    let (client, _) = try await WireClient.open(bridge)
    try await client.subscribe("*")
    for audience in [Audience.all, .user("none")] {
      let error = await #expect(throws: CallError.self) {
        try await bridge.sessionServer.dispatch.publish("cart", "no", to: audience, retain: 1)
      }
      #expect(error?.protocolCode == .invalidParameters)
      #expect(error?.data?["errors"]?.array?.map { $0["path"] } == ["$.data"])
    }
    try await bridge.sessionServer.dispatch.publish("cart", 7, to: .all, retain: 0)
    try await bridge.sessionServer.dispatch.publish("other", "any", to: .all, retain: 0)
    #expect(try await client.nextEvent()["data"] == 7)
    #expect(try await client.nextEvent()["data"] == "any")
    #expect(try await client.hasNoPendingMessages())
  }
}
