import Testing
import WayTable
import WayTableTools
import WayValues

struct TableDifferencesTests {
  private static let base: ValueObject = [
    "version": "1",
    "types": ["Address": ["type": "object", "properties": ["id": ["type": "string"]]]],
    "topics": ["cart.changed": ["data": ["type": "integer"]]],
    "routes": [
      [
        "name": "a", "patterns": ["n://a", "/a"], "kind": "page",
        "parameters": [
          "p": ["type": "string", "enum": ["x", "y"], "maxLength": 5], "q": ["type": "integer"],
          "at": ["$ref": "#/types/Address"],
        ],
        "result": [
          "type": "object", "required": ["id"],
          "properties": [
            "id": ["type": "integer"], "kind": ["type": "string", "enum": ["u", "v"]],
          ],
        ],
        "methods": ["scroll": ["parameters": ["to": ["type": "string"]]]],
      ],
      ["name": "b", "pattern": "n://b", "kind": "task", "permissions": ["staff", "boss"]],
    ],
    "redirects": [["from": "n://was", "to": "n://a"]],
    "schemes": ["n": ["undefined": "n://a"]],
  ]

  /// Returns the value with the part at a path replaced; `nil` removes that part.
  private static func replacing(_ value: Value, _ path: [String], _ new: Value?) -> Value {
    guard let first = path.first else { return new ?? .null }
    let rest = Array(path.dropFirst())
    if let index = Int(first), var list = value.array {
      if rest.isEmpty, new == nil {
        list.remove(at: index)
      } else if index == list.count {
        list.append(replacing(.null, rest, new))
      } else {
        list[index] = replacing(list[index], rest, new)
      }
      return .array(list)
    }
    var object = value.object ?? [:]
    object[first] = rest.isEmpty ? new : replacing(object[first] ?? [:], rest, new)
    return .object(object)
  }

