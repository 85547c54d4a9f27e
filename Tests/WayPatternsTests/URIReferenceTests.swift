import Testing
import WayPatterns

@Suite struct URIReferenceTests {
  @Test(
    "the examples of RFC 3986 §5.4",
    arguments: [
      ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
      ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"),
      ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
      ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
      ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
      ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
      ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
      ("../../g", "http://a/g"),
      ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
      ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
      ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
      ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
      ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
      ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
      ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
      ("http:g", "http:g"),
    ])
  func resolvesExamplesOfRFC3986(reference: String, result: String) throws {
    let base = try RouteURI("http://a/b/c/d;p?q")
    #expect(try RouteURI(reference).resolved(against: base).text == result)
  }

  @Test(
    "bases without a slash to merge with",
    arguments: [
      ("http://a", "g", "http://a/g"), ("http://a?q", "g", "http://a/g"),
      ("http://a", "", "http://a"), ("x:b", "g", "x:g"), ("x:", "g", "x:g"),
      ("x:/b", "/.//c", "x:/.//c"), ("http://u@a:1/b#f", "c", "http://u@a:1/c"),
      ("http://a/b", "?", "http://a/b?"),
    ])
  func mergesWithBaseWithoutSlash(base: String, reference: String, result: String) throws {
    #expect(try RouteURI(reference).resolved(against: RouteURI(base)).text == result)
  }

  @Test func `rejects a base without scheme and an overlong result`() throws {
    let reference = try RouteURI("g")
    #expect(throws: RouteURIError(.noScheme, at: 0)) {
      try reference.resolved(against: RouteURI("/a"))
    }
    let long = String(repeating: "a", count: 40_000)
    let error = #expect(throws: RouteURIError.self) {
      try RouteURI(long).resolved(against: RouteURI("x:/" + long + "/"))
    }
    #expect(error?.reason == .tooLong)
  }

  @Test(
    "a URI without dot segments",
    arguments: [
      ("n://a/b/../c?d=/../e#/../f", "n://a/c?d=/../e#/../f"), ("n://a/b/..", "n://a/"),
      ("n://a/./b/.", "n://a/b/"), ("n://a/../../b", "n://a/b"), ("n://a/%2e%2E/.%2e/b", "n://a/b"),
      ("n://../b", "n://../b"), ("n://a/.../b/..c/d.", "n://a/.../b/..c/d."),
      ("n://a/b%2F../c%2e", "n://a/b%2F../c%2e"), ("N://A/%7e/./%2e", "N://A/%7e/"),
      ("n://a/b//../c", "n://a/b/c"), ("tel:./1", "tel:1"), ("x:a/../b", "x:/b"), ("x:..", "x:"),
      ("x:/..//b", "x:/.//b"), ("../a", "../a"), ("/a/../b", "/a/../b"), ("x:", "x:"),
    ])
  func removesDotSegments(uri: String, result: String) throws {
    let without = try RouteURI(uri).withoutDotSegments
    #expect(without.text == result)
    #expect(without.withoutDotSegments == without)
  }

  @Test(
    "equivalent URIs have one normalized form",
    arguments: [
      ("HTTP://User@EXAMPLE.com:80/a", "http://User@example.com:80/a"),
      ("x://h/%7euser/%c3%a9", "x://h/~user/%C3%A9"), ("x://%48%c3/", "x://h%C3/"),
      ("x://h/a/./b/../c", "x://h/a/c"), ("x://h/%2e%2E/a", "x://h/a"),
      ("x:/a/..//b", "x:/.//b"), ("x://h/..//b", "x://h//b"), ("../a/./b", "../a/./b"),
      ("/a/../b", "/b"), ("x:/?%41%2f#%42", "x:/?A%2F#B"), ("x://[::AB]/", "x://[::ab]/"),
      ("x://h", "x://h"), ("", ""),
    ])
  func normalizesEquivalentURIs(text: String, result: String) throws {
    let uri = try RouteURI(text).normalized
    #expect(uri.text == result)
    #expect(uri.normalized == uri)
  }
}
