import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite struct URIConstructionTests {
  @Test(
    "builds a URI that resolves to the same parameters",
    arguments: [
      ("native://address/:id", ["id": 7], "native://address/7"),
      (
        "native://address/:id", ["id": "a/b c%é?", "q": "x&y=z+w #"],
        "native://address/a%2Fb%20c%25%C3%A9%3F?q=x%26y%3Dz%2Bw%20%23"
      ),
      ("native://:host/x", ["host": "u@H.x:8"], "native://u%40H.x%3A8/x"),
      (
        "native://a", ["l": ["1", "2"], "flag": "", "yes": true, "n": 1.5],
        "native://a?l=1&l=2&flag=&yes=true&n=1.5"
      ),
      ("native://a", ["gone": nil, "empty": []], "native://a"),
      ("native://a/b%2Fc/é/", [:], "native://a/b%2Fc/%C3%A9"),
      ("native://%a6b/%FF", [:], "native://%A6b/%FF"),
      ("native://A", [:], "native://a"), ("tel::number", ["number": "+49 1"], "tel:+49%201"),
      ("native:/a/:x", ["x": ":"], "native:/a/:"), ("x:", [:], "x:"), ("x:/", [:], "x:"),
      ("x:///a", [:], "x:///a"), ("x://a//b", [:], "x://a//b"), ("x://a//", [:], "x://a//"),
      ("x://f/*", ["*": ["a", "b/c"]], "x://f/a/b%2Fc"), ("x://f/*", ["*": []], "x://f"),
      ("x://f/*", ["*": ["", "a", ""]], "x://f//a//"), ("x://*", ["*": ["h", "p"]], "x://h/p"),
      ("x:/*", ["*": []], "x:"), ("x:*", ["*": ["a", "b"]], "x:a/b"),
      ("x://the(/foo/:a)(/bar/:b)", [:], "x://the"),
      ("x://the(/foo/:a)(/bar/:b)", ["b": 2], "x://the/bar/2"),
      ("x://the(/foo/:a)(/bar/:b)", ["b": 2, "a": 1, "c": 3], "x://the/foo/1/bar/2?c=3"),
      ("x://the(/foo/:a)(/bar/:b)", ["b": nil], "x://the"), ("x://a(/b)", [:], "x://a"),
      ("x://a/:id", ["id": "1", "": "e"], "x://a/1?=e"),
    ] as [(String, ValueObject, String)])
  func buildsURI(pattern: String, params: ValueObject, expected: String) throws {
    let uri = try RoutePattern(pattern).uri(params)
    #expect(uri.text == expected)
    let router = Router()
    for scheme in ["native", "x", "tel"] {
      try router.register(SchemeDispatcher(name: "any", action: .task), scheme: scheme)
    }
    try router.register(Route(name: "r", patterns: [RoutePattern(pattern)], kind: .task))
    let read = try router.match(uri.text).params
    #expect(try RoutePattern(pattern).uri(read) == uri)
    for member in params.members {
      guard let text = member.value.string else { continue }
      #expect(read[member.name] == .string(text))
    }
  }

  @Test(
    "rejects parameters that a URI cannot represent",
    arguments: [
      ("x://a/:id", [:], "$.id: is missing"), ("x://a/:id", ["id": nil], "$.id: is missing"),
      ("x://a/:id", ["id": ""], "$.id: must not be empty"),
      ("x://a/:id", ["id": ".."], "$.id: must not be \".\" or \"..\""),
      ("x://:host/a", ["host": "."], "$.host: must not be \".\" or \"..\""),
      ("x://f/*", ["*": ["a", ".."]], "$['*']: must not be \".\" or \"..\""),
      ("x://a/:id", ["id": "a\0"], "$.id: contains a zero byte"),
      ("x://a/:id", ["id": ["x"]], "$.id: is an array"),
      ("x://a", ["q": ["a": 1]], "$.q: is an object"),
      ("x://a", ["q": [["a"]]], "$.q: is an array"), ("x://f/*", [:], "$['*']: is missing"),
      ("x://f/*", ["*": "a"], "$['*']: is missing"),
      ("x://f/*", ["*": [[]]], "$['*']: is an array"),
      ("/a/:id", ["id": 1], "no scheme"),
      ("x:*", ["*": ["", "a"]], "begins with an empty segment"),
      ("x://*", ["*": []], "$['*']: must not be empty"),
      ("x://a", ["l": .array(Array(repeating: 1, count: 257))], "more than 256 query"),
      ("x://f/*", ["*": .array(Array(repeating: "a", count: 256))], "more than 256 path"),
      ("x://a/:id", ["id": .string(String(repeating: "é", count: 20_000))], "longer than 65536"),
    ] as [(String, ValueObject, String)])
  func rejectsParameters(pattern: String, params: ValueObject, hint: String) throws {
    let pattern = try RoutePattern(pattern)
    let error = #expect(throws: PatternParameterError.self) { try pattern.uri(params) }
    #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
  }

  @Test func `a route uses its first pattern that fits the parameters`() throws {
    let route = Route(
      name: "r",
      patterns: [try RoutePattern("x://a/:id/:part"), try RoutePattern("/b/:id")], kind: .page)
    #expect(try route.uri(["id": 1, "part": 2]).text == "x://a/1/2")
    #expect(try route.uri(["id": 1], scheme: "native").text == "native:/b/1")
    #expect(throws: PatternParameterError.self) { try route.uri(["id": 1]) }
  }

  @Test(
    "a complete URI resolves to the same call",
    arguments: [
      ("x://r/7?q=1#top", ["n": 2], "x://r/7?q=1&n=2#top"), ("x://r/7", ["id": 8], "x://r/8"),
      ("X://R/7/", ["id": 7], "X://R/7/"), ("x://r/%37?id=9", [:], "x://r/%37"),
      ("x://r/7?l=1&l=2", ["m": ["a", "b"]], "x://r/7?l=1&l=2&m=a&m=b"),
    ] as [(String, ValueObject, String)])
  func buildsCompleteURI(uri: String, params: ValueObject, expected: String) throws {
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("x://r/:id")], kind: .page,
        parameters: [ParameterDeclaration("id", .integer)]))
    let match = try router.match(uri, params)
    #expect(try match.completeURI().text == expected)
    let call = Call(
      uri: match.uri, params: match.params, exts: [:], route: match.route,
      navigator: StubNavigator())
    #expect(try call.completeURI().text == expected)
    let again = try router.match(expected)
    #expect(again.params["id"] == match.params["id"])
    #expect(again.params.count == match.params.count)
  }

  @Test func `rejects an object in a complete URI`() throws {
    let router = Router()
    try router.page("x://r")
    let match = try router.match("x://r", ["o": [:]])
    #expect(throws: PatternParameterError.self) { try match.completeURI() }
  }
}
