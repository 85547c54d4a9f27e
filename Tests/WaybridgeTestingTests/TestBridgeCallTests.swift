import Synchronization
import Testing
import Waybridge
import WaybridgeTesting

/// Calls of the initial client, and the clock that limits them.
@Suite(.timeLimit(.minutes(1)))
struct TestBridgeCallTests {
  private let router = Router()

  /// Adds a task that waits until its caller stops waiting.
  private func addEndlessTask(_ pattern: String) throws {
    try router.task(pattern) { _ in
      let (never, end) = AsyncStream.makeStream(of: Void.self)
      await withTaskCancellationHandler {
        for await _ in never {}
      } onCancel: {
        end.finish()
      }
      return .null
    }
  }

  @Test func invokeReturnsTaskResult() async throws {
    try router.task("action://hello") { call in
      ["greeting": .string("Hello, \(call.params["name"]?.string ?? "you")")]
    }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("action://hello", ["name": "Ada"]) == ["greeting": "Hello, Ada"])
    #expect(try await app.open("action://hello").data == ["greeting": "Hello, you"])
    #expect(try await app.canOpen("action://hello"))
    #expect(try await !app.canOpen("action://bye"))
    let error = await #expect(throws: CallError.self) { try await app.invoke("action://bye") }
    #expect(error?.protocolCode == .noRoute)
  }

  @Test func runsStartupHandlersOfRouter() async throws {
    try router.atStart(.tasks) { try $0.task("action://late") { _ in 1 } }
    #expect(try await TestBridge(router).invoke("action://late") == 1)
    let failing = Router()
    try failing.atStart(.ready) { _ in throw CallError(code: 1, message: "no") }
    let error = await #expect(throws: StartError.self) { try await TestBridge(failing) }
    #expect(error?.phase == .ready)
  }

  @Test func invokeReportsTaskProgress() async throws {
    try router.task("action://count") { call in
      for number: Int64 in 1...3 {
        call.reportProgress(.integer(number))
        await Task.yield()
      }
      return "done"
    }
    let progressValues = Mutex<[Value]>([])
    let app = try await TestBridge(router)
    let value = try await app.invoke("action://count") { value in
      progressValues.withLock { $0.append(value) }
    }
    #expect(value == "done")
    #expect(progressValues.withLock { $0 } == [1, 2, 3])
  }

  @Test func clockTriggersCallDeadline() async throws {
    try addEndlessTask("action://endless")
    let app = try await TestBridge(router)
    let value = Task { try await app.invoke("action://endless", timeout: .seconds(30)) }
    try await app.nextEvent("task.started")
    await app.advance(by: .seconds(29))
    #expect(try await app.client.request("$/ping") == nil)
    await app.advance(by: .seconds(60))
    let error = await #expect(throws: CallError.self) { try await value.value }
    #expect(error?.protocolCode == .deadline)
    #expect(error?.message.contains("deadline") == true, "the server's response arrived first")
    #expect(try await app.nextEvent("task.failed").at == app.now - 59_000)
  }

  @Test func clockTriggersInterceptorDeadline() async throws {
    try router.task("action://slow", name: "slow") { _ in 1 }
    let callCount = Mutex(0)
    router.intercept("gate", on: .all(), timeout: .seconds(5)) { call in
      callCount.withLock { $0 += 1 }
      call.reportProgress("at the gate")
      let (never, end) = AsyncStream.makeStream(of: Void.self)
      await withTaskCancellationHandler {
        for await _ in never {}
      } onCancel: {
        end.finish()
      }
      return .next
    }
    let app = try await TestBridge(router)
    let (waiting, wait) = AsyncStream.makeStream(of: Value.self)
    let value = Task { try await app.invoke("action://slow") { wait.yield($0) } }
    for await _ in waiting { break }
    await app.advance(by: .seconds(5))
    let error = await #expect(throws: CallError.self) { try await value.value }
    #expect(error?.protocolCode == .refused)
    #expect(callCount.withLock { $0 } == 1)
  }

  @Test func timeoutErrorNamesPendingOperation() async throws {
    try addEndlessTask("action://endless")
    let app = try await TestBridge(router, timeout: .milliseconds(50))
    let error = await #expect(throws: CallError.self) { try await app.invoke("action://endless") }
    #expect(error?.protocolCode == .deadline)
    #expect(error?.message.contains("the value of action://endless") == true)
    let nothing = await #expect(throws: CallError.self) { try await app.nextEvent("page.opened") }
    #expect(nothing?.message.contains("the event page.opened") == true)
    // The call was cancelled.
    try await app.nextEvent("task.failed")
  }

  @Test func cancelledTestThrowsCancelled() async throws {
    try addEndlessTask("action://endless")
    let app = try await TestBridge(router)
    let calling = Task { try await app.invoke("action://endless") }
    try await app.nextEvent("task.started")
    calling.cancel()
    let error = await #expect(throws: CallError.self) { try await calling.value }
    #expect(error?.protocolCode == .cancelled)
    let waiting = Task { try await app.nextEvent("page.opened") }
    waiting.cancel()
    let other = await #expect(throws: CallError.self) { try await waiting.value }
    #expect(other?.protocolCode == .cancelled)
  }

  @Test func appliesConfiguration() async throws {
    var configuration = BridgeConfiguration(
      enablesConformanceMethods: true,
      identify: { handshake in
        guard let token = handshake.token else { throw CallError(code: 1, message: "who are you?") }
        return Identity(user: token)
      })
    configuration.limits.maxMessage = 500
    let app = try await TestBridge(router, configuration: configuration, token: "anna")
    #expect(try await app.server.sessions(.user("anna")).map(\.id) == [app.session.id])
    #expect(try await app.invoke("action://echo", ["a": 1]) == ["a": 1])
    let large = await #expect(throws: CallError.self) {
      try await app.invoke("action://echo", ["a": .string(String(repeating: "x", count: 500))])
    }
    #expect(large?.protocolCode == .tooLarge)
    let error = await #expect(throws: CallError.self) {
      try await TestBridge(router, configuration: configuration)
    }
    #expect(error?.protocolCode == .notAuthenticated)
  }

  @Test func bridgesAreIndependent() async throws {
    try router.page("native://a")
    let (first, second) = (try await TestBridge(router), try await TestBridge(router))
    let (shell, other) = (
      try await first.registerHost("native"), try await second.registerHost("native")
    )
    async let outcome = first.open("native://a")
    try await shell.finish(try await shell.nextPage(), 1)
    #expect(try await outcome.data == 1)
    await second.settle()
    #expect(other.pages.isEmpty)
    await first.advance(by: .seconds(1))
    #expect(first.now == second.now + 1_000)
  }
}
