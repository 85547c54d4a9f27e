import Testing
import Waybridge
import WaybridgeTesting

/// The Swift code of the rows of web/docs/therouter-android.md. Each test has the name of its row;
/// Tests/Readme/test_router_rows.py compares them.
@Suite(.timeLimit(.minutes(1)))
struct TheRouterAndroidRowTests {
  private let router = Router()
  private let log = RowLog()

  @Test("withObject") func attachedObject() async throws {
    try router.task("action://read") { call in
      let model: AppConfig = try call.attachment("model")
      return .string(model.theme)
    }
    let model = AppConfig()
    try router.task("action://start") { call in
      try await call.navigator.build("action://read").attaching("model", model).invoke()
    }
    #expect(try await TestBridge(router).invoke("action://start") == "dark")
  }

  @Test("getUrlWithParams") func completeURI() async throws {
    try router.task("action://scan") { call in .string("\(try call.completeURI())") }
    let app = try await TestBridge(router)
    #expect(try await app.invoke("action://scan", ["code": 7]) == "action://scan?code=7")
  }

  @Test("addRouterReplaceInterceptor") func redirectedCall() async throws {
    try router.task("app://wallet", name: "wallet") { _ in "wallet" }
    try router.task("app://offline", name: "offline") { _ in "offline" }
    router.intercept("wallet", on: .routes(["wallet"])) { _ in .redirect(to: "app://offline") }
    #expect(try await TestBridge(router).invoke("app://wallet") == "offline")
  }

  @Test("setRouterInterceptor") func waitingInterceptor() async throws {
    let log = log
    try router.task("action://scan") { _ in "ran" }
    router.intercept("limit", on: .all(), priority: 1) { _ in
      await Task.yield()
      log.note("limit")
      return .next
    }
    router.intercept("statistics") { _ in
      log.note("statistics")
      return .next
    }
    #expect(try await TestBridge(router).invoke("action://scan") == "ran")
    #expect(log.all == ["limit", "statistics"])
    try router.task("action://login", name: "login") { _ in "Ada" }
    try router.task("action://wallet", name: "wallet") { _ in "open" }
    let login = try RouteURI("action://login")
    router.add(Gate("signedIn", on: [.routes(["wallet"])], opens: login))
    #expect(try await TestBridge(router).invoke("action://wallet") == "open")
  }

  @Test("Autowired") func pageType() async throws {
    // A RoutePage with the parameters as properties.
    try router.page("app://user/:id", UserPage.self)
    #expect(try await TestBridge(router).open("app://user/7").data == 7)
  }

  @Test("AutowiredParser") func decodedParameters() async throws {
    struct Scan: Decodable {
      let code: Int
    }
    try router.task("action://scan") { call in
      // Scan is Decodable.
      let scan: Scan = try call.decode()
      return .integer(Int64(scan.code))
    }
    #expect(try await TestBridge(router).invoke("action://scan", ["code": 7]) == 7)
  }

  @Test("TheRouter.get") func service() async throws {
    try router.registerService(
      AppConfig.self, name: "AppConfig", make: { AppConfig() },
      methods: {
        $0.method("theme") { config, _ in .string(config.theme) }
      })
    #expect(try router.service(AppConfig.self).theme == "dark")
    #expect(try await TestBridge(router).invoke("service://AppConfig/theme") == "dark")
  }

  @Test("Singleton") func singleInstance() async throws {
    try router.registerService(AppConfig.self, name: "AppConfig", make: { AppConfig() })
    #expect(try router.service(AppConfig.self).theme == "dark")
  }

  @Test("RouterInject") func replacedService() async throws {
    try router.registerService(AppConfig.self, name: "AppConfig", make: { AppConfig() })
    #expect(router.removeService(AppConfig.self))
    try router.registerService(
      AppConfig.self, name: "AppConfig", make: { AppConfig(theme: "light") })
    #expect(try router.service(AppConfig.self).theme == "light")
  }

  @Test("FlowTask") func startPhases() async throws {
    let log = log
    // table, interceptors, pages, tasks, groups, ready
    try router.atStart(.ready) { _ in log.note("ready") }
    try router.atStart(.tasks) { _ in log.note("tasks") }
    try router.atStart(.table) { _ in log.note("table") }
    try await router.start()
    #expect(log.all == ["table", "tasks", "ready"])
    #expect(StartPhase.allCases == [.table, .interceptors, .pages, .tasks, .groups, .ready])
  }

  @Test("TheRouterLifecycleCallback") func pageHook() async throws {
    let log = log
    try router.page("app://user/:id", UserPage.self)
    router.addHook("pages") { event, _ in
      if case .didOpen(let page, _) = event { log.note("opened \(page.uri)") }
    }
    _ = try await TestBridge(router).open("app://user/7")
    #expect(log.all == ["opened app://user/7"])
  }
}
