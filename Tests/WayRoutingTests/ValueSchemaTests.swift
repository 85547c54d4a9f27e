import Testing
import WayPatterns
import WayRouting
import WayValues

/// Validation of values against the schema of a table.
struct ValueSchemaTests {
  /// Calls a route with the parameter `value` and returns the validation errors.
  private func validationErrors(
    _ schema: ValueSchema, _ params: ValueObject, isRequired: Bool = false, uri: String = "x://r"
  ) throws -> [String] {
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("x://r")], kind: .page,
        parameters: [ParameterDeclaration("v", schema, isRequired: isRequired)]))
    let called = try RouteURI(uri)
    do throws(RouterResolutionError) {
      _ = try router.snapshot().resolve(called, params: params)
      return []
    } catch {
      guard case .invalidParameters(let faults) = error else { return ["\(error)"] }
      return faults.map { "\($0.path): \($0.message)" }
    }
  }

  private static let address = ValueSchema(
    .object,
    properties: [
      .init("city", ValueSchema(.string, count: .init(from: 1)), isRequired: true),
      .init("tags", ValueSchema(.array, count: .init(to: 2), items: ValueSchema(.integer))),
      .init("kind", ValueSchema(.string, allowed: ["home", "work"])),
      .init("note", ValueSchema(.string, isNullable: true)),
    ], isClosed: true)

  @Test(
    "reports each error of a nested value with its path",
    arguments: [
      (["city": "Ulm", "tags": [1, 2.0], "kind": "home", "note": nil], []),
      ([:], ["$.v.city: is missing; it has to be a string"]),
      (
        ["city": "", "tags": [1, "2", 2.5], "kind": "Home", "more": 1],
        [
          "$.v.city: has to have at least 1 character; it has 0",
          "$.v.tags: has to have at most 2 elements; it has 3",
          "$.v.kind: has to be one of \"home\", \"work\"",
          "$.v.more: is not a member of this object, which allows no others",
        ]
      ),
      (
        ["city": 7, "tags": [true, "x"], "note": 1],
        [
          "$.v.city: has to be a string; it is a number",
          "$.v.tags[0]: has to be an integer; it is a boolean",
          "$.v.tags[1]: has to be an integer; it is a string",
          "$.v.note: has to be a string; it is a number",
        ]
      ),
      ([1], ["$.v: has to be an object; it is an array"]),
    ] as [(Value, [String])])
  func reportsNestedErrors(_ value: Value, _ expected: [String]) throws {
    #expect(try validationErrors(Self.address, ["v": value]) == expected)
  }

  @Test(
    "validates formats according to the RFCs",
    arguments: [
      (.date, "2024-02-29", true), (.date, "2023-02-29", false), (.date, "2023-13-01", false),
      (.date, "2023-1-1", false), (.date, "1900-02-29", false), (.date, "2000-02-29", true),
      (.time, "23:59:60Z", true), (.time, "09:30:00.125+02:00", true), (.time, "09:30:00", false),
      (.time, "24:00:00Z", false), (.time, "09:30:00.Z", false),
      (.dateTime, "2026-01-31T09:30:00Z", true), (.dateTime, "2026-01-31 09:30:00Z", false),
      (.dateTime, "2026-01-31t09:30:00z", true), (.dateTime, "2026-01-31T09:30:00Zx", false),
      (.email, "ann@example.org", true), (.email, "ann@", false), (.email, "a@b@c", false),
      (.email, "a b@c", false), (.uri, "https://example.org/a?b", true), (.uri, "/a", false),
      (.uri, "a b:c", false), (.uuid, "123e4567-e89b-12d3-a456-426614174000", true),
      (.uuid, "123e4567e89b12d3a456426614174000", false), (.uuid, "", false),
    ] as [(ValueSchema.StringFormat, String, Bool)])
  func validatesFormats(_ format: ValueSchema.StringFormat, _ text: String, _ fits: Bool) throws {
    let schema = ValueSchema(.string, format: format)
    #expect(try validationErrors(schema, ["v": .string(text)]).isEmpty == fits)
  }

  @Test func validatesNumberRange() throws {
    let schema = ValueSchema(.number, range: .init(from: 1, to: 2.5))
    for value: Value in [1, 1.0, 2, 2.5] {
      #expect(try validationErrors(schema, ["v": value]) == [])
    }
    #expect(try validationErrors(schema, ["v": 0.9]) == ["$.v: has to be at least 1; it is 0.9"])
    #expect(try validationErrors(schema, ["v": 3]) == ["$.v: has to be at most 2.5; it is 3"])
  }

  @Test func treatsNullAsAbsentUnlessNullable() throws {
    let plain = ValueSchema(.string)
    #expect(try validationErrors(plain, ["v": nil]) == [])
    #expect(try validationErrors(plain, ["v": nil], isRequired: true).count == 1)
    let nullable = ValueSchema(.string, isNullable: true)
    #expect(try validationErrors(nullable, ["v": nil], isRequired: true) == [])
    #expect(try validationErrors(nullable, [:], isRequired: true).count == 1)
  }

  @Test func convertsQueryToTypedArray() throws {
    let schema = ValueSchema(.array, items: ValueSchema(.integer))
    let router = Router()
    try router.register(
      Route(
        name: "r", patterns: [RoutePattern("x://r")], kind: .page,
        parameters: [ParameterDeclaration("v", schema)]))
    func params(_ uri: String) throws -> ValueObject {
      try router.snapshot().resolve(RouteURI(uri)).params
    }
    #expect(try params("x://r?v=7") == ["v": [7]])
    #expect(try params("x://r?v=7&v=8") == ["v": [7, 8]])
    #expect(
      try validationErrors(schema, [:], uri: "x://r?v=7&v=x")
        == ["$.v[1]: has to be an integer; it is a string"])
  }

  @Test func limitsReportedErrors() throws {
    let list = Value.array((0..<1000).map { _ in "x" })
    #expect(
      try validationErrors(ValueSchema(.array, items: ValueSchema(.integer)), ["v": list]).count
        == 32)
  }

  @Test func encodesAsJSONSchema() {
    #expect(
      Self.address.value == [
        "type": "object",
        "properties": [
          "city": ["type": "string", "minLength": 1],
          "tags": ["type": "array", "maxItems": 2, "items": ["type": "integer"]],
          "kind": ["type": "string", "enum": ["home", "work"]],
          "note": ["type": ["string", "null"]],
        ], "required": ["city"], "additionalProperties": false,
      ])
  }
}
