import Synchronization
import Testing
import WayPatterns
import WayRouting
import WayValues

/// Timers that the test fires by hand.
private final class ManualTimers: Sendable {
  private let pending = Mutex<[(after: Duration, work: @Sendable () -> Void)]>([])
  private let cancelledCounter = Mutex(0)

  var scheduler: InterceptorChain.TimeoutScheduler {
    { after, work in
      self.pending.withLock { $0.append((after, work)) }
      return { self.cancelledCounter.withLock { $0 += 1 } }
    }
  }

  var delays: [Duration] { pending.withLock { $0.map(\.after) } }
  var cancelledCount: Int { cancelledCounter.withLock { $0 } }
  func fireAll() { for alarm in pending.withLock({ $0 }) { alarm.work() } }
}

@Suite(.timeLimit(.minutes(1)))
struct InterceptorTests {
  private let router = Router()

  private func interceptorNames(_ uri: String) throws -> [String] {
    router.explain(uri).interceptors
  }

  private func makeCall(_ uri: String) throws -> Call {
    let match = try router.match(uri)
    return Call(
      uri: match.uri, params: match.params, exts: [:], route: match.route,
      navigator: StubNavigator())
  }

  private func chain(_ uri: String) throws -> InterceptorChain {
    try #require(try router.match(uri).interceptors)
  }

  @Test func `orders interceptors of a route by scope and priority`()
    throws
  {
    for name in ["a", "b", "c"] { try router.page("native://\(name)", name: name) }
    try router.add(routes: ["b", "c"], toGroup: "members")
    router.intercept("late", priority: -1) { _ in .next }
    router.intercept("all", on: .all(except: ["c"])) { _ in .next }
    router.intercept("routes", on: .routes(["a", "b", "later"]), priority: 5) { _ in .next }
    router.intercept("group", on: .groups(["members", "none"])) { _ in .next }
    #expect(try interceptorNames("native://a") == ["routes", "all", "late"])
    #expect(try interceptorNames("native://b") == ["routes", "all", "group", "late"])
    #expect(try interceptorNames("native://c") == ["group", "late"])
    #expect(try interceptorNames("native://undeclared") == ["all", "late"])
    #expect(try interceptorNames("navigation:back") == [])
    try router.page("native://l", name: "later")
    #expect(try interceptorNames("native://l") == ["routes", "all", "late"])
    #expect(router.removeInterceptor("all"))
    #expect(!router.removeInterceptor("all"))
    #expect(router.removeInterceptor("late"))
    #expect(try interceptorNames("native://undeclared") == [])
    router.intercept("routes", on: .routes(["c"])) { _ in .next }
    #expect(try interceptorNames("native://a") == [])
    #expect(try interceptorNames("native://c") == ["routes", "group"])
    #expect(try chain("native://c").evaluate(makeCall("native://c")) != nil)
    router.intercept("waits", on: .routes(["c"])) { _ in
      await Task.yield()
      return .next
    }
    #expect(try chain("native://c").evaluate(makeCall("native://c")) == nil)
  }

