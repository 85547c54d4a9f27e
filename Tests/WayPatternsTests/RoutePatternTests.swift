import Testing
import WayPatterns

@Suite struct RoutePatternTests {
  @Test(
    "patterns name a scheme or none, and their parameters",
    arguments: [
      ("native://address/:id", "native", ["id"]), ("/user/:id", nil, ["id"]), ("/", nil, []),
      ("NATIVE://:page/:_a1", "native", ["page", "_a1"]), ("navigation:back", "navigation", []),
      ("native:/user/5", "native", []), ("tel::number", "tel", ["number"]), ("x://", "x", []),
      ("x://[::1]:80/a", "x", []), ("/a:b", nil, []), ("/用户/%2A%3Aid", nil, []), ("x:", "x", []),
      ("/a//:b/", nil, ["b"]), ("native://address(/:id)", "native", ["id"]),
      ("/the(/foo/:a)(/bar/:b(/:c))/*", nil, ["a", "b", "c", "*"]), ("native:*", "native", ["*"]),
      ("native://*", "native", ["*"]), ("(/a)", nil, []), ("tel::n(/x)", "tel", ["n"]),
      ("/a/%2A", nil, []), ("/a(/*)", nil, ["*"]),
    ] as [(String, String?, [String])])
  func parsesValidPatterns(text: String, scheme: String?, names: [String]) throws {
    let pattern = try RoutePattern(text)
    #expect(pattern.scheme == scheme)
    #expect(pattern.parameterNames == names)
    #expect(pattern.description == text)
  }

  @Test(
    "an invalid pattern is rejected with its offset and a hint",
    arguments: [
      ("", 0, "begin with \"/\""), ("user/:id", 4, "begin with \"/\""),
      (":id", 0, "begin with \"/\""),
      ("1a://b", 0, "begin with \"/\""), ("abc", 0, "begin with \"/\""),
      ("/:", 1, "a parameter is"), ("/:1a", 1, "a parameter is"), ("/:a-b", 1, "a parameter is"),
      ("/:a.json", 1, "a parameter is"), ("x://:8080/a", 4, "a parameter is"),
      ("/:id/x/:id", 7, "occurs twice"), ("x://:a/:a", 7, "occurs twice"),
      ("/a(b)", 2, "begins with \"/\""), ("/a()", 2, "begins with \"/\""),
      ("x://(a)/b", 4, "begins with \"/\""), ("/a(", 2, "begins with \"/\""),
      ("/a)", 2, "written \"%29\""), ("/a(/b", 2, "not closed"), ("/a(/b))", 6, "written \"%29\""),
      ("/a(/b)c", 6, "after a group"), ("/a/(/b)", 2, "brings its own"),
      ("/a(/b/)", 5, "brings its own"), ("/a(/)", 3, "brings its own"),
      ("/a(/:x)(/b/:x)", 11, "occurs twice"), ("/a(/:x)(/:y)", 2, "the same path"),
      ("/a(/b)(/b)", 2, "the same path"),
      ("/a*", 2, "written \"%2A\""), ("/*a", 1, "written \"%2A\""), ("/*/a", 3, "put it last"),
      ("/a(/*)(/b)", 8, "put it last"), ("x://*/a", 6, "put it last"),
      ("/a" + String(repeating: "(/b", count: 9) + String(repeating: ")", count: 9), 26, "deeper"),
      ("/" + (0..<6).map { "(/a\($0))" }.joined(), 0, "brings its own"),
      ("n://a/..", 6, "remove them"), ("/a/./b", 3, "remove them"),
      ("/a(/%2e%2E)", 4, "remove them"),
      ("/x" + (0..<6).map { "(/a\($0))" }.joined(), 27, "more than 32 forms"),
      ("/a?b=c", 2, "no query"), ("/a#b", 2, "no fragment"), ("/a b", 2, "percent-encode"),
      ("/a%", 2, "\"%25\""), ("/%4", 1, "\"%25\""), ("/%zz", 1, "\"%25\""),
      ("/%00", 1, "not allowed"),
      ("/[a]", 1, "percent-encode"),
    ])
  func rejectsInvalidPatternsWithHint(text: String, offset: Int, hint: String) {
    let error = #expect(throws: RoutePatternError.self) { try RoutePattern(text) }
    #expect(error?.offset == offset)
    #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
  }

  @Test func `rejects overlong patterns`() {
    for text in [
      String(repeating: "/a", count: 10_000), "x://h" + String(repeating: "/a", count: 256),
      String(repeating: "/a", count: 1 << 19), String(repeating: "(/a)", count: 1 << 18),
      String(repeating: "(/a)", count: 16_000), String(repeating: "(/a", count: 20_000),
      String(repeating: "(", count: 60_000), "/a" + String(repeating: "(/*)", count: 200),
      "/" + String(repeating: "a", count: 65_536),
    ] {
      #expect(throws: RoutePatternError.self) { try RoutePattern(text) }
    }
    #expect(throws: Never.self) { try RoutePattern(String(repeating: "/a", count: 256)) }
  }
}
