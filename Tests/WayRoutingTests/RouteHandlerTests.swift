import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// Opens nothing, and says what it was asked for.
struct Nowhere: Navigator {
  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Outcome {
    .finished(data: ["uri": .string(uri), "style": .string(style?.rawValue ?? "")])
  }
  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable]
  ) async throws -> Value {
    .object(params)
  }
  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, deadline: Duration?,
    carrying: [String: any Sendable], carryingBack: Back.Type
  ) async throws -> Back {
    throw Declined()
  }
  func canOpen(_ uri: String) async -> Bool { false }
  var session: String { "s" }
  func call(page: String, _ method: String, params: ValueObject) async throws -> Value {
    .object(params)
  }
  func back(
    _ target: BackTarget<String>, result: PageResult?, exts: ValueObject
  ) async throws -> NavigationChange { .none }
  func finish(
    _ result: PageResult?, page: String?, exts: ValueObject
  ) async throws -> NavigationChange { .none }
  func selectTab(_ index: Int) async throws -> NavigationChange { .none }
  func selectTab(_ uri: String) async throws -> NavigationChange { .none }
  func stack() async -> NavigationStack { NavigationStack() }
  func contains(_ page: String) async -> Page? { nil }
}

extension NavigationChange {
  fileprivate static let none = NavigationChange(page: nil, closed: [])
}

@Suite struct RouteHandlerTests {
  private func call(_ match: RouteMatch) -> Call {
    Call(uri: match.uri, params: match.params, exts: [:], navigator: Nowhere())
  }

  @Test func `a closure that does not wait becomes a synchronous task`() throws {
    let router = Router()
    try router.task("action://sync") { call in .object(call.params) }
    try router.task("action://longer") { call in
      let name = call.params["name"]?.string ?? "nobody"
      return .string(name)
    }
    for uri in ["action://sync", "action://longer"] {
      guard case .task = try router.match(uri).route.handler else {
        Issue.record("\(uri) is not synchronous")
        continue
      }
    }
    let match = try router.match("action://longer?name=Ada")
    guard case .task(let run) = match.route.handler else { return }
    #expect(try run(call(match)) == "Ada")
  }

  @Test func `a closure that waits becomes an asynchronous task`() async throws {
    let router = Router()
    try router.task("action://a") { call in
      try await call.navigator.open("native://b", style: .present).data
    }
    let match = try router.match("action://a")
    guard case .asyncTask(let run) = match.route.handler else {
      Issue.record("not asynchronous")
      return
    }
    #expect(try await run(call(match)) == ["uri": "native://b", "style": "present"])
  }

  @Test func `a declared route gets a handler and is left to hosts again`() throws {
    let router = Router()
    let registration = try router.register(
      Route(
        name: "share", patterns: [RoutePattern("action://share")], kind: .task, title: "Share",
        parameters: [ParameterDeclaration("text", .string)]))
    try router.handle("share", with: .task { _ in "shared" })
    let bound = try router.match("action://share").route
    guard case .task = bound.handler else {
      Issue.record("not bound")
      return
    }
    #expect(bound.title == "Share")
    #expect(bound.parameters == [ParameterDeclaration("text", .string)])
    try router.unbind("share")
    guard case .hosted = try router.match("action://share").route.handler else {
      Issue.record("still bound")
      return
    }
    #expect(router.remove(registration))
    #expect(throws: RouterError.unknown("share")) { try router.unbind("share") }
  }

  @Test func `a handler of another kind is refused`() throws {
    let router = Router()
    try router.page("native://a", name: "a")
    #expect(throws: RouterError.handlerUnfit(route: "a", kind: .page)) {
      try router.handle("a", with: .task { _ in nil })
    }
    let pages = PageHandler(open: { _, _ in }, close: { _, _, _ in })
    try router.page("native://b", pages)
    guard case .page = try router.match("native://b").route.handler else {
      Issue.record("no page handler")
      return
    }
    #expect(throws: RouterError.handlerUnfit(route: "c", kind: .task)) {
      try router.register(
        Route(
          name: "c", patterns: [RoutePattern("action://c")], kind: .task, handler: .page(pages)))
    }
  }

  @Test(
    "codes of the application",
    arguments: [
      (0, false), (1, true), (1999, true), (2000, false), (2999, false), (3000, true), (-1, false),
    ])
  func codes(code: Int, isOwn: Bool) {
    #expect(ErrorCode.isApplication(code) == isOwn)
  }
}
