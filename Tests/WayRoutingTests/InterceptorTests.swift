import Synchronization
import Testing
import WayPatterns
import WayRouting
import WayValues

/// What an alarm was set to, rung by hand.
private final class Alarms: Sendable {
  private let pending = Mutex<[(after: Duration, work: @Sendable () -> Void)]>([])
  private let stopped = Mutex(0)

  var alarm: InterceptorChain.Alarm {
    { after, work in
      self.pending.withLock { $0.append((after, work)) }
      return { self.stopped.withLock { $0 += 1 } }
    }
  }

  var times: [Duration] { pending.withLock { $0.map(\.after) } }
  var stoppedCount: Int { stopped.withLock { $0 } }
  func ring() { for alarm in pending.withLock({ $0 }) { alarm.work() } }
}

@Suite(.timeLimit(.minutes(1)))
struct InterceptorTests {
  private let router = Router()

  private func names(_ uri: String) throws -> [String] {
    router.explain(uri).interceptors
  }

  private func call(_ uri: String) throws -> Call {
    let match = try router.match(uri)
    return Call(
      uri: match.uri, params: match.params, exts: [:], route: match.route, navigator: Nowhere())
  }

  private func chain(_ uri: String) throws -> InterceptorChain {
    try #require(try router.match(uri).interceptors)
  }

  @Test func `global ones see all but the excepted, others their routes and groups, by priority`()
    throws
  {
    for name in ["a", "b", "c"] { try router.page("native://\(name)", name: name) }
    try router.add(routes: ["b", "c"], toGroup: "members")
    router.intercept("late", priority: -1) { _ in .next }
    router.intercept("all", on: .all(except: ["c"])) { _ in .next }
    router.intercept("routes", on: .routes(["a", "b", "later"]), priority: 5) { _ in .next }
    router.intercept("group", on: .groups(["members", "none"])) { _ in .next }
    #expect(try names("native://a") == ["routes", "all", "late"])
    #expect(try names("native://b") == ["routes", "all", "group", "late"])
    #expect(try names("native://c") == ["group", "late"])
    #expect(try names("native://undeclared") == ["all", "late"])
    #expect(try names("navigation:back") == [])
    try router.page("native://l", name: "later")
    #expect(try names("native://l") == ["routes", "all", "late"])
    #expect(router.removeInterceptor("all"))
    #expect(!router.removeInterceptor("all"))
    #expect(router.removeInterceptor("late"))
    #expect(try names("native://undeclared") == [])
    router.intercept("routes", on: .routes(["c"])) { _ in .next }
    #expect(try names("native://a") == [])
    #expect(try names("native://c") == ["routes", "group"])
    #expect(try chain("native://c").judge(call("native://c")) != nil)
    router.intercept("waits", on: .routes(["c"])) { _ in
      await Task.yield()
      return .next
    }
    #expect(try chain("native://c").judge(call("native://c")) == nil)
  }

  @Test func `groups are declared by routes and added to`() throws {
    try router.register(
      Route(name: "a", patterns: [RoutePattern("/a")], kind: .page, groups: ["g", "h", "g"]))
    try router.page("/b", name: "b")
    try router.page("/c", name: "c")
    try router.add(routes: ["c", "b", "a", "c"], toGroup: "g")
    #expect(router.snapshot().routes(inGroup: "g") == ["a", "c", "b"])
    #expect(router.snapshot().groupNames == ["g", "h"])
    #expect(throws: RouterError.unknown("d")) { try router.add(routes: ["b", "d"], toGroup: "i") }
    #expect(router.snapshot().routes(inGroup: "i").isEmpty)
    #expect(router.remove(route: "b", fromGroup: "g"))
    #expect(!router.remove(route: "b", fromGroup: "g"))
    #expect(!router.remove(route: "b", fromGroup: "none"))
    #expect(router.snapshot().routes(inGroup: "g") == ["a", "c"])
  }

  @Test func `a route that is removed leaves its groups and comes back into them`() throws {
    let registration = try router.page("/a", name: "a")
    try router.add(routes: ["a"], toGroup: "g")
    router.remove(registration)
    #expect(router.snapshot().routes(inGroup: "g").isEmpty)
    try router.page("/b", name: "a")
    #expect(router.snapshot().routes(inGroup: "g") == ["a"])
  }

  @Test func `each sees what those before it have changed, and the first decision ends it`()
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
    guard case .changed(let params)? = try chain(uri).judge(call(uri)) else {
      Issue.record("not changed")
      return
    }
    #expect(params == ["n": 1, "route": "a"])
    router.intercept("third", priority: 1) { _ in .refuse("no") }
    router.intercept("fourth") { _ in
      Issue.record("asked after the decision")
      return .next
    }
    guard case .refused("third", "no")? = try chain(uri).judge(call(uri)) else {
      Issue.record("not refused")
      return
    }
    router.intercept("third", priority: 1) { _ in
      await Task.yield()
      return .redirect(to: "native://b", params: ["x": 1])
    }
    guard
      case .redirect("native://b", ["x": 1]?, "third") = try await chain(uri).judge(
        call(uri), alarm: Alarms().alarm)
    else {
      Issue.record("not redirected")
      return
    }
    #expect(seen.withLock { $0 } == Array(repeating: ["n": 1, "route": "a"], count: 3))
  }

  @Test func `an error refuses, whatever it is`() async throws {
    try router.page("native://a")
    let uri = "native://a"
    router.intercept("own") { _ in throw CallError(code: 1001, message: "out") }
    guard case .failed(let error)? = try chain(uri).judge(call(uri)) else {
      Issue.record("passed")
      return
    }
    #expect(error.code == 1001)
    for error in [
      Declined() as any Error, CallError(code: 2404, message: "x"), CancellationError(),
    ] {
      router.intercept("own") { _ in throw error }
      guard case .refused("own", _)? = try chain(uri).judge(call(uri)) else {
        Issue.record("\(error) passed")
        return
      }
      router.intercept("own") { _ in
        await Task.yield()
        throw error
      }
      guard case .refused("own", _) = try await chain(uri).judge(call(uri), alarm: Alarms().alarm)
      else {
        Issue.record("\(error) passed")
        return
      }
    }
  }

  @Test func `one that never answers is given up at its deadline, and cancelled`() async throws {
    try router.page("native://a")
    let alarms = Alarms()
    let (ended, end) = AsyncStream<Bool>.makeStream()
    router.intercept("stuck", deadline: .seconds(7)) { _ in
      alarms.ring()
      await withTaskCancellationHandler {
        // Cancelling does not end this sleep, as with code that does not look.
        await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
      } onCancel: {
        end.yield(true)
      }
      return .next
    }
    let verdict = try await chain("native://a").judge(call("native://a"), alarm: alarms.alarm)
    guard case .refused("stuck", let reason) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(reason.contains("7"))
    #expect(alarms.times == [.seconds(7)])
    #expect(alarms.stoppedCount == 1)
    #expect(await ended.first { $0 } == true)
  }

  @Test func `a cancelled call leaves one that never answers`() async throws {
    try router.page("native://a")
    let (begun, begin) = AsyncStream<Bool>.makeStream()
    router.intercept("stuck") { _ in
      begin.yield(true)
      await Task.detached { try? await Task.sleep(for: .seconds(3600)) }.value
      return .next
    }
    let (chain, call) = (try chain("native://a"), try call("native://a"))
    let judging = Task { await chain.judge(call, alarm: Alarms().alarm) }
    _ = await begun.first { $0 }
    judging.cancel()
    guard case .refused("stuck", _) = await judging.value else {
      Issue.record("it passed")
      return
    }
  }
}
