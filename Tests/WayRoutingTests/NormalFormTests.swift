import Testing
import WayPatterns
import WayRouting
import WayValues

/// The lookup of URIs as browsers give them: matches, redirects and explanations see one form.
@Suite struct NormalFormTests {
  private func router() throws -> Router {
    let router = Router()
    try router.page("https://shop.example/list/:id", name: "list")
    try router.page("https://shop.example/a%7Cb", name: "bar")
    try router.redirect(
      "https://old.example/:id", to: "https://shop.example/list/:id?from=[old]#{x}")
    return router
  }

  private func resolve(_ uri: String) throws -> Resolution {
    try router().snapshot().resolve(RouteURI(mapping: uri))
  }

  @Test func `decodes each part once after it is encoded`() throws {
    let found = try resolve(
      "https://shop.example/list/[7]|%7C?filter[color]=red&q=50%+off&r=%2525#{top}#2")
    #expect(found.route?.name == "list")
    #expect(
      found.params == ["filter[color]": "red", "q": "50% off", "r": "%25", "id": "[7]||"])
    #expect(
      found.uri.text
        == "https://shop.example/list/%5B7%5D%7C%7C?filter%5Bcolor%5D=red&q=50%25+off&r=%2525"
        + "#%7Btop%7D%232")
  }

  @Test(arguments: [
    "https://shop.example/a|b", "https://shop.example/a%7Cb", "https://shop.example/a%7cb/",
    "https://shop.example/[x]/../a|b", "https://shop.example/[x]/%2e./a|b",
  ])
  func findsOneRouteForEachSpelling(uri: String) throws {
    let router = try router()
    #expect(try resolve(uri).route?.name == "bar")
    let explanation = router.explain(uri)
    #expect(explanation.route?.name == "bar")
    #expect(explanation.uri == RouteURI.normalForm(of: uri))
    #expect(explanation.uri == explanation.resolution?.uri.text)
    var reader = CachingRouteResolver(router)
    for _ in 0..<2 {
      let resolution = try reader.resolve(uri, params: [:], for: nil)
      #expect(resolution.uri.text == explanation.uri)
    }
  }

  @Test func `redirects captures and its own query and fragment in normal form`() throws {
    let target = "https://shop.example/list/%7B1%7D?from=%5Bold%5D&a%5B%5D=%7C#%7Bx%7D"
    #expect(try resolve("https://old.example/{1}?a[]=|").uri.text == target)
    #expect(try router().explain("https://old.example/{1}?a[]=|").redirects == [target])
  }

  @Test func `passes the normal form to the target of undefined routes`() throws {
    let router = try router()
    try router.setUndefinedRoute(scheme: "https", leadsTo: "https://shop.example/list/1")
    let place = try router.snapshot().resolve(RouteURI(mapping: "https://h/a|b"))
    let target = try router.snapshot().undefinedTarget(of: place.uri)
    #expect(try target?.queryParameters() == ["uri": "https://h/a%7Cb"])
  }

  @Test(arguments: ["a b", "https://h [/", "native://h/%", "x:/\u{7}[", ""])
  func explainsTextWithoutNormalFormAsItIs(text: String) throws {
    let explanation = try router().explain(text)
    #expect(explanation.uri == text)
    #expect(!explanation.canOpen)
  }

  @Test(arguments: ["https://h/a|b", "https://h/[a]", "https://h/50%", "https://h/{a}", "/a b"])
  func rejectsPatternThatIsNotPercentEncoded(text: String) {
    #expect(throws: RoutePatternError.self) { try RoutePattern(text) }
    #expect(throws: RoutePatternError.self) { try PatternTarget(text) }
  }
}
