import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite struct PatternMatchTests {
  @Test(
    "matches a URI against a pattern and captures parameters",
    arguments: [
      // Segment by segment.
      ("native://user/5", "native://user/5", [:]), ("native:/user/5", "native://user/5", nil),
      ("native://user/5", "native:/user/5", nil), ("native:/user/5", "native:/user/5", [:]),
      ("navigation:back", "navigation:back", [:]), ("navigation:back", "navigation:/back", nil),
      ("navigation:/back", "navigation:back", nil),
      ("native://user", "flutter://user", nil), ("native:", "native:/", [:]),
      ("native:/", "native:", [:]), ("x:///a", "x:///a", [:]), ("x:/a", "x:///a", nil),
      // A parameter matches one segment that is not empty.
      ("native://address/:id", "native://address/17", ["id": "17"]),
      ("native://address/:id", "native://address", nil),
      ("native://address/:id", "native://address/", nil),
      ("native://address/:id", "native://address//", nil),
      ("native://address/:id", "native://address/1/2", nil),
      ("native://:page/x", "native://Home/x", ["page": "Home"]),
      ("native://:page/x", "native:///x", nil), ("tel::number", "tel:123", ["number": "123"]),
      ("native://:h", "native://u@h.x:8", ["h": "h.x:8"]),
      // Letter case.
      ("native://address/a", "NATIVE://ADDRESS/a", [:]),
      ("native://ADDRESS", "native://address", [:]),
      ("native://address/a", "native://address/A", nil),
      // Slashes.
      ("native://a/b", "native://a/b/", [:]), ("native://a/b/", "native://a/b", [:]),
      ("native://a/b", "native://a/b//", nil), ("native://a//b", "native://a/b", nil),
      ("native://a/b", "native://a//b", nil), ("native://a//b", "native://a//b", [:]),
      ("native://a", "native://a/", [:]), ("native://a", "native://a//", nil),
      // Percent-decoding happens after splitting.
      ("native://a/b", "native://a/%62", [:]), ("native://%61/%62", "native://a/b", [:]),
      ("native://a/b/c", "native://a/b%2Fc", nil), ("native://a/b%2fc", "native://a/b%2Fc", [:]),
      ("native://a/:x", "native://a/b%2Fc%20d+e", ["x": "b/c d+e"]),
      ("/用户/:x", "native:/%E7%94%A8%E6%88%B7/%C3%A9", ["x": "é"]),
      ("native://a/e\u{301}", "native://a/%C3%A9", nil),
      // Query and fragment are ignored.
      ("native://a", "native://a?x=/b#/c", [:]),
      // Global patterns: the authority is a segment unless the URI is a web URI or its authority
      // has a dot, port or user.
      ("/user/:id", "native://user/5", ["id": "5"]), ("/user/:id", "native:/user/5", ["id": "5"]),
      ("/user/:id", "native:///user/5", ["id": "5"]),
      ("/user/:id", "https://user/5", nil), ("/user/:id", "HTTP://a/user/5", ["id": "5"]),
      ("/user/:id", "https://example.com/user/5", ["id": "5"]),
      ("/user/:id", "native://h.x/user/5", ["id": "5"]), ("/user/:id", "native://h.x/5", nil),
      ("/user/:id", "native://h%2Ex/user/5", ["id": "5"]),
      ("/user/:id", "native://h:1/user/5", ["id": "5"]),
      ("/user/:id", "native://user:/5", ["id": "5"]),
      ("/user/:id", "native://@user/5", ["id": "5"]),
      ("/:page", "native://me@home", ["page": "home"]), ("/:id", "native://me@user/5", nil),
      ("/user/:id", "native:user/5", nil), ("/User/:id", "native://uSER/5", ["id": "5"]),
      ("/User/:id", "native:/user/5", nil), ("/User/:id", "native:/User/5", ["id": "5"]),
      ("/:page", "native://Home", ["page": "Home"]), ("/", "https://h/", [:]),
      ("/", "https://h", [:]), ("/", "native:/", [:]), ("/", "native://h", nil),
      ("//b", "native://h.x//b", [:]),
      ("/httpx", "httpx://httpx", [:]), ("/h", "htt://h", [:]),
    ] as [(String, String, [String: String]?)])
  func matchesPattern(pattern: String, uri: String, parameters: [String: String]?) throws {
    let trie = RouteTrie([(try RoutePattern(pattern), 0)])
    let split = try SplitURI(RouteURI(uri))
    let match = trie.best(split)
    let found = try match.map { try trie.captures(of: $0, in: split) }
    #expect((found == nil) == (parameters == nil))
    for (name, value) in parameters ?? [:] { #expect(found?[name] == .string(value)) }
    #expect(found?.count == parameters?.count)
    #expect(trie.candidates(split).count == (parameters == nil ? 0 : 1))
  }

  @Test(
    "matches wildcards and optional groups",
    arguments: [
      ("native://files/*", "native://files/a/b%2Fc", ["*": ["a", "b/c"]]),
      ("native://files/*", "native://files", ["*": []]),
      ("native://files/*", "native://files/", ["*": []]),
      ("native://files/*", "native://files//a", ["*": ["", "a"]]),
      ("native://files/*", "native://file", nil), ("native://files/*", "native:/files/a", nil),
      ("native://:id/*", "native://7/a", ["id": "7", "*": ["a"]]),
      ("native://*", "native://A.b/c", ["*": ["A.b", "c"]]), ("native://*", "native:/c", nil),
      ("native:/*", "native:/a/b", ["*": ["a", "b"]]), ("native:/*", "native:/", ["*": []]),
      ("native:/*", "native:", ["*": []]), ("native:/*", "native:a", nil),
      ("native:*", "native:a/b", ["*": ["a", "b"]]), ("native:*", "native:", ["*": []]),
      ("native:*", "native:/a", nil), ("/*", "https://h.x/a/b", ["*": ["a", "b"]]),
      ("/*", "https://h.x", ["*": []]), ("/*", "native://a/b", ["*": ["a", "b"]]),
      ("/*", "native:/a", ["*": ["a"]]), ("/*", "native:", ["*": []]),
      ("/a/*", "native://A/B", ["*": ["B"]]), ("/*", "native:a", nil),
      ("/the(/foo/:a)(/bar/:b)", "x:/the", [:]),
      ("/the(/foo/:a)(/bar/:b)", "x:/the/foo/1", ["a": "1"]),
      ("/the(/foo/:a)(/bar/:b)", "x:/the/bar/2", ["b": "2"]),
      ("/the(/foo/:a)(/bar/:b)", "x://the/foo/1/bar/2/", ["a": "1", "b": "2"]),
      ("/the(/foo/:a)(/bar/:b)", "x:/the/bar/2/foo/1", nil),
      ("/the(/foo/:a)(/bar/:b)", "x:/the/foo", nil),
      ("x://h(/a(/b))", "x://h/a/b", [:]), ("x://h(/a(/b))", "x://h/a", [:]),
      ("x://h(/a(/b))", "x://h/b", nil), ("x://h(/a)/z", "x://h/z", [:]),
      ("x:(/a)", "x:", [:]), ("x:(/a)", "x:/a", [:]), ("(/a)", "x:/", [:]),
      ("x://h(/:y)(/m/*)", "x://h/m/1/2", ["*": ["1", "2"]]),
      ("x://h(/:y)(/m/*)", "x://h/m", ["*": []]), ("x://h(/:y)(/m/*)", "x://h/q", ["y": "q"]),
    ] as [(String, String, ValueObject?)])
  func matchesWildcardsAndGroups(pattern: String, uri: String, parameters: ValueObject?) throws {
    let trie = RouteTrie([(try RoutePattern(pattern), 0)])
    let split = try SplitURI(RouteURI(uri))
    #expect(try trie.best(split).map { try trie.captures(of: $0, in: split) } == parameters)
    #expect(trie.candidates(split).isEmpty == (parameters == nil))
  }

  @Test func `limits a path to 256 segments`() throws {
    let trie = RouteTrie([
      (try RoutePattern(String(repeating: "/a", count: 255) + "/:last"), 0)
    ])
    let split = try SplitURI(RouteURI("x:" + String(repeating: "/a", count: 255) + "/b"))
    #expect(try trie.best(split).map { try trie.captures(of: $0, in: split) } == ["last": "b"])
    for (text, offset) in [
      ("x:" + String(repeating: "/a", count: 10_000), 2 + 256 * 2 + 1),
      ("x:" + String(repeating: "/", count: 60_000), 4 + 1 + 255),
      ("x://h" + String(repeating: "/a", count: 256), 5 + 255 * 2 + 1),
    ] {
      let uri = try RouteURI(text)
      #expect(throws: RouteURIError(.tooManySegments, at: offset)) { _ = try SplitURI(uri) }
    }
  }
}
