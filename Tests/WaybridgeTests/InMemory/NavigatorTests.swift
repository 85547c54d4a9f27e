import TestSupport
import Testing
import Waybridge
import WaybridgeTesting

/// Swift code that changes its session's stack: the handler of a page, and tasks.
@Suite(.timeLimit(.minutes(1)))
struct NavigatorTests {
  private let shown = Mailbox<(page: Page, navigator: any Navigator)>()
  private let closed = Mailbox<String>()
  private let router = Router()
  private let app: TestBridge

  init() async throws {
    let pages = PageHandler(
      open: { [shown] page, call in shown.put((page, call.navigator)) },
      close: { [closed] page, reason, _ in closed.put("\(page.uri) \(reason)") })
    for name in ["a", "b", "c", "d"] { try router.page("sdk:\(name)", pages) }
    try router.setTabs([RouteURI("sdk:a"), RouteURI("sdk:b")])
    app = try await TestBridge(router)
  }

  private typealias ShownPageHandle = (
    page: Page, navigator: any Navigator, outcome: Task<Outcome, any Error>
  )

  /// Opens a page by name, and waits until it is on the stack.
  private func open(_ name: String) async throws -> ShownPageHandle {
    let outcome = Task { [app] () async throws in try await app.open("sdk:\(name)") }
    try await app.nextEvent("page.opened")
    let (page, navigator) = try await shown.receive()
    return (page, navigator, outcome)
  }

  @Test func handlerFinishesItsPageWithAResult() async throws {
    let (page, navigator, outcome) = try await open("a")
    let change = try await navigator.finish(PageResult(["paid": true], code: 3, message: "ok"))
    #expect(change == NavigationChange(page: nil, closed: [page.id]))
    #expect(
      try await outcome.value == .finished(code: 3, message: "ok", data: ["paid": true]))
    #expect(try await closed.receive() == "sdk:a finished")
    let error = await #expect(throws: CallError.self) { try await navigator.finish() }
    #expect(error?.code == 2404)
  }

  @Test func navigatesBackByCountByPageAndToRoot() async throws {
    let (a, navigator, _) = try await open("a")
    let b = try await open("b").page
    let (c, _, first) = try await open("c")
    #expect(try await navigator.back(1, result: PageResult(1)).closed == [c.id])
    #expect(try await first.value.data == 1)
    let (again, _, second) = try await open("c")
    #expect(try await navigator.back(.to("sdk:b")) == .init(page: b.id, closed: [again.id]))
    #expect(try await second.value == .dismissed)
    #expect(try await navigator.back(.before(b.id)) == .init(page: a.id, closed: [b.id]))
    let d = try await open("d").page
    let last = try await open("b").page
    #expect(try await navigator.back(.root) == .init(page: a.id, closed: [last.id, d.id]))
    #expect(try await navigator.back() == .init(page: a.id, closed: []))
  }

  @Test func returnsTheStackAndFindsPages() async throws {
    let (a, navigator, _) = try await open("a")
    let b = try await open("b").page
    let stack = await navigator.stack()
    #expect(stack.pages.map(\.id) == [a.id, b.id])
    #expect(stack.top?.uri == "sdk:b")
    #expect(await navigator.contains("sdk:a")?.id == a.id)
    #expect(await navigator.contains(b.id)?.uri == "sdk:b")
    #expect(await navigator.contains("sdk:d") == nil)
  }

  @Test func selectsTabs() async throws {
    let navigator = try await open("c").navigator
    let first = try await navigator.selectTab(0)
    #expect(try await shown.receive().page.id == first.page)
    let second = try await navigator.selectTab("sdk:b")
    #expect(try await shown.receive().page.id == second.page)
    #expect(await navigator.stack().selected == 1)
    #expect(await navigator.stack().allPages.map(\.uri) == ["sdk:a", "sdk:b"])
    let error = await #expect(throws: CallError.self) { try await navigator.selectTab(2) }
    #expect(error?.code == 2404)
  }

  @Test func invalidNavigationFailsWithACode() async throws {
    let navigator = try await open("a").navigator
    let wrong: [(Int, @Sendable () async throws -> NavigationChange)] = [
      (-32602, { try await navigator.back(-1) }),
      (2409, { try await navigator.back(1, result: PageResult()) }),
      (2404, { try await navigator.back(.to("sdk:d")) }),
      (2404, { try await navigator.back(.before("sdk:a")) }),
      (2404, { try await navigator.selectTab(-1) }),
      (2404, { try await navigator.finish(nil, page: "p9") }),
    ]
    for (code, change) in wrong {
      let error = await #expect(throws: CallError.self) { try await change() }
      #expect(error?.code == code)
    }
    #expect(await navigator.stack().pages.count == 1)
  }

  @Test func taskWithoutACallingPageMustNameAPage() async throws {
    let page = try await open("a").page
    try router.task("action://finish") { call in
      let named = call.params["page"]?.string
      return .array(
        try await call.navigator.finish(nil, page: named).closed.map(Value.string))
    }
    // An error of a task with a code of the protocol counts as the task's own failure.
    let error = await #expect(throws: CallError.self) { try await app.invoke("action://finish") }
    #expect(error?.message.contains("on behalf") == true)
    let closed = try await app.invoke("action://finish", ["page": .string(page.id)])
    #expect(closed == [.string(page.id)])
  }
}