  @Test func `routes declare groups and are added to groups`() throws {
    try router.register(
      Route(name: "a", patterns: [RoutePattern("/a")], kind: .page, groups: ["g", "h", "g"]))
    try router.page("/b", name: "b")
    try router.page("/c", name: "c")
    try router.add(routes: ["c", "b", "a", "c"], toGroup: "g")
    #expect(router.snapshot().routes(inGroup: "g") == ["a", "c", "b"])
    #expect(router.snapshot().groupNames == ["g", "h"])
    #expect(throws: RouterConfigurationError.unknownRoute("d")) {
      try router.add(routes: ["b", "d"], toGroup: "i")
    }
    #expect(router.snapshot().routes(inGroup: "i").isEmpty)
    #expect(router.remove(route: "b", fromGroup: "g"))
    #expect(!router.remove(route: "b", fromGroup: "g"))
    #expect(!router.remove(route: "b", fromGroup: "none"))
    #expect(router.snapshot().routes(inGroup: "g") == ["a", "c"])
  }

  @Test func `a removed route rejoins its groups when registered again`() throws {
    let registration = try router.page("/a", name: "a")
    try router.add(routes: ["a"], toGroup: "g")
    router.remove(registration)
    #expect(router.snapshot().routes(inGroup: "g").isEmpty)
    try router.page("/b", name: "a")
    #expect(router.snapshot().routes(inGroup: "g") == ["a"])
  }

  @Test func `interceptors see earlier changes and stop at the first decision`()
    async throws
  {
    try router.page("native://a", name: "a")
    let seen = Mutex<[ValueObject]>([])
    router.intercept("first", priority: 3) { call in
      .change(params: ["n": 1, "route": .string(call.route?.name ?? "")])
    }
    router.intercept("second", priority: 2) { call in
      seen.withLock { $0.append(call.params) }
      return .next
    }
    let uri = "native://a?n=0"
    guard case .changed(let params)? = try chain(uri).evaluate(makeCall(uri)) else {
      Issue.record("not changed")
      return
    }
    #expect(params == ["n": 1, "route": "a"])
    router.intercept("third", priority: 1) { _ in .refuse("no") }
    router.intercept("fourth") { _ in
      Issue.record("called after the decision")
      return .next
    }
    guard case .refused("third", "no")? = try chain(uri).evaluate(makeCall(uri)) else {
      Issue.record("not rejected")
      return
    }
    router.intercept("third", priority: 1) { _ in
      await Task.yield()
      return .redirect(to: "native://b", params: ["x": 1])
    }
    guard
      case .redirect("native://b", ["x": 1]?, "third") = try await chain(uri).evaluate(
        makeCall(uri), scheduler: ManualTimers().scheduler)
    else {
      Issue.record("not redirected")
      return
    }
    #expect(seen.withLock { $0 } == Array(repeating: ["n": 1, "route": "a"], count: 3))
  }

  @Test func `any thrown error refuses the call`() async throws {
    try router.page("native://a")
    let uri = "native://a"
    router.intercept("own") { _ in throw CallError(code: 1001, message: "out") }
    guard case .failed(let error)? = try chain(uri).evaluate(makeCall(uri)) else {
      Issue.record("passed")
      return
    }
    #expect(error.code == 1001)
    for error in [
      Declined() as any Error, CallError(code: 2404, message: "x"), CancellationError(),
    ] {
      router.intercept("own") { _ in throw error }
      guard case .refused("own", _)? = try chain(uri).evaluate(makeCall(uri)) else {
        Issue.record("\(error) passed")
        return
      }
      router.intercept("own") { _ in
        await Task.yield()
        throw error
      }
      guard
        case .refused("own", _) = try await chain(uri).evaluate(
          makeCall(uri), scheduler: ManualTimers().scheduler)
      else {
        Issue.record("\(error) passed")
        return
      }
    }
  }

  @Test func `a stuck interceptor times out and is cancelled`() async throws {
    try router.page("native://a")
    let timers = ManualTimers()
    let (ended, end) = AsyncStream<Bool>.makeStream()
    router.intercept("stuck", timeout: .seconds(7)) { _ in
      timers.fireAll()
      await withTaskCancellationHandler {
        // Cancellation does not end this sleep, like code that ignores it.
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
      } onCancel: {
        end.yield(true)
      }
      return .next
    }
    let verdict = try await chain("native://a").evaluate(
      makeCall("native://a"), scheduler: timers.scheduler)
    guard case .refused("stuck", let reason) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(reason.contains("7"))
    #expect(timers.delays == [.seconds(7)])
    #expect(timers.cancelledCount == 1)
    #expect(await ended.first { $0 } == true)
  }

  @Test func `cancelling a call abandons a stuck interceptor`() async throws {
    try router.page("native://a")
    let (starts, startContinuation) = AsyncStream<Bool>.makeStream()
    router.intercept("stuck") { _ in
      startContinuation.yield(true)
      await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
      return .next
    }
    let (chain, call) = (try chain("native://a"), try makeCall("native://a"))
    let evaluation = Task { await chain.evaluate(call, scheduler: ManualTimers().scheduler) }
    _ = await starts.first { $0 }
    evaluation.cancel()
    guard case .refused("stuck", _) = await evaluation.value else {
      Issue.record("it passed")
      return
    }
  }
}
