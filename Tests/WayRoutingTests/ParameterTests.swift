import Testing
import WayPatterns
import WayRouting
import WayValues

@Suite struct ParameterTests {
  @Test(
    "parses a query into parameters",
    arguments: [
      ("x:", true, [:]), ("x:?", true, [:]), ("x:?a=1&b=2", true, ["a": "1", "b": "2"]),
      ("x:?flag", true, ["flag": ""]), ("x:?a=", true, ["a": ""]), ("x:?=1", true, ["": "1"]),
      ("x:?a=b=c", true, ["a": "b=c"]), ("x:?a=1&&b=2&", true, ["a": "1", "b": "2"]),
      ("x:?a=1&a=2&a", true, ["a": ["1", "2", ""]]), ("x:?a=1#b=2", true, ["a": "1"]),
      ("x:?a+b=c+d", true, ["a b": "c d"]), ("x:?a+b=c+d", false, ["a+b": "c+d"]),
      ("x:?a%2Bb=c%2Bd", true, ["a+b": "c+d"]), ("x:?a=%26%3D%23", true, ["a": "&=#"]),
      ("x:?%61=1&a=2", true, ["a": ["1", "2"]]), ("x:?q=%E7%94%A8", true, ["q": "用"]),
      ("x:?%C3%A9=1&e%CC%81=2", true, ["\u{E9}": "1", "e\u{301}": "2"]),
      ("x:?a;b", true, ["a;b": ""]),
    ] as [(String, Bool, ValueObject)])
  func parsesQuery(uri: String, plusIsSpace: Bool, expected: ValueObject) throws {
    #expect(try RouteURI(uri).queryParameters(plusIsSpace: plusIsSpace) == expected)
  }

  @Test func `keeps the order of query names`() throws {
    let query = try RouteURI("x:?z=1&a=2&m=3&a=4").queryParameters()
    #expect(query.members.map(\.name) == ["z", "a", "m"])
  }

  @Test(
    "path parameters override the query, and the caller's override both",
    arguments: [
      ("x://p/1?id=q&a=q", [:], ["id": "1", "a": "q"]),
      ("x://p/1?id=q&a=q", ["a": 2], ["id": "1", "a": 2]),
      ("x://p/1?id=q", ["id": nil], ["id": .null]), ("x://p/1", [:], ["id": "1"]),
      ("x://p/1?a=1&a=2", ["a": []], ["id": "1", "a": []]),
      ("x://p/a%2Fb?a=%20", ["b": ["c": true]], ["id": "a/b", "a": " ", "b": ["c": true]]),
    ] as [(String, ValueObject, ValueObject)])
  func mergesParameters(uri: String, params: ValueObject, expected: ValueObject) throws {
    let router = Router()
    try router.page("x://p/:id")
    let match = try router.match(uri, params)
    #expect(match.params == expected)
    #expect(match.pathParams.count == 1)
  }

  @Test(
    "rejects undecodable values with the parameter name",
    arguments: [
      ("x://p/%FF", "$.id", "UTF-8"), ("x://p/%C3", "$.id", "UTF-8"), ("x://p/a%00", "$.id", "%00"),
      ("x://p/1?a=%FF", "$.a", "UTF-8"), ("x://p/1?a=%ED%A0%80", "$.a", "UTF-8"),
      ("x://p/1?a=%00", "$.a", "%00"), ("x://p/1?%FF=1", "$", "UTF-8"), ("x://p/1?%00", "$", "%00"),
      ("x://none?a=%FF", "$.a", "UTF-8"), ("navigation:back?count=%FF", "$.count", "UTF-8"),
      ("navigation:%FF", "$", "UTF-8"),
    ])
  func rejectsUndecodableParameters(uri: String, path: String, hint: String) throws {
    let router = Router()
    try router.page("x://p/:id")
    let error = #expect(throws: RouterResolutionError.self) {
      try router.snapshot().resolve(RouteURI(uri))
    }
    guard case .invalidParameters(let faults) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(faults.map(\.path) == [path])
    #expect(faults.first?.message.contains(hint) == true)
  }

  @Test func `limits a query to 256 parameters`() throws {
    let most = (0..<256).map { "p\($0)=\($0)" }.joined(separator: "&")
    #expect(try RouteURI("x:?" + most).queryParameters().count == 256)
    for query in [most + "&a", String(repeating: "a=1&", count: 10_000)] {
      let error = #expect(throws: PatternParameterError.self) {
        try RouteURI("x:?" + query).queryParameters()
      }
      #expect(error?.description == "$: more than 256 query parameters")
    }
  }

  @Test func `keeps a plus in a query when configured`() throws {
    let router = Router()
    try router.page("x://p/:id")
    #expect(try router.match("x://p/a+b?c=d+e").params == ["c": "d e", "id": "a+b"])
    router.setDecodesPlusAsSpace(false)
    #expect(try router.match("x://p/a+b?c=d+e").params == ["c": "d+e", "id": "a+b"])
  }
}

extension Router {
  /// Returns the match of a URI. Fails the test if there is none.
  func match(_ uri: String, _ params: ValueObject = [:]) throws -> RouteMatch {
    let resolution = try snapshot().resolve(RouteURI(uri), params: params)
    guard case .match(let match) = resolution else {
      throw NoMatchError(uri: uri)
    }
    return match
  }

  /// Returns the name of the route that a URI resolves to; `nil` for an undeclared URI.
  func route(_ uri: String) throws -> String? {
    do { return try match(uri).route.name } catch is NoMatchError { return nil }
  }
}

struct NoMatchError: Error {
  let uri: String
}
