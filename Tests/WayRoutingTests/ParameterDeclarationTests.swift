import Testing
import WayPatterns
import WayRouting
import WayValues

private func makeNumber(_ digits: String) -> Value {
  Number(digits: digits).map(Value.number) ?? .null
}
private let hugeInteger = makeNumber("123456789012345678901234567890")
private let twoWithFraction = makeNumber("2.0")

@Suite struct ParameterDeclarationTests {
  private let declared: [ParameterDeclaration] = [
    .init("id", .integer, isRequired: true), .init("ratio", .number), .init("wide", .boolean),
    .init("tags", .array), .init("filter", .object),
    .init("mode", .string, defaultValue: "list", allowed: ["list", "map"]),
    .init("size", .integer, allowed: [1, 2, 5]),
  ]

  private func router(isStrict: Bool = false) throws -> Router {
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("x://r(/:id)(/t/*)")], kind: .page, parameters: declared,
        isStrict: isStrict))
    return router
  }

  @Test(
    "converts path and query strings to the declared type and adds defaults",
    arguments: [
      ("x://r/7", [:], ["id": 7]), ("x://r?id=-7", [:], ["id": -7]),
      ("x://r/5.0", [:], ["id": 5]), ("x://r?id=1e3", [:], ["id": 1000]),
      ("x://r/-0", [:], ["id": 0]), ("x://r", ["id": makeNumber("1e3")], ["id": 1000]),
      ("x://r/1?ratio=1e3", [:], ["ratio": makeNumber("1e3"), "id": 1]),
      ("x://r/1?ratio=1.5", [:], ["ratio": 1.5, "id": 1]),
      ("x://r/1?ratio=2", [:], ["ratio": 2, "id": 1]),
      ("x://r/1?wide", [:], ["wide": true, "id": 1]),
      ("x://r/1?wide=false", [:], ["wide": false, "id": 1]),
      ("x://r/1?wide=0", [:], ["wide": false, "id": 1]),
      ("x://r/1?tags=a", [:], ["tags": ["a"], "id": 1]),
      ("x://r/1?tags=a&tags=b", [:], ["tags": ["a", "b"], "id": 1]),
      ("x://r/1?mode=map&other=1", [:], ["mode": "map", "other": "1", "id": 1]),
      ("x://r/1?size=5", [:], ["size": 5, "id": 1]), ("x://r/x", ["id": 2], ["id": 2]),
      (
        "x://r", ["id": 2, "filter": ["a": 1], "ratio": 1],
        ["id": 2, "filter": ["a": 1], "ratio": 1]
      ),
      ("x://r/1", ["mode": nil, "wide": nil], ["id": 1]),
      ("x://r/1?mode=map", ["mode": nil], ["id": 1]),
      ("x://r/1/t/a", [:], ["id": 1, "*": ["a"]]),
      (
        "x://r/1", ["size": twoWithFraction, "ratio": twoWithFraction],
        ["id": 1, "size": 2, "ratio": twoWithFraction]
      ),
    ] as [(String, ValueObject, ValueObject)])
  func convertsParameters(uri: String, given: ValueObject, expected: ValueObject) throws {
    var expected = expected
    if expected["mode"] == nil { expected["mode"] = "list" }
    #expect(try router().match(uri, given).params == expected)
  }

  @Test(
    "rejects invalid parameters with their path",
    arguments: [
      ("x://r", [:], ["$.id: is missing; it has to be an integer"]),
      ("x://r/a", [:], ["$.id: has to be an integer, not \"a\""]),
      (
        "x://r/123456789012345678901234567890", [:], ["$.id: is beyond an integer of 64 bits"]
      ),
      ("x://r/1", ["id": hugeInteger], ["$.id: is beyond an integer of 64 bits"]),
      ("x://r/1.5", [:], ["$.id: has to be an integer, not \"1.5\""]),
      ("x://r/%201", [:], ["$.id: has to be an integer, not \" 1\""]),
      ("x://r/07", [:], ["$.id: has to be an integer, not \"07\""]),
      ("x://r?id=1&id=2", [:], ["$.id: has to be an integer; it is an array"]),
      ("x://r/1", ["id": "1"], ["$.id: has to be an integer; it is a string"]),
      ("x://r/1", ["id": nil], ["$.id: has to be an integer; it is null"]),
      ("x://r/1", ["id": 1.5], ["$.id: has to be an integer; it is a number"]),
      ("x://r/1?ratio=NaN", [:], ["$.ratio: has to be a number, not \"NaN\""]),
      ("x://r/1?wide=yes", [:], ["$.wide: has to be a boolean, not \"yes\""]),
      ("x://r/1?filter=a", [:], ["$.filter: has to be an object; give it in params"]),
      ("x://r/1?mode=tree", [:], ["$.mode: has to be one of \"list\", \"map\""]),
      ("x://r/1", ["size": 3], ["$.size: has to be one of 1, 2, 5"]),
      (
        "x://r/a?wide=x", ["tags": "a", "mode": 1],
        [
          "$.id: has to be an integer, not \"a\"",
          "$.wide: has to be a boolean, not \"x\"",
          "$.tags: has to be an array; it is a string",
          "$.mode: has to be a string; it is a number",
        ]
      ),
    ] as [(String, ValueObject, [String])])
  func rejectsParameters(uri: String, given: ValueObject, expected: [String]) throws {
    let error = #expect(throws: RouterResolutionError.self) { try router().match(uri, given) }
    guard case .invalidParameters(let faults) = error else { return }
    #expect(Set(faults.map { "\($0.path): \($0.message)" }) == Set(expected))
    let explanation = try router().explain(uri, params: given)
    #expect(
      !explanation.canOpen && explanation.route?.name == "r" && !explanation.params.isEmpty
        || uri == "x://r")
    #expect(throws: Never.self) {
      try router().snapshot().resolve(RouteURI(uri), params: given, checking: false)
    }
  }

  @Test func `normalizes integers of interceptors and defaults`() throws {
    let changed = try router().match("x://r/1").with(["id": twoWithFraction])
    #expect(changed.params == ["id": 2, "mode": "list"])
    let declaration = ParameterDeclaration(
      "a", .integer, defaultValue: twoWithFraction, allowed: [twoWithFraction, 3])
    #expect(declaration.defaultValue == 2)
    #expect(declaration.allowed == [2, 3])
  }

  @Test func `a strict route rejects each undeclared parameter by name`() throws {
    let router = try router(isStrict: true)
    #expect(throws: Never.self) { try router.match("x://r/1/t/a?wide") }
    let error = #expect(throws: RouterResolutionError.self) {
      try router.match("x://r/1?oth%C3%A9r=2", ["a b": 1])
    }
    #expect(
      error?.description
        == "$['othér']: is not a parameter of this route, which allows no others;"
        + " $['a b']: is not a parameter of this route, which allows no others")
    var many = ValueObject()
    for number in 0..<10_000 { many["n\(number)" + String(repeating: "x", count: 1000)] = 1 }
    guard
      case .invalidParameters(let faults) = #expect(
        throws: RouterResolutionError.self, performing: { try router.match("x://r/1", many) })
    else { return }
    #expect(faults.count == 32)
    #expect(faults.allSatisfy { $0.path.utf8.count + $0.message.utf8.count < 400 })
  }

  @Test func `explains the source of each value`() throws {
    let explanation = try router().explain("x://r/7?wide", params: ["tags": []])
    #expect(
      explanation.value["sources"]
        == ["wide": "query", "id": "path", "tags": "params", "mode": "default"])
  }

  @Test(
    "rejects a declaration that contradicts itself",
    arguments: [
      (ParameterDeclaration("a", .integer, defaultValue: "1"), "has to be an integer"),
      (.init("a", .integer, defaultValue: hugeInteger), "is beyond an integer of 64 bits"),
      (.init("a", .integer, isRequired: true, defaultValue: 1), "must not have a default"),
      (.init("a", .string, allowed: []), "no value is allowed"),
      (.init("a", .string, defaultValue: "b", allowed: ["c"]), "not one of"),
      (.init("a", .string, allowed: ["c", 1]), "has to be a string"),
    ])
  func rejectsContradictions(declaration: ParameterDeclaration, hint: String) throws {
    let error = #expect(throws: RouterConfigurationError.self) {
      try Router().register(
        Route(name: "r", patterns: [RoutePattern("/r")], kind: .page, parameters: [declaration]))
    }
    #expect(error?.description.contains(hint) == true)
    #expect(error?.description.contains("\"a\" of the route \"r\"") == true)
  }

  @Test func `rejects a parameter declared twice`() throws {
    #expect(throws: RouterConfigurationError.self) {
      try Router().register(
        Route(
          name: "r", patterns: [RoutePattern("/r")], kind: .page,
          parameters: [.init("a", .string), .init("a", .integer)]))
    }
  }
}
