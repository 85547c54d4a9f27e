import Testing
import Waybridge
import WaybridgeTesting

/// The Swift code of the rows of web/docs/jlroutes.md. Each test has the name of its row;
/// Tests/Readme/test_router_rows.py compares them.
@Suite(.timeLimit(.minutes(1)))
struct JLRoutesRowTests {
  private let router = Router()

  /// The URI of a task that the tests call.
  private let uri = "action://files/joker"

  /// Adds the route whose handler the tests set.
  private func addFiles() throws {
    try router.register(
      Route(name: "files", patterns: [RoutePattern("action://files/*")], kind: .task))
  }

  @Test("addRoute:handler:") func handlerOfDeclaredRoute() async throws {
    try addFiles()
    let handler = RouteHandler.task { call in
      .integer(Int64(call.params["*"]?.array?.count ?? 0))
    }
    try router.handle("files", with: handler)
    #expect(try await TestBridge(router).invoke(uri) == 1)
  }

  @Test("addRoute:") func registeredRoute() async throws {
    try router.register(
      Route(
        name: "files", patterns: [RoutePattern("action://files/*")], kind: .task,
        handler: .task { _ in "ran" }))
    #expect(try await TestBridge(router).invoke(uri) == "ran")
  }

  @Test("removeRoute:") func removedRoute() async throws {
    try addFiles()
    #expect(router.explain(uri).canOpen)
    #expect(router.remove(route: "files"))
    #expect(!router.explain(uri).canOpen)
  }

  @Test("routes") func listedRoutes() throws {
    try addFiles()
    #expect(router.snapshot().routes.map(\.name) == ["files"])
  }

  @Test("unregisterRouteScheme:") func removedScheme() async throws {
    try router.task("thing://files") { _ in "ran" }
    #expect(try await TestBridge(router).canOpen("thing://files"))
    try router.removeDispatcher(scheme: "thing")
    #expect(try await !TestBridge(router).canOpen("thing://files"))
  }

  @Test("unmatchedURLHandler") func undefinedRoute() async throws {
    router.setUndefinedRouteHandler { call in .respond(.string("no \(call.uri)")) }
    #expect(try await TestBridge(router).invoke("thing://nowhere") == "no thing://nowhere")
  }

  @Test("a handler returns NO: the next match is tried") func declinedCall() async throws {
    try router.task("action://files/:name", priority: 1) { call in
      guard call.params["name"] == "joker" else { throw Declined() }
      return "joker"
    }
    try router.task("action://files/*") { _ in "next" }
    let app = try await TestBridge(router)
    #expect(try await app.invoke(uri) == "joker")
    #expect(try await app.invoke("action://files/other") == "next")
  }

  @Test("matchParametersForRequest:routeVariables:") func changedParameters() async throws {
    try router.task("action://files/:name") { call in call.params["name"] ?? .null }
    router.intercept("lowercase") { call in
      var params = call.params
      params["name"] = params["name"]?.string.map { .string($0.lowercased()) }
      return .change(params: params)
    }
    #expect(try await TestBridge(router).invoke("action://files/JOKER") == "joker")
  }

  @Test("handlerBlockForTargetClass:completion:") func pageType() async throws {
    // A RoutePage with the parameters as properties.
    try router.page("native://thread/:userId", ThreadPage.self)
    let app = try await TestBridge(router)
    #expect(try await app.open("native://thread/7").data == 7)
    let error = await #expect(throws: CallError.self) { try await app.open("native://thread/tea") }
    #expect(error?.code == 2422)
  }

  @Test("kJSDVCRouteClassNeedLogin") func loginContinuesCall() async throws {
    for page in ["native://login", "native://appear"] { try router.page(page, name: page) }
    try router.add(routes: ["native://appear"], toGroup: "account")
    let login = try RouteURI("native://login")
    router.add(Gate("signedIn", on: [.groups(["account"])], opens: login))
    let app = try await TestBridge(router)
    let shell = try await app.registerHost("native")
    let opening = Task { try await app.open("native://appear", ["name": "Jersey"]) }
    try await shell.finish(try await shell.nextPage())
    let page = try await shell.nextPage()
    #expect(page.params == ["name": "Jersey"])
    try await shell.finish(page, "seen")
    #expect(try await opening.value.data == "seen")
  }
}
