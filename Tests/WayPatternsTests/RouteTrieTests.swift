import Testing
import WayPatterns
import WayValues

struct MatchOrderRow: Sendable, CustomTestStringConvertible {
  let name: String
  let patterns: [(text: String, priority: Int)]
  let uri: String
  /// The matching patterns, best first.
  let order: [String]
  var testDescription: String { name }

  init(_ name: String, _ patterns: KeyValuePairs<String, Int>, _ uri: String, _ order: [String]) {
    self.name = name
    self.patterns = patterns.map { ($0.key, $0.value) }
    self.uri = uri
    self.order = order
  }
}

@Suite struct RouteTrieTests {
  @Test(
    "matches come in the published order",
    arguments: [
      MatchOrderRow(
        "a literal goes before a parameter", ["x://a/:p": 0, "x://a/b": 0], "x://a/b",
        ["x://a/b", "x://a/:p"]),
      MatchOrderRow(
        "segments are compared from the left", ["x://:p/b/c": 0, "x://a/:q/:r": 0], "x://a/b/c",
        ["x://a/:q/:r", "x://:p/b/c"]),
      MatchOrderRow(
        "a dead end leads back", ["x://a/b/c": 0, "x://a/:p/d": 0], "x://a/b/d", ["x://a/:p/d"]),
      MatchOrderRow(
        "dead ends on several levels lead back",
        ["x://a/b/c/d": 0, "x://a/b/:r/e": 0, "x://a/:q/c/f": 0, "x://:p/b/c/g": 0], "x://a/b/c/g",
        ["x://:p/b/c/g"]),
      MatchOrderRow(
        "a higher priority goes before specificity", ["x://a/b": 0, "x://a/:p": 1, "x://:q/b": 2],
        "x://a/b", ["x://:q/b", "x://a/:p", "x://a/b"]),
      MatchOrderRow(
        "a lower priority goes after", ["x://a/b": -1, "x://a/:p": 0], "x://a/b",
        ["x://a/:p", "x://a/b"]),
      MatchOrderRow(
        "one shape at two priorities", ["x://a/:p": 0, "x://a/:q": 5], "x://a/b",
        ["x://a/:q", "x://a/:p"]),
      MatchOrderRow(
        "equal patterns keep the order of entries", ["x://a/:p": 0, "x://a/:q": 0, "x://a/:r": 0],
        "x://a/b", ["x://a/:p", "x://a/:q", "x://a/:r"]),
      MatchOrderRow(
        "the scheme's patterns go before global ones of any priority", ["/a/b": 9, "x://a/:p": 0],
        "x://a/b", ["x://a/:p", "/a/b"]),
      MatchOrderRow(
        "a wildcard goes after a parameter, and the longest first",
        ["x://a/*": 0, "x://*": 0, "x://a/:p": 0, "x://a/b": 0, "x://a/b/*": 0], "x://a/b",
        ["x://a/b", "x://a/b/*", "x://a/:p", "x://a/*", "x://*"]),
      MatchOrderRow(
        "a dead end under literals leads back to a wildcard", ["x://a/*": 0, "x://a/b/c/d": 0],
        "x://a/b/c/e", ["x://a/*"]),
      MatchOrderRow(
        "a wildcard of higher priority goes first", ["x://a/*": 1, "x://a/b": 0], "x://a/b",
        ["x://a/*", "x://a/b"]),
      MatchOrderRow(
        "a path that ends goes before a wildcard that takes nothing", ["x:/*": 0, "x:": 0], "x:/",
        ["x:", "x:/*"]),
      MatchOrderRow(
        "a wildcard that takes nothing goes first with a higher priority", ["x:/*": 1, "x:": 0],
        "x:/", ["x:/*", "x:"]),
      MatchOrderRow(
        "a global wildcard goes after all else", ["/*": 0, "/User/*": 0, "/:p/5": 0], "x://user/5",
        ["/User/*", "/:p/5", "/*"]),
      MatchOrderRow(
        "a group counts as the pattern that it makes", ["x://a(/:p)": 0, "x://a/b(/c)": 0],
        "x://a/b", ["x://a/b(/c)", "x://a(/:p)"]),
      MatchOrderRow(
        "an authority meets global literals of any case, by specificity and order",
        ["/User/:id": 0, "/user/5": 0, "/:any/5": 0, "/user/:no": 0], "x://USER/5",
        ["/user/5", "/User/:id", "/user/:no", "/:any/5"]),
      MatchOrderRow(
        "a path meets global literals of its case only", ["/User/:id": 0, "/user/5": 0],
        "x:/user/5", ["/user/5"]),
      MatchOrderRow(
        "the priority of longer patterns does not count",
        ["x://a/b": 0, "x://:p/b": 0, "x://:p/b/c": 5], "x://a/b", ["x://a/b", "x://:p/b"]),
      MatchOrderRow(
        "a higher priority deep under a parameter is found",
        ["x://a/b/c": 1, "x://:p/b/:q": 3, "x://:p/:r/c": 2], "x://a/b/c",
        ["x://:p/b/:q", "x://:p/:r/c", "x://a/b/c"]),
    ])
  func returnsMatchesInPublishedOrder(row: MatchOrderRow) throws {
    let trie = RouteTrie(
      try row.patterns.map { (try RoutePattern($0.text), $0.priority) })
    let split = try SplitURI(RouteURI(row.uri))
    let found = trie.candidates(split).map { trie.pattern(of: $0.form).text }
    #expect(found == row.order)
    #expect(trie.best(split).map { trie.pattern(of: $0.form).text } == row.order.first)
  }

