import Testing
import WayNavigation
import WayPatterns
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// What a call asks of the stack when it opens a page or selects a tab, without a session.
struct RequestedPageTests {
  private let resolver: SessionDestinationResolver
  /// The stack: its first tab has the page `app://home`.
  private let stack: NavigationStack

  init() throws {
    let router = Router()
    let handler = PageHandler(open: { _, _ in }, close: { _, _, _ in })
    for pattern in ["app://home", "app://search", "app://item/:id"] {
      try router.page(pattern, handler)
    }
    try router.task("app://task") { _ in 1 }
    try router.setTabs(["app://home", "app://search", "app://task"].map { try RouteURI($0) })
    resolver = SessionDestinationResolver(router, limits: Limits(), ServerHosts(limits: Limits()))
    var fixture = PagesFixture()
    try fixture.show("app://home", call: 1, tab: 0)
    stack = fixture.pages.stack
  }

  /// Returns a summary of the page that a call asks for, or the code of its error.
  private func request(
    _ uri: String, _ kind: CallKind = .open, _ options: SessionCallOptions
  ) throws -> String {
    let destination = try resolver.destination(of: uri, options.params)
    do throws(CallError) {
      let requested = try RequestedPage(
        destination, for: SessionCallResolution(kind, uri, options), options, on: stack, resolver)
      let page = requested.page("p9", at: destination, exts: options.exts, host: "server")
      var summary = "\(page.uri) \(page.style.rawValue)"
      if let tab = requested.tab { summary += " tab \(tab)" }
      if requested.popTarget != nil { summary += " pop" }
      if requested.delivery(of: page, at: destination, options) != nil { summary += " delivery" }
      return summary
    } catch {
      return "\(error.code)"
    }
  }

  @Test(
    arguments: [
      ("app://item/7", nil, [:], [:], "app://item/7 push"),
      ("app://item/7", .present, [:], [:], "app://item/7 present"),
      ("app://item/7", .push, ["n": 1], [:], "app://item/7 push"),
      ("app://item/7", .popTo, [:], [:], "app://item/7 popTo"),
      ("app://item/7", .popTo, ["n": 1], [:], "app://item/7 popTo delivery"),
      ("app://item/7?n=1", .popTo, [:], [:], "app://item/7?n=1 popTo delivery"),
      ("app://item/7", .popTo, [:], ["x": 1], "app://item/7 popTo delivery"),
      ("app://item/7", .push, [:], ["pop": ["to": "app://home"]], "app://item/7 push pop"),
      ("app://item/7", .push, [:], ["pop": ["count": 1]], "app://item/7 push"),
      ("app://search", .tab, [:], [:], "app://search tab tab 1"),
      ("app://item/7", .tab, [:], [:], "2404"),
    ] as [(String, Style?, ValueObject, ValueObject, String)])
  func pageHasStyleAndTab(
    _ uri: String, _ style: Style?, _ params: ValueObject, _ exts: ValueObject, _ expected: String
  ) throws {
    let options = SessionCallOptions(rights: .app, params: params, exts: exts, style: style)
    #expect(try request(uri, .open, options) == expected)
  }

  @Test func onlyAnOpeningOutsideOfBatchesOpensPage() throws {
    var options = SessionCallOptions(rights: .app)
    #expect(try request("app://item/7", .invoke, options) == "2405")
    options.respondsWithChange = true
    #expect(try request("app://item/7", .invoke, options) == "app://item/7 push")
    options.isInBatch = true
    #expect(try request("app://item/7", .open, options) == "2405")
  }

  @Test(
    arguments: [
      (0, "", "change"), (0, "n=1", "open app://home?n=1"), (1, "", "open app://search"),
      (1, "n=1", "open app://search?n=1"), (2, "", "2405"),
    ])
  func tabWithoutPagesIsOpened(_ tab: Int, _ query: String, _ expected: String) throws {
    let uri = try RouteURI("navigation:selectTab?index=\(tab)&\(query)")
    let params = try TabParams(uri, [:], plusIsSpace: false)
    let result: String
    do throws(CallError) {
      switch try TabSelection(tab, params, [:], by: .app, nil, on: stack, resolver) {
      case .change: result = "change"
      case .open(let uri, let options):
        guard case .tab(tab) = options.placement else { return #expect(Bool(false)) }
        #expect(options.style == .tab && options.respondsWithChange)
        result = "open \(uri)"
      }
    } catch {
      result = "\(error.code)"
    }
    #expect(result == expected)
  }
}
