import Testing
import Waybridge
import WaybridgeClient
import WaybridgeTesting

/// Pages that a ``TestHost`` shows, and tasks that it runs.
@Suite(.timeLimit(.minutes(1)))
struct TestHostTests {
  private let router = Router()

  private func start(timeout: Duration = .seconds(10)) async throws -> (TestBridge, TestHost) {
    for name in ["home", "address/list", "detail/:id"] { try router.page("native://\(name)") }
    let app = try await TestBridge(router, timeout: timeout)
    return (app, try await app.registerHost("native", tasks: ["action://share"]))
  }

  @Test func pageReturnsResultToOpener() async throws {
    let (app, shell) = try await start()
    async let outcome = app.open("native://address/list", ["pick": true], exts: ["animated": false])
    let page = try await shell.nextPage()
    #expect(page.uri == "native://address/list")
    #expect(page.params == ["pick": true])
    #expect(page.exts == ["animated": false])
    try await shell.finish(page, ["city": "Ulm"], code: 3, message: "picked")
    #expect(
      try await outcome == .finished(code: 3, message: "picked", data: ["city": "Ulm"]))
    #expect(try await shell.nextClosedPage().reason == .finished)
    let error = await #expect(throws: CallError.self) { try await shell.finish(page) }
    #expect(error?.kind == "notOnStack")
  }

  @Test func reportsPagesAndCloseReasons() async throws {
    let (app, shell) = try await start()
    let home = Task { try await app.open("native://home") }
    try await shell.nextPage()
    async let first = app.open("native://detail/1")
    try await shell.nextPage()
    async let second = app.open("native://detail/2")
    try await shell.nextPage()
    let uris = ["native://home", "native://detail/1", "native://detail/2"]
    #expect(shell.pages.map(\.uri) == uris)
    #expect(try await app.stack().pages.map(\.uri) == uris)
    try await app.back(exts: ["animated": false])
    #expect(try await second == .dismissed)
    #expect(shell.pages.map(\.uri) == Array(uris.dropLast()))
    let closed = try await shell.nextClosedPage()
    #expect(closed.page.uri == "native://detail/2")
    #expect(closed.reason == .dismissed)
    #expect(closed.exts == ["animated": false])
    #expect(try await shell.nextResumedPage().uri == "native://detail/1")
    try await app.back(.root)
    #expect(try await shell.nextClosedPage().page.uri == "native://detail/1")
    #expect(try await first == .dismissed)
    await app.client.close()
    #expect(shell.pages.map(\.uri) == ["native://home"], "the page remains without its opener")
    await #expect(throws: CallError.self) { try await home.value }
  }

  @Test func hostRejectsPage() async throws {
    let (app, shell) = try await start()
    shell.behavior = .rejects(CallError(code: 7, message: "no camera"))
    let rejection = await #expect(throws: CallError.self) { try await app.open("native://home") }
    #expect(rejection?.code == 2502)
    #expect(rejection?.data?["host"]?["code"] == 7)
    #expect(try await shell.nextRequestedPage().uri == "native://home")
    #expect(try await app.stack().pages.isEmpty)
  }

  @Test func silentHostTimesOutByClock() async throws {
    let (app, shell) = try await start()
    shell.behavior = .doesNotRespond
    let outcome = Task { try await app.open("native://home") }
    try await shell.nextRequestedPage()
    await app.advance(by: .seconds(10))
    let error = await #expect(throws: CallError.self) { try await outcome.value }
    #expect(error?.protocolCode == .hostAbsent)
    #expect(shell.pages.isEmpty)
  }

  @Test func slowHostRespondsWhenBehaviorChanges() async throws {
    let (app, shell) = try await start()
    shell.behavior = .doesNotRespond
    async let outcome = app.open("native://home")
    try await shell.nextRequestedPage()
    await app.advance(by: .seconds(9))
    shell.behavior = .shows
    try await shell.finish(try await shell.nextPage(), "in time")
    #expect(try await outcome.data == "in time")
    shell.behavior = .doesNotRespond
    let rejected = Task { try await app.open("native://home") }
    try await shell.nextRequestedPage()
    shell.behavior = .rejects(CallError(code: 1, message: "after all"))
    let error = await #expect(throws: CallError.self) { try await rejected.value }
    #expect(error?.message == "The host answered: after all")
  }

  @Test func missingPageTimesOutWithDescription() async throws {
    let (app, shell) = try await start(timeout: .milliseconds(50))
    let error = await #expect(throws: CallError.self) { try await shell.nextPage() }
    #expect(error?.protocolCode == .deadline)
    #expect(
      error?.message.contains("in vain for a page to be shown: the host shows nothing") == true)
    let left = await #expect(throws: CallError.self) { try await app.open("native://home") }
    #expect(left?.message.contains("the outcome of native://home") == true)
    let task = await #expect(throws: CallError.self) { try await shell.nextTask() }
    #expect(task?.message.contains("a task to be run") == true)
  }

  @Test func hostedTaskReportsProgressAndResult() async throws {
    let (app, shell) = try await start()
    let (progress, progressContinuation) = AsyncStream.makeStream(of: Value.self)
    async let value = app.invoke("action://share?title=Tea") { progressContinuation.yield($0) }
    let task = try await shell.nextTask()
    #expect(task.call.params == ["title": "Tea"])
    task.reportProgress(0.5)
    task.complete(["shared": true])
    task.fail(CallError(code: 1, message: "too late"))
    #expect(try await value == ["shared": true])
    progressContinuation.finish()
    #expect(await progress.reduce(into: []) { $0.append($1) } == [0.5])
  }

  @Test func hostedTaskFailsOrIsCancelled() async throws {
    let (app, shell) = try await start()
    let failing = Task { try await app.invoke("action://share") }
    try await shell.nextTask().fail(CallError(code: 9, message: "no network"))
    let error = await #expect(throws: CallError.self) { try await failing.value }
    #expect(error == CallError(code: 9, message: "no network"))
    let call = Task { try await app.invoke("action://share") }
    let task = try await shell.nextTask()
    call.cancel()
    let cancelled = await #expect(throws: CallError.self) { try await call.value }
    #expect(cancelled?.protocolCode == .cancelled)
    task.complete(1)
  }

  @Test func specificPatternSelectsItsHost() async throws {
    let (app, shell) = try await start()
    let special = try await app.registerHost(patterns: ["native://detail/:id"])
    async let outcome = app.open("native://detail/7")
    try await special.finish(try await special.nextPage(), "special")
    #expect(try await outcome.data == "special")
    #expect(shell.pages.isEmpty)
    await #expect(throws: CallError.self) { try await app.registerHost("no scheme") }
  }

  @Test func firstClientRegistersHosts() async throws {
    let app = try await TestBridge(
      router, hosts: [.task("action://time") { _ in "noon" }])
    #expect(try await app.invoke("action://time") == "noon")
    try await app.client.register([.task("action://date") { _ in "today" }])
    #expect(try await app.invoke("action://date") == "today")
  }
}
