import Testing
import WayValues

@testable import WayNavigation

struct NavigationStackTests {
  @Test("the view nests a modal stack under the page that presents it, bottom first")
  func viewNestsModalStackUnderPresentingPage() throws {
    let stack = try StackNotation("M A=a/7 [B C (D=http://x.example/)]").stack()

    func ids(_ value: Value?) throws -> Value {
      .array(
        try (value?["pages"]?.array ?? []).map { page in
          let id = try #require(page["id"])
          return page["pages"] == nil ? id : ["id": id, "pages": try ids(page)]
        })
    }
    let expected: Value = [
      "M", ["id": "A", "pages": ["B", ["id": "C", "pages": ["D"]]]],
    ]
    #expect(try ids(stack.value(tabs: [])) == expected)
    #expect(NavigationStack().value(tabs: []) == ["pages": []])
  }

  @Test("the view lists the tabs and the pages of each background tab")
  func viewListsTabsAndTheirPages() throws {
    let stack = try StackNotation("1: P [Q] / 0: H A").stack()
    let view = stack.value(tabs: ["x://h", "x://p", "x://t"])
    let tabs = try #require(view["tabs"]?.array)
    #expect(tabs.map { $0["uri"] } == ["x://h", "x://p", "x://t"])
    #expect(tabs[0]["pages"]?.array?.map { $0["id"] } == ["H", "A"])
    #expect(tabs[1]["pages"] == nil && tabs[2]["pages"] == nil)
    #expect(view["selected"] == 1)
    #expect(view["pages"]?.array?.map { $0["id"] } == ["P"])
    #expect(NavigationStack().value(tabs: ["x://h"])["selected"] == .null)
  }

