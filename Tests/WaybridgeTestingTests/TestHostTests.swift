import Testing
import Waybridge
import WaybridgeClient
import WaybridgeTesting

/// Pages and tasks that a ``TestHost`` shows and runs.
@Suite(.timeLimit(.minutes(1)))
struct TestHostTests {
  private let router = Router()

  private func start(patience: Duration = .seconds(10)) async throws -> (TestBridge, TestHost) {
    for name in ["home", "address/list", "detail/:id"] { try router.page("native://\(name)") }
    let app = try await TestBridge(router, patience: patience)
    return (app, try await app.host("native", tasks: ["action://share"]))
  }

  @Test func aPageGivesItsResultToItsOpener() async throws {
    let (app, shell) = try await start()
    async let outcome = app.open("native://address/list", ["pick": true], exts: ["animated": false])
    let page = try await shell.page()
    #expect(page.uri == "native://address/list")
    #expect(page.params == ["pick": true])
    #expect(page.exts == ["animated": false])
    try await shell.finish(page, ["city": "Ulm"], code: 3, message: "picked")
    #expect(
      try await outcome == .finished(code: 3, message: "picked", data: ["city": "Ulm"]))
    #expect(try await shell.closed().reason == .finished)
    let error = await #expect(throws: CallError.self) { try await shell.finish(page) }
    #expect(error?.kind == "notOnStack")
  }

  @Test func itTellsItsPagesAndHowTheyEnded() async throws {
    let (app, shell) = try await start()
    let home = Task { try await app.open("native://home") }
    try await shell.page()
    async let first = app.open("native://detail/1")
    try await shell.page()
    async let second = app.open("native://detail/2")
    try await shell.page()
    let uris = ["native://home", "native://detail/1", "native://detail/2"]
    #expect(shell.pages.map(\.uri) == uris)
    #expect(try await app.stack().pages.map(\.uri) == uris)
    try await app.back(exts: ["animated": false])
    #expect(try await second == .dismissed)
    #expect(shell.pages.map(\.uri) == Array(uris.dropLast()))
    let closed = try await shell.closed()
    #expect(closed.page.uri == "native://detail/2")
    #expect(closed.reason == .dismissed)
    #expect(closed.exts == ["animated": false])
    #expect(try await shell.resumed().uri == "native://detail/1")
    try await app.back(.root)
    #expect(try await shell.closed().page.uri == "native://detail/1")
    #expect(try await first == .dismissed)
    await app.client.close()
    #expect(shell.pages.map(\.uri) == ["native://home"], "its opener is gone, the page stays")
    await #expect(throws: CallError.self) { try await home.value }
  }

  @Test func aHostRefuses() async throws {
    let (app, shell) = try await start()
    shell.behavior = .refuses(CallError(code: 7, message: "no camera"))
    let refusal = await #expect(throws: CallError.self) { try await app.open("native://home") }
    #expect(refusal?.code == 2502)
    #expect(refusal?.data?["host"]?["code"] == 7)
    #expect(try await shell.asked().uri == "native://home")
    #expect(try await app.stack().pages.isEmpty)
  }

  @Test func aHostThatStaysSilentIsGivenUpByTheClock() async throws {
    let (app, shell) = try await start()
    shell.behavior = .staysSilent
    let outcome = Task { try await app.open("native://home") }
    try await shell.asked()
    await app.advance(by: .seconds(10))
    let error = await #expect(throws: CallError.self) { try await outcome.value }
    #expect(error?.protocolCode == .hostAbsent)
    #expect(shell.pages.isEmpty)
  }

  @Test func aHostThatIsSlowAnswersWhenItIsToldTo() async throws {
    let (app, shell) = try await start()
    shell.behavior = .staysSilent
    async let outcome = app.open("native://home")
    try await shell.asked()
    await app.advance(by: .seconds(9))
    shell.behavior = .shows
    try await shell.finish(try await shell.page(), "in time")
    #expect(try await outcome.data == "in time")
    shell.behavior = .staysSilent
    let refused = Task { try await app.open("native://home") }
    try await shell.asked()
    shell.behavior = .refuses(CallError(code: 1, message: "after all"))
    let error = await #expect(throws: CallError.self) { try await refused.value }
    #expect(error?.message == "The host answered: after all")
  }

  @Test func aPageThatNeverComesFailsAndSaysSo() async throws {
    let (app, shell) = try await start(patience: .milliseconds(50))
    let error = await #expect(throws: CallError.self) { try await shell.page() }
    #expect(error?.protocolCode == .deadline)
    #expect(error?.message.contains("a page to be shown, in vain: the host shows nothing") == true)
    let left = await #expect(throws: CallError.self) { try await app.open("native://home") }
    #expect(left?.message.contains("the outcome of native://home") == true)
    let task = await #expect(throws: CallError.self) { try await shell.task() }
    #expect(task?.message.contains("a task to be run") == true)
  }

  @Test func aHostedTaskReportsProgressAndIsAnswered() async throws {
    let (app, shell) = try await start()
    let (told, tell) = AsyncStream.makeStream(of: Value.self)
    async let value = app.invoke("action://share?title=Tea") { tell.yield($0) }
    let task = try await shell.task()
    #expect(task.call.params == ["title": "Tea"])
    task.progress(0.5)
    task.answer(["shared": true])
    task.fail(CallError(code: 1, message: "too late"))
    #expect(try await value == ["shared": true])
    tell.finish()
    #expect(await told.reduce(into: []) { $0.append($1) } == [0.5])
  }

  @Test func aHostedTaskFailsOrIsCancelled() async throws {
    let (app, shell) = try await start()
    let failing = Task { try await app.invoke("action://share") }
    try await shell.task().fail(CallError(code: 9, message: "no network"))
    let error = await #expect(throws: CallError.self) { try await failing.value }
    #expect(error == CallError(code: 9, message: "no network"))
    let call = Task { try await app.invoke("action://share") }
    let task = try await shell.task()
    call.cancel()
    let cancelled = await #expect(throws: CallError.self) { try await call.value }
    #expect(cancelled?.protocolCode == .cancelled)
    task.answer(1)
  }

  @Test func patternsOfOtherHostsAreTheirs() async throws {
    let (app, shell) = try await start()
    let special = try await app.host(patterns: ["native://detail/:id"])
    async let outcome = app.open("native://detail/7")
    try await special.finish(try await special.page(), "special")
    #expect(try await outcome.data == "special")
    #expect(shell.pages.isEmpty)
    await #expect(throws: CallError.self) { try await app.host("no scheme") }
  }

  @Test func theFirstClientHostsToo() async throws {
    let app = try await TestBridge(
      router, hosts: [.task("action://time") { _ in "noon" }])
    #expect(try await app.invoke("action://time") == "noon")
    try await app.client.register([.task("action://date") { _ in "today" }])
    #expect(try await app.invoke("action://date") == "today")
  }
}
