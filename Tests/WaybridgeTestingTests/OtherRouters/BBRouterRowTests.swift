import Testing
import Waybridge
import WaybridgeTesting

/// The Swift code of the rows of web/docs/bbrouter.md. Each test has the name of its row;
/// Tests/Readme/test_router_rows.py compares them.
@Suite(.timeLimit(.minutes(1)))
struct BBRouterRowTests {
  private let router = Router()
  private let log = RowLog()

  private func addTasks(_ names: String...) throws {
    for name in names { try router.task("action://\(name)", name: name) { _ in .string(name) } }
  }

  /// Returns the code of the error with which a call fails.
  private func code(of uri: String, _ app: TestBridge) async -> Int? {
    await #expect(throws: CallError.self) { try await app.invoke(uri) }?.code
  }

  // Routes and their hosts.

  @Test("a dispatcher of the app's own, added and removed") func ownDispatcher() async throws {
    let dispatcher = SchemeDispatcher(
      name: "coupons", action: .custom { call in .string("coupon \(call.uri)") })
    try router.register(dispatcher, scheme: "coupon")
    let app = try await TestBridge(router)
    #expect(try await app.invoke("coupon://tea") == "coupon coupon://tea")
    try router.removeDispatcher(scheme: "coupon")
    #expect(await code(of: "coupon://tea", app) == 2404)
  }

  @Test("a page is registered by its class or a factory") func pageTypeAndFactory() async throws {
    let log = log
    try router.page("native://address/:id", AddressPage.self)
    try router.page(
      "native://address/list",
      PageHandler(
        open: { page, call in
          log.note("show \(page.uri)")
          Task { try await call.navigator.finish(PageResult("a2")) }
        },
        close: { page, reason, _ in log.note("close \(page.uri) \(reason)") }))
    let app = try await TestBridge(router)
    #expect(try await app.open("native://address/7").data == ["id": 7])
    #expect(try await app.open("native://address/list").data == "a2")
    #expect(log.all.first == "show native://address/list")
  }

  @Test("a page or action is replaced and removed") func replacedRoute() async throws {
    try addTasks("share")
    let app = try await TestBridge(router)
    try router.replace(
      route: "share",
      with: Route(
        name: "share", patterns: [RoutePattern("action://share")], kind: .task,
        handler: .task { _ in "another" }))
    #expect(try await app.invoke("action://share") == "another")
    #expect(router.remove(route: "share"))
    #expect(await code(of: "action://share", app) == 2404)
  }

  @Test("the registered routes are listed") func listedRoutes() throws {
    try addTasks("share", "pay")
    #expect(router.snapshot().routes.map(\.name) == ["share", "pay"])
  }

