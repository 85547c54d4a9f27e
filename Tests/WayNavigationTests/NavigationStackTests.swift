import Testing
import WayValues

@testable import WayNavigation

struct NavigationStackTests {
  @Test("the view nests a modal stack under the page that presents it, bottom first")
  func view() throws {
    let stack = try StackNotation("M A=a/7 [B C (D=http://x.example/)]").stack()

    func ids(_ value: Value?) throws -> Value {
      .list(
        try (value?["pages"]?.list ?? []).map { page in
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

  @Test("the view names the tabs, with the pages of those that wait")
  func tabsView() throws {
    let stack = try StackNotation("1: P [Q] / 0: H A").stack()
    let view = stack.value(tabs: ["x://h", "x://p", "x://t"])
    let tabs = try #require(view["tabs"]?.list)
    #expect(tabs.map { $0["uri"] } == ["x://h", "x://p", "x://t"])
    #expect(tabs[0]["pages"]?.list?.map { $0["id"] } == ["H", "A"])
    #expect(tabs[1]["pages"] == nil && tabs[2]["pages"] == nil)
    #expect(view["selected"] == 1)
    #expect(view["pages"]?.list?.map { $0["id"] } == ["P"])
    #expect(NavigationStack().value(tabs: ["x://h"])["selected"] == .null)
  }

  @Test("a page of the style tab is not opened beside its tab")
  func notByTab() throws {
    var stack = NavigationStack()
    let page = Page(id: "p1", uri: "x://h", route: nil, style: .tab, host: "c1")
    #expect(throws: StackError.self) { _ = try stack.apply(.open(page)) }
  }

  @Test("the limit of pages counts those of all tabs")
  func limitOfAllTabs() throws {
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

  @Test("a page in the view has its members in the published order")
  func pageMembers() throws {
    var stack = NavigationStack()
    let page = Page(
      id: "p1", uri: "native://address/7?x=1", route: "address", pathParams: ["id": "7"],
      params: ["x": "1", "id": "7"], exts: ["animated": false], host: "c1")
    _ = try stack.apply(.open(page))
    let members = try #require(stack.value(tabs: [])["pages"]?.list?.first?.object?.members)
    #expect(members.map(\.name) == ["id", "uri", "route", "kind", "style", "params", "host"])
    let expected: [Value] = [
      "p1", "native://address/7?x=1", "address", "page", "push", ["x": "1", "id": "7"], "c1",
    ]
    #expect(members.map(\.value) == expected)
  }

  @Test("code, message and data of a result reach the page that it belongs to, untouched")
  func resultsPassThrough() throws {
    var stack = try StackNotation("M A B").stack()
    let result = Outcome.finished(code: 7, message: "sold out", data: ["left": 0])
    let change = try stack.apply(.back(.to(.page("M")), result: result))
    #expect(change.closed.map(\.outcome) == [.dismissed, result])
  }

  @Test("an outcome is written as outcome, code, message, data")
  func outcomeMembers() {
    let members = Outcome.finished(code: 3, message: "m", data: [1]).value.object?.members ?? []
    #expect(members.map(\.name) == ["outcome", "code", "message", "data"])
    let expected: [Value] = ["finished", 3, "m", [1]]
    #expect(members.map(\.value) == expected)
    #expect(Outcome.dismissed.value["data"] == .null)
  }

  @Test("the stack holds 256 pages; one in the place of others still opens")
  func pageLimit() throws {
    var stack = NavigationStack()
    for number in 0..<NavigationStack.maxPages {
      _ = try stack.apply(.open(page("p\(number)")))
    }
    let refused = #expect(throws: StackError.self) { _ = try stack.apply(.open(page("more"))) }
    #expect(refused?.kind == "stackFull")
    #expect(stack.pages.count == 256)
    let change = try stack.apply(.open(page("other", style: .replace)))
    #expect(change.shown?.id == "other")
    #expect(stack.pages.count == 256)
  }

  @Test("16 stacks lie over one another; a push onto the uppermost still opens")
  func levelLimit() throws {
    var stack = NavigationStack()
    for number in 0..<NavigationStack.maxLevels {
      _ = try stack.apply(.open(page("p\(number)", style: .present)))
    }
    let refused = #expect(throws: StackError.self) {
      _ = try stack.apply(.open(page("more", style: .present)))
    }
    #expect(refused?.kind == "stackFull")
    #expect(try stack.apply(.open(page("other"))).shown?.level == 15)
  }

  @Test("texts that are canonically equal but other bytes name other pages")
  func bytesCount() throws {
    var stack = NavigationStack()
    _ = try stack.apply(
      .open(Page(id: "p", uri: "native://caf\u{e9}", route: "caf\u{e9}", host: "h")))
    #expect(stack.contains(.route(name: "caf\u{e9}", pathParams: [:])) != nil)
    #expect(stack.contains(.route(name: "cafe\u{301}", pathParams: [:])) == nil)
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
    ])
  func undeclared(_ uri: String, _ reference: String, _ same: Bool) throws {
    var stack = NavigationStack()
    _ = try stack.apply(.open(Page(id: "p", uri: uri, route: nil, host: "h")))
    #expect((stack.contains(.uri(reference)) != nil) == same)
  }

  @Test(
    "an error says what was wrong and what to do",
    arguments: [
      (
        StackOperation.back(.to(.page("X"))),
        "page 'X' is not on the stack; navigation.stack lists the pages that are"
      ),
      (.back(.before(.page("M"))), "nothing lies before page 'M': it is the root"),
      (.back(.count(-2)), "the count is -2; it has to be 0 or more"),
    ])
  func errors(_ operation: StackOperation, _ text: String) throws {
    let stack = try StackNotation("M A").stack()
    #expect(#expect(throws: StackError.self) { try stack.check(operation) }?.description == text)
  }

  private func page(_ id: String, style: Style = .push) -> Page {
    Page(id: id, uri: "native://\(id)", route: "r", style: style, host: "h")
  }
}
