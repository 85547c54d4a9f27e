import Testing
import WayRouting

@Suite struct RoutePatternTests {
  @Test(
    "patterns name a scheme or none, and their parameters",
    arguments: [
      ("native://address/:id", "native", ["id"]), ("/user/:id", nil, ["id"]), ("/", nil, []),
      ("NATIVE://:page/:_a1", "native", ["page", "_a1"]), ("navigation:back", "navigation", []),
      ("native:/user/5", "native", []), ("tel::number", "tel", ["number"]), ("x://", "x", []),
      ("x://[::1]:80/a", "x", []), ("/a:b", nil, []), ("/用户/%2A%3Aid", nil, []), ("x:", "x", []),
      ("/a//:b/", nil, ["b"]),
    ] as [(String, String?, [String])])
  func valid(text: String, scheme: String?, names: [String]) throws {
    let pattern = try RoutePattern(text)
    #expect(pattern.scheme == scheme)
    #expect(pattern.parameterNames == names)
    #expect(pattern.description == text)
  }

  @Test(
    "what is no pattern says where and what to write",
    arguments: [
      ("", 0, "begin with '/'"), ("user/:id", 4, "begin with '/'"), (":id", 0, "begin with '/'"),
      ("1a://b", 0, "begin with '/'"), ("abc", 0, "begin with '/'"),
      ("/:", 1, "a parameter is"), ("/:1a", 1, "a parameter is"), ("/:a-b", 1, "a parameter is"),
      ("/:a.json", 1, "a parameter is"), ("x://:8080/a", 4, "a parameter is"),
      ("/:id/x/:id", 7, "comes twice"), ("x://:a/:a", 7, "comes twice"),
      ("/a(/:b)", 2, "written '%28'"), ("/a)", 2, "written '%29'"), ("/*", 1, "written '%2A'"),
      ("/a?b=c", 2, "no query"), ("/a#b", 2, "no fragment"), ("/a b", 2, "percent-encode"),
      ("/a%", 2, "'%25'"), ("/%4", 1, "'%25'"), ("/%zz", 1, "'%25'"), ("/%00", 1, "not allowed"),
      ("/[a]", 1, "percent-encode"),
    ])
  func invalid(text: String, offset: Int, hint: String) {
    let error = #expect(throws: RoutePatternError.self) { try RoutePattern(text) }
    #expect(error?.offset == offset)
    #expect(error?.description.contains(hint) == true, "\(String(describing: error))")
  }

  @Test func `long patterns are refused`() {
    for text in [
      String(repeating: "/a", count: 10_000), "x://h" + String(repeating: "/a", count: 256),
      String(repeating: "/a", count: 1 << 19), "/" + String(repeating: "a", count: 65_536),
    ] {
      #expect(throws: RoutePatternError.self) { try RoutePattern(text) }
    }
    #expect(throws: Never.self) { try RoutePattern(String(repeating: "/a", count: 256)) }
  }
}
