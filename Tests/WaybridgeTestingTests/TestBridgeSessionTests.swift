import Testing
import Waybridge
import WaybridgeClient
import WaybridgeTesting

/// Apps with several clients and sessions.
@Suite(.timeLimit(.minutes(1)))
struct TestBridgeSessionTests {
  private let router = Router()

  /// Starts an app whose sessions belong to the user named by their token.
  private func start(_ user: String? = nil) async throws -> TestBridge {
    try await TestBridge(
      router, configuration: BridgeConfiguration(identify: { Identity(user: $0.token) }),
      token: user)
  }

  @Test func callContinuesAfterInterceptorLogin() async throws {
    try router.page("native://login", name: "login")
    try router.page("native://order/:id", name: "order")
    try router.page("native://home", name: "home")
    router.intercept("login", on: .all(except: ["home", "login"])) { call in
      let outcome = try await call.navigator.open("native://login", style: .present)
      return outcome.kind == .finished ? .next : .refuse("the user did not log in")
    }
    let app = try await start()
    let shell = try await app.registerHost("native")
    async let _ = app.open("native://home")
    try await shell.nextPage()
    async let order = app.open("native://order/7")
    let login = try await shell.nextPage()
    #expect(login.uri == "native://login")
    try await shell.finish(login)
    let page = try await shell.nextPage()
    #expect(page.params == ["id": "7"])
    try await shell.finish(page, "paid")
    #expect(try await order.data == "paid")
    let rejected = Task { try await app.open("native://order/8") }
    try await shell.nextPage()
    try await shell.back()
    let error = await #expect(throws: CallError.self) { try await rejected.value }
    #expect(error?.protocolCode == .refused)
    #expect(error?.data?["reason"] == "the user did not log in")
    #expect(shell.pages.map(\.uri) == ["native://home"])
  }

  @Test func deepLinkOpensParentPages() async throws {
    try router.page("native://shop")
    try router.register(
      Route(
        name: "order", patterns: [try RoutePattern("native://order/:id")], kind: .page,
        parents: [try PatternTarget("native://shop")]))
    let app = try await start()
    try await app.deliver("native://order/7", ["from": "mail"])
    let shell = try await app.registerHost("native")
    #expect(try await shell.nextPage().uri == "native://shop")
    let page = try await shell.nextPage()
    #expect(page.params == ["from": "mail", "id": "7"])
    #expect(try await app.stack().pages.map(\.uri) == ["native://shop", "native://order/7"])
    await #expect(throws: CallError.self) { try await app.deliver("nowhere") }
  }

  @Test func deepLinkWaitsForItsUser() async throws {
    try router.page("native://offer/:id")
    let app = try await start("anna")
    try await app.server.deliver(DeepLink("native://offer/1"), to: .user("ben"))
    let anna = try await app.registerHost("native")
    let ben = try await app.registerHost("native", for: app.connect(token: "ben"))
    #expect(try await ben.nextPage().uri == "native://offer/1")
    #expect(anna.pages.isEmpty)
  }

  @Test func pushReachesSessionsOfUser() async throws {
    try router.page("native://offer/:id")
    let app = try await start("anna")
    let second = try await app.connect(name: "tablet", token: "anna")
    let ben = try await app.connect(token: "ben")
    let shells = [
      try await app.registerHost("native"), try await app.registerHost("native", for: second),
    ]
    let other = try await app.registerHost("native", for: ben)
    let deliveries = try await app.server.open("native://offer/7", in: .user("anna"))
    #expect(deliveries.count == 2)
    for (number, shell) in shells.enumerated() {
      try await shell.finish(try await shell.nextPage(), .integer(Int64(number)))
    }
    var outcomes: Set<Value> = []
    for delivery in deliveries { outcomes.insert(try await delivery.result.get().outcome().data) }
    #expect(outcomes == [0, 1])
    await app.settle()
    #expect(other.pages.isEmpty)
  }

  @Test func serverCallsClientsAndPublishes() async throws {
    let app = try await start()
    let tablet = try await app.connect(
      name: "tablet", methods: ["app.sync": { call in ["got": call.params] }])
    let session = try #require(await tablet.session?.id)
    try await app.server.add(session: session, toGroup: "tablets")
    let responses = try await app.server.call("app.sync", ["n": 1], of: .group("tablets"))
    #expect(responses.map(\.result) == [.success(["got": ["n": 1]])])
    var iterator = try await tablet.events(["news"]).makeAsyncIterator()
    await app.advance(by: .seconds(5))
    try await app.server.publish("news", "rain", to: .group("tablets"))
    let event = try await iterator.next()
    #expect(event?.data == "rain")
    #expect(event?.at == app.now)
  }

  @Test func clientJoinsFromPage() async throws {
    let app = try await start()
    let shell = try await app.registerHost("web")
    async let outcome = app.open("web://cart")
    let page = try await shell.nextPage()
    let inside = try await app.join(page: page.id, methods: ["title": { _ in "Cart" }])
    #expect(try await app.client.call(page: page.id, method: "title") == "Cart")
    try await inside.finish(PageResult(["items": 2]))
    #expect(try await outcome.data == ["items": 2])
    let error = await #expect(throws: CallError.self) { try await app.join(page: page.id) }
    #expect(error?.protocolCode == .noRoute)
    let alone = try await app.connect()
    let nested = try await app.join(alone)
    #expect(await nested.session?.id == alone.session?.id)
    #expect(await nested.session?.id != app.session.id)
  }

  @Test func endSettlesPendingOperations() async throws {
    try router.page("native://a")
    let app = try await start()
    let shell = try await app.registerHost("native")
    let outcome = Task { try await app.open("native://a") }
    try await shell.nextPage()
    let events = try await app.server.events(["session.closed"])
    await app.end()
    #expect(try await shell.nextClosedPage().reason == .failed)
    #expect(await app.client.waitUntilEnded().code == 4200)
    let error = await #expect(throws: CallError.self) { try await outcome.value }
    #expect(error?.protocolCode == .cancelledByServer)
    var topics: [String] = []
    for try await event in events { topics.append(event.topic) }
    #expect(topics == ["session.closed"])
    for call in [
      { _ = try await app.stack() }, { _ = try await app.server.sessions() },
      { _ = try await app.connect() },
    ] as [@Sendable () async throws -> Void] {
      let error = await #expect(throws: CallError.self) { try await call() }
      #expect(error?.protocolCode == .unavailable)
    }
    await app.end()
  }
}
