import TestSupport
import Testing
import WayPatterns
import WayValues

@testable import WayRouting

/// Results that do not fit their declarations.
@Suite struct InvalidResultTests {
  private static let address = ValueSchema(
    .object,
    properties: [
      .init("id", ValueSchema(.string), isRequired: true),
      .init("tags", ValueSchema(.array, items: ValueSchema(.string))),
    ])

  /// Values with the paths of their faults, for a task or method and for a page.
  private static let rows: [(value: Value, paths: [String], pagePaths: [String])] = [
    (["id": "a"], [], []),
    (["id": "a", "tags": [], "more": 1], [], []),
    (["id": 1], ["$.result.id"], ["$.result.data.id"]),
    (
      ["tags": ["x", 2, true]], ["$.result.id", "$.result.tags[1]", "$.result.tags[2]"],
      ["$.result.data.id", "$.result.data.tags[1]", "$.result.data.tags[2]"]
    ),
    ([], ["$.result"], ["$.result.data"]),
    ("a", ["$.result"], ["$.result.data"]),
    // A page can finish without a result.
    (.null, ["$.result"], []),
  ]

  @Test(arguments: rows)
  func namesPathOfEachFault(row: (value: Value, paths: [String], pagePaths: [String])) {
    func paths(_ source: InvalidResult.ResultSource) -> [String] {
      InvalidResult(row.value, of: Self.address, from: source)?.faults.map(\.path) ?? []
    }
    #expect(paths(.task) == row.paths)
    #expect(paths(.method) == row.paths)
    #expect(paths(.page) == row.pagePaths)
  }

  @Test func reportsLimitedNumberOfFaults() {
    let schema = ValueSchema(.array, items: ValueSchema(.string))
    let value = Value.array(Array(repeating: 1, count: 1000))
    #expect(InvalidResult(value, of: schema, from: .task)?.faults.count == ValueSchema.maxFaults)
  }

  private static let schemas: [ValueSchema] = [
    ValueSchema(.string), ValueSchema(.integer), ValueSchema(.boolean, isNullable: true),
    ValueSchema(.string, allowed: ["a", "b"]), ValueSchema(.number, range: .init(from: 0, to: 7)),
    ValueSchema(.array, count: .init(to: 2), items: ValueSchema(.integer)), address,
    ValueSchema(.object, properties: [.init("n", ValueSchema(.integer))], isClosed: true),
  ]

  private static func value(_ random: inout SeededRandom, depth: Int = 0) -> Value {
    let leaves: [Value] = [.null, true, 0, 7, 8, -1, 2.5, "a", "id", ""]
    switch Int.random(in: 0..<(depth < 3 ? 4 : 2), using: &random) {
    case 2:
      return .array(
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in
          value(&random, depth: depth + 1)
        })
    case 3:
      let names = ["id", "tags", "n", "more"].filter { _ in Bool.random(using: &random) }
      return .object(ValueObject(names.map { ($0, value(&random, depth: depth + 1)) }))
    default: return leaves[Int.random(in: 0..<leaves.count, using: &random)]
    }
  }

  @Test("a result fits exactly if it fits as a parameter", arguments: UInt64(0)..<50)
  func agreesWithParameters(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for schema in Self.schemas {
      let method = RoutePageMethod(
        "m", parameters: [ParameterDeclaration("result", schema, isRequired: true)])
      for _ in 0..<50 {
        let value = Self.value(&random)
        var params: ValueObject = ["result": value]
        var faults: [PatternParameterFault] = []
        do throws(RouterResolutionError) { try method.check(&params) } catch {
          if case .invalidParameters(let found) = error { faults = found }
        }
        let invalid = InvalidResult(value, of: schema, from: .task)
        #expect(invalid?.faults ?? [] == faults, "\(value) as \(schema.value)")
        let ofPage = InvalidResult(value, of: schema, from: .page)
        #expect(
          ofPage?.faults.map(\.message) ?? []
            == (value.isNull ? [] : invalid?.faults.map(\.message) ?? []))
      }
    }
  }

  @Test func methodAddsDefaults() throws {
    let method = RoutePageMethod(
      "m",
      parameters: [
        ParameterDeclaration("by", .integer, defaultValue: 1), ParameterDeclaration("to", .string),
      ])
    var params: ValueObject = [:]
    try method.check(&params)
    #expect(params == ["by": 1])
    params = ["by": .number(try #require(Number(digits: "2.0"))), "to": .null, "more": true]
    try method.check(&params)
    #expect(params == ["by": 2, "more": true])
  }

  @Test func findsDeclarationOfPagesByRoute() throws {
    let router = Router()
    try router.register(
      Route(
        name: "a", patterns: [RoutePattern("x://a")], kind: .page, result: Self.address,
        methods: [RoutePageMethod("m")]))
    try router.page("x://b", name: "b")
    let before = router.snapshot()
    #expect(before.result(ofPagesOf: "a") == Self.address)
    #expect(before.method("m", ofPagesOf: "a") != nil)
    #expect(before.method("n", ofPagesOf: "a") == nil)
    for name in ["b", "c", nil] as [String?] {
      #expect(before.result(ofPagesOf: name) == nil)
      #expect(before.method("m", ofPagesOf: name) == nil)
    }
    #expect(router.remove(route: "a"))
    #expect(router.snapshot().result(ofPagesOf: "a") == nil)
  }
}
