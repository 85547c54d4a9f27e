import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayValues

/// A navigator that opens nothing and returns the requested call.
struct StubNavigator: Navigator {
  func open(
    _ uri: String, params: ValueObject, exts: ValueObject, style: Style?, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Outcome {
    .finished(data: ["uri": .string(uri), "style": .string(style?.rawValue ?? "")])
  }
  func invoke(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable]
  ) async throws -> Value {
    .object(params)
  }
  func invoke<Back: Sendable>(
    _ uri: String, params: ValueObject, exts: ValueObject, timeout: Duration?,
    attachments: [String: any Sendable], returning: Back.Type
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
  ) async throws -> NavigationChange { .unchanged }
  func finish(
    _ result: PageResult?, page: String?, exts: ValueObject
  ) async throws -> NavigationChange { .unchanged }
  func edit(
    _ remove: PageRange<String>?, opening pages: [AddedPage], exts: ValueObject
  ) async throws -> NavigationChange { .unchanged }
  func selectTab(_ index: Int) async throws -> NavigationChange { .unchanged }
  func selectTab(_ uri: String) async throws -> NavigationChange { .unchanged }
  func setGate(_ name: String, isOpen: Bool) async throws { throw Declined() }
  func stack() async -> NavigationStack { NavigationStack() }
  func contains(_ page: String) async -> Page? { nil }
}

extension NavigationChange {
  fileprivate static let unchanged = NavigationChange(page: nil, closed: [])
}

@Suite struct RouteHandlerTests {
  private func makeCall(_ match: RouteMatch) -> Call {
    Call(uri: match.uri, params: match.params, exts: [:], navigator: StubNavigator())
  }

  @Test func `a synchronous closure becomes a synchronous task`() throws {
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
    #expect(try run(makeCall(match)) == "Ada")
  }

  @Test func `an asynchronous closure becomes an asynchronous task`() async throws {
    let router = Router()
    try router.task("action://a") { call in
      try await call.navigator.open("native://b", style: .present).data
    }
    let match = try router.match("action://a")
    guard case .asyncTask(let run) = match.route.handler else {
      Issue.record("not asynchronous")
      return
    }
    #expect(try await run(makeCall(match)) == ["uri": "native://b", "style": "present"])
  }

  @Test func `binds and removes a handler of a declared route`() throws {
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
    try router.removeHandler("share")
    guard case .hosted = try router.match("action://share").route.handler else {
      Issue.record("still bound")
      return
    }
    #expect(router.remove(registration))
    #expect(throws: RouterConfigurationError.unknownRoute("share")) {
      try router.removeHandler("share")
    }
  }

  @Test func `rejects a handler of the wrong kind`() throws {
    let router = Router()
    try router.page("native://a", name: "a")
    #expect(throws: RouterConfigurationError.handlerMismatch(route: "a", kind: .page)) {
      try router.handle("a", with: .task { _ in nil })
    }
    let pages = PageHandler(open: { _, _ in }, close: { _, _, _ in })
    try router.page("native://b", pages)
    guard case .page = try router.match("native://b").route.handler else {
      Issue.record("no page handler")
      return
    }
    #expect(throws: RouterConfigurationError.handlerMismatch(route: "c", kind: .task)) {
      try router.register(
        Route(
          name: "c", patterns: [RoutePattern("action://c")], kind: .task, handler: .page(pages)))
    }
  }

  @Test(
    "recognizes application error codes",
    arguments: [
      (0, false), (1, true), (1999, true), (2000, false), (2999, false), (3000, true), (-1, false),
    ])
  func recognizesApplicationErrorCodes(code: Int, isOwn: Bool) {
    #expect(ErrorCode.isApplication(code) == isOwn)
  }
}
