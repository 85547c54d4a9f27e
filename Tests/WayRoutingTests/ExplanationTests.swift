import Testing
import WayRouting
import WayValues

@Suite struct ExplanationTests {
  private func router() throws -> Router {
    let router = Router()
    try router.page("native://address/list", name: "list")
    try router.page("native://address/:id", name: "address")
    try router.page("/address/:any", name: "global")
    try router.task("action://share", name: "share") { _ in throw CallError(code: 1, message: "ran")
    }
    return router
  }

  /// Returns each candidate as `route: reason`, the chosen one with an asterisk.
  private func candidateTexts(_ explanation: RouteExplanation) -> [String] {
    explanation.candidates.map { "\($0.isChosen ? "*" : "")\($0.route): \($0.reason)" }
  }

  @Test(
    "lists candidates in the order in which they are tried, with reasons",
    arguments: [
      (
        "native://address/list",
        [
          "*list: the best match",
          "address: less specific: ':id' where the best match has 'list'",
          "global: patterns that name the scheme go first",
        ]
      ),
      (
        "native://address/7",
        [
          "*address: the best match", "global: patterns that name the scheme go first",
          "list: '7' is not 'list'",
        ]
      ),
      (
        "native://address",
        [
          "list: the URI ends before 'list'", "address: the URI ends before ':id'",
          "global: the URI ends before ':any'",
        ]
      ),
      (
        "native://address/7/8",
        [
          "address: the URI continues after its end", "list: '7' is not 'list'",
          "global: the URI continues after its end",
        ]
      ),
      (
        "native://Addres/7",
        [
          "list: 'Addres' is not 'address'", "address: 'Addres' is not 'address'",
          "global: 'Addres' is not 'address'",
        ]
      ),
      (
        "native:/address/7",
        [
          "*global: the best match",
          "address: other slashes follow 'native:' in the pattern",
        ]
      ),
      (
        "own://share",
        ["share: its scheme is 'action', not 'own'"]
      ),
      (
        "action://address/1",
        [
          "global: a page, which the scheme 'action' does not accept",
          "address: its scheme is 'native', not 'action'",
        ]
      ),
      (
        "native://address//",
        ["address: no value for ':id'", "list: '' is not 'list'", "global: no value for ':any'"]
      ),
    ])
  func listsCandidates(uri: String, expected: [String]) throws {
    let explanation = try router().explain(uri)
    #expect(candidateTexts(explanation) == expected)
    #expect(explanation.canOpen == expected.contains { $0.hasPrefix("*") })
  }

  @Test func `explains a lower priority and a closed scheme`() throws {
    let router = try router()
    try router.page("native://:a/:b", name: "first", priority: 3)
    try router.setScheme("native", isClosed: true)
    #expect(
      candidateTexts(router.explain("native://address/list")) == [
        "*first: the best match", "list: its priority 0 is lower than 3",
        "address: its priority 0 is lower than 3",
        "global: the scheme 'native' is closed to patterns without a scheme",
      ])
    try router.removeDispatcher(scheme: "native")
    let removed = router.explain("native://address/list")
    #expect(!removed.canOpen && removed.route == nil)
    #expect(
      candidateTexts(removed).first == "first: the dispatcher of the scheme 'native' was removed")
  }

  @Test func `lists parameters with their sources`() throws {
    let explanation = try router().explain("native://address/7?q=1&id=2&r=3", params: ["r": 4])
    #expect(explanation.params == ["q": "1", "id": "7", "r": 4])
    #expect(explanation.value["sources"] == ["q": "query", "id": "path", "r": "params"])
    #expect(explanation.candidates.first?.params == ["id": "7"])
  }

  @Test(
    "explains why a URI does not resolve",
    arguments: [
      ("native://%", "byte 9"), ("", "no scheme"), ("/a", "no scheme"),
      ("native://address/%FF", "UTF-8"), ("native://none", "no declared route"),
      ("navigation:sideways", "'sideways'"), ("tp://open", "$.i"),
      ("x:" + String(repeating: "/a", count: 300), "256 path segments"),
    ])
  func explainsUnresolvedURI(uri: String, hint: String) throws {
    let explanation = try router().explain(uri)
    #expect(!explanation.canOpen)
    #expect(explanation.reason.contains(hint), "\(explanation.reason)")
    #expect(explanation.resolution == nil || explanation.route == nil)
  }

  @Test func `limits near misses among many routes`() throws {
    let router = Router()
    for number in 0..<3000 {
      try router.page("native://a\(number % 3)/b/c\(number)", name: "r\(number)")
    }
    let explanation = router.explain("native://a1/b/c")
    #expect(explanation.candidates.count == 8)
    #expect(explanation.candidates.allSatisfy { $0.pattern.hasPrefix("native://a1/b/") })
    for number in 0..<100 {
      try router.page("native://a1/b/:x", name: "s\(number)", priority: number)
    }
    #expect(router.explain("native://a1/b/c").candidates.count == 32)
    #expect(router.explain("native://a1/b/c").route?.name == "s99")
  }

  @Test func `finds a near miss behind a dead end`() throws {
    let router = Router()
    try router.page("x://a/:p/c", name: "deep")
    try router.page("x://a/b/d", name: "literal")
    #expect(
      candidateTexts(router.explain("x://a/b/e")) == [
        "deep: 'e' is not 'c'", "literal: 'e' is not 'd'",
      ])
  }

  @Test func `explains wildcards and optional groups`() throws {
    let router = Router()
    try router.page("x://a/*", name: "rest")
    try router.page("x://a(/b/:c)/d", name: "group")
    #expect(
      candidateTexts(router.explain("x://a/b/1/d")) == [
        "*group: the best match", "rest: less specific: '*' where the best match has 'b'",
      ])
    #expect(
      candidateTexts(router.explain("x://a/b/1/e")) == [
        "*rest: the best match", "group: 'e' is not 'd'",
      ])
    #expect(router.explain("x://a/q/r").params == ["*": ["q", "r"]])
    #expect(router.explain("x://a/q/r").value["sources"] == ["*": "path"])
  }

  @Test func `renders a readable text`() throws {
    let text = try router().explain("native://address/7?q=a%20b", params: ["n": [1, ["a": []]]])
      .text
    #expect(
      text == """
        native://address/7?q=a%20b
          opens: page 'address', by the pattern 'native://address/:id'
          parameters:
            q = "a b"  (query)
            id = "7"  (path)
            n = [1, {…}]  (params)
          tried:
            * address  native://address/:id  the best match
            - global  /address/:any  patterns that name the scheme go first
            - list  native://address/list  '7' is not 'list'
        """)
    let control = try router().explain("native://a\n\u{202E}b" + String(repeating: "é", count: 300))
    #expect(control.text.split(separator: "\n").count == 2)
    #expect(!control.text.contains("\u{202E}"))
  }
}
