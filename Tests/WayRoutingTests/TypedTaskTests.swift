import Testing
import WayNavigation
import WayRouting
import WayValues

private struct ShareRequest: Codable, Sendable {
  let title: String
  let count: Int?
  let tags: [String]
}

private struct ShareResult: Codable {
  let shared: Bool
  let times: Int
}

@Suite struct TypedTaskTests {
  private func run(
    _ router: Router, _ uri: String, _ params: ValueObject = [:]
  ) async throws -> Value {
    let match = try router.match(uri, params)
    let call = Call(uri: match.uri, params: match.params, exts: [:], navigator: StubNavigator())
    switch match.route.handler {
    case .task(let run): return try run(call)
    case .asyncTask(let run): return try await run(call)
    default: throw NoMatchError(uri: uri)
    }
  }

  private func router() throws -> Router {
    let router = Router()
    try router.task("action://sync") { (request: ShareRequest, call) in
      ShareResult(shared: !request.title.isEmpty, times: request.count ?? 0)
    }
    try router.task("action://async") { (request: ShareRequest, call) in
      await Task.yield()
      return ["title": request.title, "tag": request.tags.first ?? call.uri.text]
    }
    try router.task("action://value") { (request: [String: Value], call) in request["x"] ?? .null }
    return router
  }

  @Test func `decodes parameters and encodes the result`() async throws {
    let router = try router()
    guard case .task = try router.match("action://sync").route.handler else {
      Issue.record("not synchronous")
      return
    }
    #expect(
      try await run(router, "action://sync?count=3&title=T", ["tags": []])
        == ["shared": true, "times": 3])
    #expect(
      try await run(router, "action://async", ["title": "T", "tags": ["a"], "more": 1])
        == ["title": "T", "tag": "a"])
    #expect(try await run(router, "action://value?x=7") == "7")
  }

  @Test(
    "rejects invalid parameters with their path",
    arguments: [
      (["tags": []], "$.title: is missing"),
      (["title": 1, "tags": []], "$.title: has to be a string; it is of type number"),
      (["title": "", "tags": ["a", 1]], "$.tags[1]: has to be a string; it is of type number"),
      (["title": "", "tags": nil], "$.tags: has to be an array; it is null"),
      (
        ["title": "", "tags": [], "count": "x"],
        "$.count: has to be an integer; it is of type string"
      ),
    ] as [(ValueObject, String)])
  func rejectsInvalidParameters(params: ValueObject, message: String) async throws {
    for uri in ["action://sync", "action://async"] {
      let error = await #expect(throws: RouterResolutionError.self) {
        try await run(router(), uri, params)
      }
      #expect(error?.description == message)
    }
  }

  @Test func `decodes the parameters of a page`() throws {
    let page = Page(
      id: "p", uri: "x:", route: nil, params: ["title": "T", "tags": ["a"]], host: "h")
    #expect(try page.decode(ShareRequest.self).tags == ["a"])
  }
}