  @Test(
    "only the page on top is shown",
    arguments: [
      ("", [:]), ("M", ["M": .shown]), ("M A", ["M": .hidden, "A": .shown]),
      ("M [A]", ["M": .covered, "A": .shown]),
      ("M [A B]", ["M": .covered, "A": .hidden, "B": .shown]),
      ("M N [A [B]]", ["M": .hidden, "N": .covered, "A": .covered, "B": .shown]),
      ("M (A [B])", ["M": .covered, "A": .covered, "B": .shown]),
      (
        "1: P [Q] / 0: H A",
        ["P": .covered, "Q": .shown, "H": .background, "A": .background]
      ),
    ] as [(String, [String: PageVisibility])])
  func visibilityFollowsFromPosition(stack: String, expected: [String: PageVisibility]) throws {
    let visibilities = try StackNotation(stack).stack().visibilities
    #expect(
      Dictionary(uniqueKeysWithValues: visibilities.map { ($0.page.id, $0.visibility) }) == expected
    )
  }

  @Test("open rejects a page of the style tab")
  func openRejectsPageOfTabStyle() throws {
    var stack = NavigationStack()
    let page = Page(id: "p1", uri: "x://h", route: nil, style: .tab, host: "c1")
    #expect(throws: StackError.self) { _ = try stack.apply(.open(page)) }
  }

  @Test("the page limit counts the pages of all tabs")
  func pageLimitCountsPagesOfAllTabs() throws {
    var stack = NavigationStack()
    for number in 0..<NavigationStack.maxPages {
      let page = Page(id: "p\(number)", uri: "x://h", route: nil, host: "c1")
      if number % 128 == 0 {
        _ = try stack.apply(.select(tab: number / 128, first: page))
      } else {
        _ = try stack.apply(.open(page))
      }
    }
    let more = Page(id: "more", uri: "x://h", route: nil, host: "c1")
    #expect(throws: StackError.self) { _ = try stack.apply(.open(more)) }
    #expect(throws: StackError.self) { _ = try stack.apply(.select(tab: 2, first: more)) }
    _ = try stack.apply(.select(tab: 0, first: nil))
    #expect(throws: StackError.self) { _ = try stack.apply(.open(more)) }
  }

  @Test("a page has its members in the published order")
  func pageValueHasMembersInPublishedOrder() throws {
    var stack = NavigationStack()
    let page = Page(
      id: "p1", uri: "native://address/7?x=1", route: "address", pathParams: ["id": "7"],
      params: ["x": "1", "id": "7"], exts: ["animated": false], host: "c1")
    _ = try stack.apply(.open(page))
    let members = try #require(stack.value(tabs: [])["pages"]?.array?.first?.object?.members)
    #expect(members.map(\.name) == ["id", "uri", "route", "kind", "style", "params", "host"])
    let expected: [Value] = [
      "p1", "native://address/7?x=1", "address", "page", "push", ["x": "1", "id": "7"], "c1",
    ]
    #expect(members.map(\.value) == expected)
  }

  @Test("a result reaches its page unchanged")
  func backPassesResultUnchanged() throws {
    var stack = try StackNotation("M A B").stack()
    let result = Outcome.finished(code: 7, message: "sold out", data: ["left": 0])
    let change = try stack.apply(.back(.to(.page("M")), result: result))
    #expect(change.closed.map(\.outcome) == [.dismissed, result])
  }

  @Test("an outcome is encoded as outcome, code, message, data")
  func outcomeValueHasMembersInPublishedOrder() {
    let members = Outcome.finished(code: 3, message: "m", data: [1]).value.object?.members ?? []
    #expect(members.map(\.name) == ["outcome", "code", "message", "data"])
    let expected: [Value] = ["finished", 3, "m", [1]]
    #expect(members.map(\.value) == expected)
    #expect(Outcome.dismissed.value["data"] == .null)
  }

  @Test("the stack holds 256 pages and still allows a replacement")
  func rejectsPagesOverLimitExceptReplacements() throws {
    var stack = NavigationStack()
    for number in 0..<NavigationStack.maxPages {
      _ = try stack.apply(.open(page("p\(number)")))
    }
    let rejected = #expect(throws: StackError.self) { _ = try stack.apply(.open(page("more"))) }
    #expect(rejected?.kind == "stackFull")
    #expect(stack.pages.count == 256)
    let change = try stack.apply(.open(page("other", style: .replace)))
    #expect(change.shown?.id == "other")
    #expect(stack.pages.count == 256)
  }

  @Test("the stack holds 16 modal stacks and still allows a push")
  func rejectsModalStacksOverLimit() throws {
    var stack = NavigationStack()
    for number in 0..<NavigationStack.maxLevels {
      _ = try stack.apply(.open(page("p\(number)", style: .present)))
    }
    let rejected = #expect(throws: StackError.self) {
      _ = try stack.apply(.open(page("more", style: .present)))
    }
    #expect(rejected?.kind == "stackFull")
    #expect(try stack.apply(.open(page("other"))).shown?.level == 15)
  }

  @Test("route names are compared by bytes")
  func comparesRouteNamesByBytes() throws {
    var stack = NavigationStack()
    _ = try stack.apply(
      .open(Page(id: "p", uri: "native://caf\u{e9}", route: "caf\u{e9}", host: "h")))
    #expect(stack.find(.uri(PageURI("native://x", route: "caf\u{e9}"))) != nil)
    #expect(stack.find(.uri(PageURI("native://x", route: "cafe\u{301}"))) == nil)
    #expect(stack.find(.named("caf\u{e9}")) != nil)
    #expect(stack.find(.named("cafe\u{301}")) == nil)
  }

  @Test(
    "an undeclared page is compared by its URI",
    arguments: [
      ("http://a.example/x", "http://a.example/x/", true),
      ("http://a.example", "http://a.example/", true),
      ("http://a.example/x//", "http://a.example/x", false),
      ("HTTP://A.example/X", "http://a.EXAMPLE/X", true),
      ("http://a.example/X", "http://a.example/x", false),
      ("http://a.example?x", "http://a.example#y", true),
      ("http://a.example:80/", "http://a.example:81/", false),
      ("TEL:+49A", "tel:+49A", true),
      ("tel:+49A", "tel:+49a", false),
      ("tel:", "TEL:", true),
      ("x://", "x:", false),
      ("x:///", "x://", true),
      ("x://a/b?c", "x://a/b", true),
      ("x://a/b?c", "x://a/c?c", false),
      ("x://a/%7eb", "x://a/~b", true),
      ("x://a/%41", "x://a/A", true),
      ("x://a/%41", "x://a/a", false),
      ("x://a/%2f", "x://a/%2F", true),
      ("x://a/%2F", "x://a//", false),
      ("x://%41b/", "x://aB", true),
      ("x://a%c3%A4", "X://A%C3%a4", true),
      ("x://a/%", "x://a/%25", false),
      ("x://a/b%2", "x://a/b%2", true),
      ("no colon", "no colon", true),
      ("No", "no", false),
    ])
  func comparesPagesByURI(_ uri: String, _ reference: String, _ same: Bool) throws {
    var stack = NavigationStack()
    _ = try stack.apply(.open(Page(id: "p", uri: uri, route: nil, host: "h")))
    #expect((stack.find(.uri(PageURI(reference))) != nil) == same)
    #expect((stack.find(.uri(PageURI("y://z", resolved: reference))) != nil) == same)
    #expect(PageURI(uri).isSamePage(as: PageURI(reference)) == same)
    #expect(PageURI(reference).isSamePage(as: PageURI(uri)) == same)
  }

  /// A page, or a reference to one: the URI that is called, the one that it resolves to, and the
  /// route.
  struct NamedURI: CustomTestStringConvertible {
    let called: String
    let resolved: String
    let route: String?

    init(_ called: String, to resolved: String? = nil, route: String?) {
      self.called = called
      self.resolved = resolved ?? called
      self.route = route
    }

    var testDescription: String { "\(called) → \(resolved) (\(route ?? "no route"))" }
  }

  @Test(
    "a page keeps its names when the routes change",
    arguments: [
      // The route has another name now, or there is another one, or none.
      (NamedURI("x://a", route: "old"), NamedURI("x://a", route: "new"), true),
      (NamedURI("x://a", route: nil), NamedURI("x://a", route: "new"), true),
      (NamedURI("x://a", route: "old"), NamedURI("x://a", route: nil), true),
      // There is a redirect now, or another one, or none.
      (NamedURI("x://a", route: "r"), NamedURI("x://a", to: "x://b", route: "s"), true),
      (
        NamedURI("x://a", to: "x://b", route: "r"), NamedURI("x://a", to: "x://c", route: "s"), true
      ),
      (NamedURI("x://a", to: "x://b", route: "r"), NamedURI("x://a", route: "s"), true),
      (NamedURI("x://a", to: "x://b", route: "r"), NamedURI("x://b", route: "s"), true),
      (NamedURI("x://a", route: "r"), NamedURI("x://b", to: "x://a", route: "s"), true),
      // Another URI, of the same route and of others.
      (NamedURI("x://a", route: "r"), NamedURI("x://b", route: "r"), true),
      (NamedURI("x://a", route: "r"), NamedURI("x://b", route: "s"), false),
      (
        NamedURI("x://a", to: "x://b", route: "r"), NamedURI("x://c", to: "x://d", route: "s"),
        false
      ),
      (NamedURI("x://a", route: nil), NamedURI("x://b", route: nil), false),
    ])
  func findsPageAfterRoutesChanged(_ page: NamedURI, _ reference: NamedURI, _ found: Bool) throws {
    var stack = NavigationStack()
    let called = page.called == page.resolved ? nil : page.called
    _ = try stack.apply(
      .open(Page(id: "p", uri: page.resolved, calledURI: called, route: page.route, host: "h")))
    let uri = PageURI(reference.called, resolved: reference.resolved, route: reference.route)
    #expect((stack.find(.uri(uri)) != nil) == found)
    #expect(((try? stack.check(.back(.to(.uri(uri))))) != nil) == found)
    let again = Page(
      id: "q", uri: reference.resolved, calledURI: reference.called, route: reference.route,
      style: .popTo, host: "h")
    #expect(try (stack.check(.open(again)).existing != nil) == found)
  }

  @Test("the URI that a page was opened with comes before the one that it resolved to")
  func prefersURIThatWasCalled() throws {
    var stack = NavigationStack()
    func open(_ id: String, _ called: String, _ uri: String, _ route: String?) throws {
      _ = try stack.apply(
        .open(
          Page(
            id: id, uri: uri, calledURI: called == uri ? nil : called, route: route, host: "h")))
    }
    // Two URIs that lead to one page, as the target of a scheme for undefined routes.
    try open("p1", "x://1", "x://undefined?uri=x://1", "undefined")
    try open("p2", "x://2", "x://undefined?uri=x://2", "undefined")
    try open("p3", "x://3", "x://3", nil)
    try open("p4", "x://alias", "x://3", nil)
    func found(_ called: String, _ resolved: String? = nil, _ route: String? = nil) -> String? {
      stack.find(.uri(PageURI(called, resolved: resolved, route: route)))?.id
    }
    #expect(found("x://1", "x://undefined?uri=x://1", "undefined") == "p1")
    #expect(found("x://2", "x://undefined?uri=x://2", "undefined") == "p2")
    #expect(found("x://undefined") == "p2")
    #expect(found("x://9", "x://undefined?uri=x://9", "undefined") == "p2")
    #expect(found("x://3") == "p3")
    #expect(found("x://alias", "x://3") == "p4")
    #expect(found("x://other", "x://3") == "p4")
    #expect(found("x://9") == nil)
  }

  @Test("a page that gets new parameters stays the same page")
  func deliveredPageKeepsItsIdentity() throws {
    var stack = NavigationStack()
    let page = Page(
      id: "p1", uri: "x://a?n=1", calledURI: "x://alias", route: "a", pathParams: ["id": "1"],
      style: .present, params: ["n": "1"], exts: ["navigation": false, "by": "x"], host: "c1")
    _ = try stack.apply(.open(Page(id: "p0", uri: "x://root", route: nil, host: "c1")))
    _ = try stack.apply(.open(page))
    let again = Page(
      id: "p2", uri: "x://a?n=2", calledURI: "x://later", route: "b", pathParams: ["sku": "1"],
      style: .popTo, params: ["n": "2"], exts: ["animated": false], host: "c2")
    let delivery = NavigationDelivery(of: again, hasParams: true, hasExts: true)
    let change = try stack.apply(.open(again, delivering: delivery))
    let after = try #require(stack.top)
    #expect(change.existing == after && change.shown == nil && change.resumed == nil)
    #expect(after.id == "p1" && after.route == "a" && after.pathParams == ["id": "1"])
    #expect(after.host == "c1" && after.style == .present && after.level == 1)
    #expect(!after.hasStack)
    #expect(after.uri == "x://a?n=2" && after.params == ["n": "2"])
    #expect(after.exts == ["animated": false, "navigation": false])
    #expect(after.calledURI == "x://alias")
    #expect(stack.find(.uri(PageURI("x://alias")))?.id == "p1")
    #expect(NavigationDelivery(of: again, hasParams: false, hasExts: false) == nil)
    #expect(NavigationDelivery(exts: [:]) == nil)
    #expect(delivery?.value.members.map(\.name) == ["uri", "params", "exts"])
    #expect(NavigationDelivery(exts: ["by": 1])?.value == ["exts": ["by": 1]])
  }

  @Test(
    "an error describes the problem and the remedy",
    arguments: [
      (
        StackOperation.back(.to(.page("X"))),
        "page \"X\" is not on the stack; navigation.stack lists the pages that are"
      ),
      (.back(.before(.page("M"))), "no page is below page \"M\", which is the root"),
      (.back(.count(-2)), "the count must be 0 or more, not -2"),
    ])
  func errorDescribesProblemAndRemedy(_ operation: StackOperation, _ text: String) throws {
    let stack = try StackNotation("M A").stack()
    #expect(#expect(throws: StackError.self) { try stack.check(operation) }?.description == text)
  }

  private func page(_ id: String, style: Style = .push) -> Page {
    Page(id: id, uri: "native://\(id)", route: "r", style: style, host: "h")
  }
}