  @Test("the URI of a call, with its parameters") func completeURI() async throws {
    try router.task("action://share/:channel") { call in .string("\(try call.completeURI())") }
    let app = try await TestBridge(router)
    #expect(
      try await app.invoke("action://share/mail", ["title": "Tea"])
        == "action://share/mail?title=Tea")
  }

  @Test("registration at launch, in phases") func startPhases() async throws {
    // An enum that conforms to RouteModule.
    try router.register(module: OrdersModule.self)
    try router.atStart(.tasks) { try $0.task("action://late") { _ in "ran" } }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("action://late") == "ran")
    #expect(try await app.invoke("action://orders/count") == 2)
  }

  // Values and services.

  @Test("an object as a parameter") func attachedObject() async throws {
    try router.task("action://read") { call in
      let model: AppConfig = try call.attachment("model")
      return .string(model.theme)
    }
    try router.page("native://shown")
    let model = AppConfig()
    try router.task("action://start") { call in
      try await call.navigator.build("action://read").attaching("model", model).invoke()
    }
    try router.task("action://leave") { call in
      try await call.navigator.build("native://shown").attaching("model", model).open().data
    }
    let app = try await TestBridge(router)
    let shell = try await app.registerHost("native")
    #expect(try await app.invoke("action://start") == "dark")
    #expect(await code(of: "action://leave", app) == 2405)
    #expect(shell.pages.isEmpty)
  }

  @Test("modules call one another without imports") func services() async throws {
    try router.registerService(
      AppConfig.self, name: "AppConfig", make: { AppConfig() },
      methods: {
        $0.method("theme") { config, _ in .string(config.theme) }
      })
    #expect(try router.service(AppConfig.self).theme == "dark")
    #expect(try await TestBridge(router).invoke("service://AppConfig/theme") == "dark")
  }

  // Interceptors.

  @Test("an interceptor authenticates, changes parameters, holds, redirects")
  func decisions() async throws {
    try router.task("action://share") { call in call.params["title"] ?? .null }
    try addTasks("pay", "free", "closed")
    router.intercept("limit") { call in
      await Task.yield()
      switch call.route?.name {
      case "pay": return .redirect(to: "action://free")
      case "closed": return .refuse("closed today")
      case "free": return .next
      default: return .change(params: ["title": "Milk"])
      }
    }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("action://share", ["title": "Tea"]) == "Milk")
    #expect(try await app.invoke("action://pay") == "free")
    #expect(await code(of: "action://closed", app) == 2423)
  }

  @Test("an interceptor for a route") func interceptedRoute() async throws {
    try addTasks("orders", "share")
    router.intercept("orders", on: .routes(["orders"])) { _ in .refuse("closed today") }
    let app = try await TestBridge(router)
    #expect(await code(of: "action://orders", app) == 2423)
    #expect(try await app.invoke("action://share") == "share")
  }

  @Test("an interceptor for a group of routes") func interceptedGroup() async throws {
    try router.register(
      Route(
        name: "orders", patterns: [RoutePattern("action://orders")], kind: .task,
        groups: ["account"], handler: .task { _ in "ran" }))
    router.intercept("login", on: .groups(["account"])) { _ in .refuse("log in") }
    let app = try await TestBridge(router)
    #expect(await code(of: "action://orders", app) == 2423)
  }

  @Test("an interceptor is removed") func removedInterceptor() async throws {
    try addTasks("orders")
    router.intercept("login") { _ in .refuse("log in") }
    let app = try await TestBridge(router)
    #expect(await code(of: "action://orders", app) == 2423)
    #expect(router.removeInterceptor("login"))
    #expect(try await app.invoke("action://orders") == "orders")
  }

  @Test("routes are added to a group, and listed") func groupMembers() async throws {
    try addTasks("share")
    try router.add(routes: ["share"], toGroup: "account")
    #expect(router.snapshot().routes(inGroup: "account") == ["share"])
  }

  @Test("open the page again after the login") func heldCall() async throws {
    try addTasks("orders")
    try router.page("native://login")
    try router.add(routes: ["orders"], toGroup: "account")
    let login = try RouteURI("native://login")
    router.add(Gate("signedIn", on: [.groups(["account"])], opens: login))
    let app = try await TestBridge(router)
    let shell = try await app.registerHost("native")
    async let value = app.invoke("action://orders")
    try await shell.finish(try await shell.nextPage())
    #expect(try await value == "orders")
  }

  // Redirects, failures, statistics.

  @Test("redirects of old routes") func redirected() async throws {
    try addTasks("home")
    try router.page("native://home", name: "homePage")
    try router.redirect("native://old", to: "native://home")
    #expect(router.explain("native://old").canOpen)
  }

  @Test("a redirect is removed, or all") func removedRedirects() async throws {
    try addTasks("home")
    for old in ["native://old", "native://older"] { try router.redirect(old, to: "action://home") }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("native://old") == "home")
    #expect(router.removeRedirect("native://old"))
    #expect(await code(of: "native://old", app) == 2404)
    #expect(try await app.invoke("native://older") == "home")
    router.removeRedirects()
    #expect(await code(of: "native://older", app) == 2404)
  }

  @Test("a route that nobody has registered") func undefinedRoute() async throws {
    try addTasks("home")
    router.setUndefinedRouteHandler { _ in .redirect(uri: "action://home", params: [:]) }
    #expect(try await TestBridge(router).invoke("action://nowhere") == "home")
  }

  @Test("a call that fails") func failedCall() async throws {
    router.setFailedCallHandler { _, error in .respond(.integer(Int64(error.code))) }
    #expect(try await TestBridge(router).invoke("action://nowhere") == 2404)
  }

  @Test("statistics and logs of all calls") func statistics() async throws {
    let log = log
    try addTasks("share")
    router.addHook("statistics") { event, caller in
      if case .didRun(let uri, _, _) = event { log.note("\(uri) \(caller.client == nil)") }
    }
    _ = try await TestBridge(router).invoke("action://share")
    #expect(log.all == ["action://share false"])
  }
}