  @Test func `captures contain only parameters of the matched pattern`() throws {
    let trie = RouteTrie([
      (try RoutePattern("x://a/:dead/:end/c"), 0), (try RoutePattern("x://:p/b/:q/d"), 0),
      (try RoutePattern("x://:r/b/:s/d"), 0),
    ])
    let split = try SplitURI(RouteURI("x://a/b/1/d"))
    let found = try trie.candidates(split).map { try trie.captures(of: $0, in: split) }
    #expect(found == [["p": "a", "q": "1"], ["r": "a", "s": "1"]])
  }

  @Test func `the order of entries decides between patterns that match one authority`() throws {
    let texts = ["/USER/:a", "/user/:b", "/User/:c"]
    let trie = RouteTrie(try texts.map { (try RoutePattern($0), 0) })
    let split = try SplitURI(RouteURI("x://user/7"))
    let found = trie.candidates(split, in: .global).map { trie.pattern(of: $0.form).text }
    #expect(found == texts)
  }

  @Test func `distinguishes ten thousand routes`() throws {
    let trie = RouteTrie(
      try (0..<10_000).map { (try RoutePattern("x://p\($0 % 100)/r\($0)/:id"), 0) })
    for number in stride(from: 0, to: 10_000, by: 7) {
      let split = try SplitURI(RouteURI("x://p\(number % 100)/r\(number)/9"))
      #expect(trie.best(split).map { trie.entry(of: $0.form) } == number)
    }
    let missing = try SplitURI(RouteURI("x://p1/r2/9"))
    #expect(trie.best(missing) == nil)
  }

  @Test(.timeLimit(.minutes(1)))
  func `backtracking stays linear in the number of patterns`() throws {
    // 8192 patterns: every choice of literal and parameter over 13 segments, all failing at the
    // last.
    let trie = RouteTrie(
      try (0..<8192).map { number in
        let path = (0..<13).map { (number >> $0) & 1 == 0 ? "/a" : "/:p\($0)" }.joined()
        return (try RoutePattern("x://h\(path)/z"), 0)
      })
    let end = try SplitURI(RouteURI("x://h" + String(repeating: "/a", count: 13) + "/z"))
    #expect(trie.best(end).map { trie.entry(of: $0.form) } == 0)
    #expect(trie.candidates(end).count == 8192)
    let long = "/" + String(repeating: "a", count: 30_000)
    let miss = try SplitURI(
      RouteURI("x://h" + String(repeating: "/a", count: 11) + long + "/a" + "/y"))
    // All of it takes some milliseconds; a walk that read the segments again at each branch would
    // not end within the limit.
    for _ in 0..<400 { #expect(trie.best(miss) == nil) }
  }
}
