import Testing
import Waybridge
import WaybridgeTesting

/// The Swift code of the rows of web/docs/therouter.md. Each test has the name of its row;
/// Tests/Readme/test_router_rows.py compares them.
@Suite(.timeLimit(.minutes(1)))
struct TheRouterRowTests {
  private let router = Router()
  private let log = RowLog()

  @Test("registerAction(info:)") func pageType() async throws {
    // A RoutePage with the parameters as properties.
    try router.page("scheme://router/demo", DemoPage.self)
    #expect(try await TestBridge(router).open("scheme://router/demo", ["intValue": 2]).data == 2)
  }

  @Test("addRouterItem") func registeredPage() async throws {
    try router.page("scheme://router/demo")
    let app = try await TestBridge(router)
    let shell = try await app.registerHost("scheme")
    #expect(try await app.canOpen("scheme://router/demo"))
    #expect(shell.pages.isEmpty)
  }

  @Test("removeRouter") func removedPage() throws {
    try router.page("scheme://router/demo", name: "demo")
    #expect(router.remove(route: "demo"))
    #expect(!router.explain("scheme://router/demo").canOpen)
  }

  @Test("lazyRegisterRouterHandle") func lazyModule() async throws {
    let log = log
    let route = Route(name: "count", patterns: [try RoutePattern("action://count")], kind: .task)
    try router.registerModule("orders", routes: [route]) { router in
      log.note("loaded")
      try router.handle("count", with: .task { _ in 2 })
    }
    let app = try await TestBridge(router)
    #expect(log.all == [])
    #expect(try await app.invoke("action://count") == 2)
    #expect(try await app.invoke("action://count") == 2)
    #expect(log.all == ["loaded"])
  }

  @Test("addGloableRouter") func moduleType() async throws {
    try router.register(module: OrdersModule.self)
    #expect(try await TestBridge(router).invoke("action://orders/count") == 2)
  }

  @Test("registerServices") func serviceType() async throws {
    // A RouteService with its name.
    try router.register(service: ConfigService.self)
    #expect(try await TestBridge(router).invoke("service://Config/theme") == "dark")
  }

  @Test("TheRouterPattern") func listedRoutes() throws {
    try router.page("scheme://router/demo", name: "demo")
    #expect(router.snapshot().routes.map(\.name) == ["demo"])
  }

  @Test("TheRouter") func ownInstance() throws {
    try router.page("scheme://router/demo", name: "demo")
    do {
      let router = Router()
      #expect(router.snapshot().routes.isEmpty)
    }
  }

  @Test("TheRouerParamsClosureWrapper") func attachedClosure() async throws {
    let log = log
    try router.task("action://scan") { call in
      let model: @Sendable (String) -> Void = try call.attachment("model")
      model("scanned")
      return .null
    }
    try router.task("action://start") { call in
      let model: @Sendable (String) -> Void = { log.note($0) }
      return try await call.navigator.build("action://scan").attaching("model", model).invoke()
    }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("action://start") == .null)
    #expect(log.all == ["scanned"])
  }

  @Test("addRouterInterceptor") func interceptorWithWhiteList() async throws {
    for name in ["login", "orders"] {
      try router.task("action://\(name)", name: name) { _ in "ran" }
    }
    router.intercept("limit", on: .all(except: ["login"]), priority: 1) { _ in
      .refuse("closed today")
    }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("action://login") == "ran")
    let error = await #expect(throws: CallError.self) { try await app.invoke("action://orders") }
    #expect(error?.code == 2423)
    router.removeInterceptor("limit")
    let login = try RouteURI("action://login")
    router.add(Gate("signedIn", on: [.all(except: ["login"])], opens: login))
    #expect(try await app.invoke("action://orders") == "ran")
  }

  @Test("globalOpenFailedHandler") func failedCall() async throws {
    let log = log
    router.setFailedCallHandler { call, error in
      log.note("\(call.uri) \(error.code)")
      return .fail
    }
    let app = try await TestBridge(router)
    await #expect(throws: CallError.self) { try await app.invoke("action://nowhere") }
    #expect(log.all == ["action://nowhere 2404"])
  }

  @Test("logcat") func loggedCalls() async throws {
    let log = log
    try router.task("action://scan", name: "scan") { _ in "ran" }
    router.addHook("log") { event, _ in
      switch event {
      case .didRun(_, let route, _): log.note("ran \(route ?? "")")
      case .didFail(let failure): log.note("failed \(failure.code)")
      default: break
      }
    }
    let app = try await TestBridge(router)
    _ = try await app.invoke("action://scan")
    await #expect(throws: CallError.self) { try await app.invoke("action://nowhere") }
    #expect(log.all == ["ran scan", "failed 2404"])
  }

  @Test("registerService") func registeredService() async throws {
    try router.registerService(AppConfig.self, name: "AppConfig", make: { AppConfig() })
    #expect(try router.service(AppConfig.self).theme == "dark")
  }

  @Test("fetchService") func fetchedService() async throws {
    let log = log
    try router.registerService(
      AppConfig.self, name: "AppConfig",
      make: {
        log.note("made")
        return AppConfig()
      })
    #expect(log.all == [])
    for _ in 1...2 { #expect(try router.service(AppConfig.self).theme == "dark") }
    #expect(log.all == ["made"])
  }

  @Test("unregisterService") func removedService() async throws {
    try router.register(service: ConfigService.self)
    try await router.start()
    #expect(router.removeService(AppConfig.self))
    #expect(throws: ServiceError.self) { try router.service(AppConfig.self) }
  }

  @Test("routerService") func calledService() async throws {
    try router.registerService(
      AppConfig.self, name: "AppConfig", make: { AppConfig() },
      methods: {
        $0.method("openMiniProgram") { config, call in
          .string(config.openMiniProgram(call.params["id"]?.string ?? ""))
        }
      })
    let app = try await TestBridge(router)
    let opened = try await app.invoke("service://AppConfig/openMiniProgram", ["id": "coffee"])
    #expect(opened == "opened coffee")
  }
}