  @Test(
    "describes each difference and marks breaking ones",
    arguments: [
      ("routes/1", nil, ["! route \"b\": is gone"]),
      (
        "routes/2", ["name": "c", "pattern": "n://c", "kind": "page"], ["route \"c\": is new"]
      ),
      ("routes/1/kind", "service", ["! route \"b\": is a service now, not a task"]),
      ("routes/0/patterns/1", nil, ["! route \"a\": no longer has the pattern \"/a\""]),
      ("routes/0/patterns/2", "n://z", ["route \"a\": has the new pattern \"n://z\""]),
      ("routes/0/required", ["q"], ["! route \"a\": the parameter \"q\" is required now"]),
      ("routes/0/parameters/q", nil, ["! route \"a\": the parameter \"q\" is gone"]),
      ("routes/0/parameters/r", ["type": "string"], ["route \"a\": the parameter \"r\" is new"]),
      (
        "routes/0/parameters/q/type", "string",
        ["! route \"a\": the parameter \"q\" is of type string now, not integer"]
      ),
      (
        "routes/0/parameters/q/type", "number",
        ["route \"a\": the parameter \"q\" is of type number now, not integer"]
      ),
      (
        "routes/0/parameters/q/type", ["integer", "null"],
        ["route \"a\": the parameter \"q\" may be null now"]
      ),
      (
        "routes/0/parameters/q/default", 7,
        ["route \"a\": the parameter \"q\" is 7 by default now"]
      ),
      (
        "routes/0/parameters/p/enum", ["x"],
        ["! route \"a\": the parameter \"p\" is never \"y\" now"]
      ),
      (
        "routes/0/parameters/p/enum", ["x", "y", "z"],
        ["route \"a\": the parameter \"p\" may be \"z\" now"]
      ),
      (
        "routes/0/parameters/p/maxLength", 4,
        ["! route \"a\": the parameter \"p\" is at most 4 characters now"]
      ),
      (
        "routes/0/parameters/p/maxLength", 9,
        ["route \"a\": the parameter \"p\" is at most 9 characters now"]
      ),
      (
        "routes/0/parameters/p/maxLength", nil,
        ["route \"a\": the parameter \"p\" is no longer at most 5 characters"]
      ),
      (
        "routes/0/parameters/p/format", "uri",
        ["! route \"a\": the parameter \"p\" is written as uri now"]
      ),
      ("routes/0/strict", true, ["! route \"a\": allows no other parameters now"]),
      ("routes/0/result", nil, ["! route \"a\": the result is no longer declared"]),
      (
        "routes/1/result", ["type": "string"], ["route \"b\": the result is declared as string now"]
      ),
      (
        "routes/0/result/properties/kind", nil,
        ["! route \"a\": the result: the member \"kind\" is gone"]
      ),
      (
        "routes/0/result/properties/id/type", "number",
        ["! route \"a\": the result: the member \"id\" is of type number now, not integer"]
      ),
      (
        "routes/0/result/properties/kind/enum", ["u", "v", "w"],
        ["! route \"a\": the result: the member \"kind\" may be \"w\" now"]
      ),
      (
        "routes/0/result/properties/new", ["type": "string"],
        ["route \"a\": the result: the member \"new\" is new"]
      ),
      (
        "routes/0/result/required", [],
        ["! route \"a\": the result: the member \"id\" is not required now"]
      ),
      (
        "routes/0/result/required", ["id", "kind"],
        ["route \"a\": the result: the member \"kind\" is required now"]
      ),
      (
        "types/Address/required", ["id"], ["! type \"Address\": the member \"id\" is required now"]
      ),
      (
        "types/Address/properties/more", ["type": "string"],
        ["type \"Address\": the member \"more\" is new"]
      ),
      ("types/Street", ["type": "string"], ["type \"Street\": is new"]),
      ("routes/0/methods/scroll", nil, ["! route \"a\": the method \"scroll\" is gone"]),
      ("routes/0/methods/jump", [:], ["route \"a\": the method \"jump\" is new"]),
      (
        "routes/0/methods/scroll/required", ["to"],
        ["! route \"a\": the method \"scroll\": the parameter \"to\" is required now"]
      ),
      ("routes/0/permissions", ["staff"], ["! route \"a\": may be called by staff now"]),
      ("routes/1/permissions", ["staff"], ["! route \"b\": may be called by staff now"]),
      (
        "routes/1/permissions", ["staff", "boss", "all"],
        ["route \"b\": may be called by staff, boss, all now"]
      ),
      ("routes/1/permissions", nil, ["route \"b\": may be called by everybody now"]),
      (
        "routes/0/release", ["share": 0.5],
        ["! route \"a\": is there for the share 0.0 to 0.5 of users now"]
      ),
      ("routes/0/title", "A", ["route \"a\": another title"]),
      ("topics/cart.changed", nil, ["! topic \"cart.changed\": is gone"]),
      ("topics/new", [:], ["topic \"new\": is new"]),
      (
        "topics/cart.changed/data/type", "string",
        ["! topic \"cart.changed\": the data is of type string now, not integer"]
      ),
      ("redirects/0", nil, ["! redirect \"n://was\": is gone"]),
      ("redirects/0/to", "n://b", ["redirect \"n://was\": has another target: n://b"]),
      ("schemes/n/closed", true, ["! scheme \"n\": is closed now"]),
      ("schemes/n/undefined", nil, ["! scheme \"n\": no longer redirects undefined URIs"]),
      ("plusIsSpace", false, ["! table: + in a query is a plus now"]),
      ("tabs", ["n://a"], ["table: another \"tabs\""]),
    ] as [(String, Value?, [String])])
  func describesAndClassifiesDifferences(path: String, new: Value?, expected: [String]) throws {
    let changed = Self.replacing(
      .object(Self.base), path.split(separator: "/").map(String.init), new)
    let differences = TableDifferences(
      from: try RouteTable(parsing: .object(Self.base)), to: try RouteTable(parsing: changed))
    #expect(differences.all.map { ($0.isBreaking ? "! " : "") + $0.summary } == expected)
    #expect(differences.breaking.count == expected.filter { $0.hasPrefix("!") }.count)
  }

  @Test("a table does not differ from itself")
  func tableDoesNotDifferFromItself() throws {
    for table in [try TableFixtures.small(), try TableFixtures.demo()] {
      #expect(TableDifferences(from: table, to: table).all.isEmpty)
    }
  }
}
