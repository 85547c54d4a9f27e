import Testing
import WayValues

private struct Trip: Codable, Equatable {
  enum TripKind: String, Codable { case walk, ride }
  struct TripStop: Codable, Equatable {
    let name: String
    let at: Double?
  }
  let title: String
  let kind: TripKind
  let stops: [TripStop]
  let seats: UInt8
  let big: UInt64
  let open: Bool
  let note: String?
  let extra: Value
  let byName: [String: Int]
}

private struct NestedContainers: Codable, Equatable {
  enum NestedKeys: String, CodingKey {
    case a, list
    case own = "super"
  }
  let inner: Int
  let list: [Int?]

  init(inner: Int, list: [Int?]) {
    self.inner = inner
    self.list = list
  }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: NestedKeys.self)
    inner = try outer.nestedContainer(keyedBy: NestedKeys.self, forKey: .a).decode(
      Int.self, forKey: .a)
    var elements = try outer.nestedUnkeyedContainer(forKey: .list)
    var list: [Int?] = []
    while !elements.isAtEnd {
      list.append(try elements.decodeNil() ? nil : try elements.decode(Int.self))
    }
    #expect(elements.count == list.count)
    #expect(try outer.superDecoder().singleValueContainer().decode(Bool.self))
    self.list = list
  }

  func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: NestedKeys.self)
    var inner = outer.nestedContainer(keyedBy: NestedKeys.self, forKey: .a)
    try inner.encode(self.inner, forKey: .a)
    var elements = outer.nestedUnkeyedContainer(forKey: .list)
    for element in list {
      if let element { try elements.encode(element) } else { try elements.encodeNil() }
    }
    var own = outer.superEncoder().singleValueContainer()
    try own.encode(true)
  }
}

private func number(_ digits: String) -> Value { Number(digits: digits).map(Value.number) ?? nil }

@Suite struct ValueCodingTests {
  private let trip = Trip(
    title: "Fjord", kind: .ride, stops: [.init(name: "Ulm", at: 1.5), .init(name: "é", at: nil)],
    seats: 255, big: .max, open: true, note: nil, extra: ["x": [nil, number("1.50")]],
    byName: ["a": -1])
  private let value: Value = [
    "title": "Fjord", "kind": "ride",
    "stops": [["name": "Ulm", "at": 1.5], ["name": "é"]], "seats": 255,
    "big": number("18446744073709551615"), "open": true, "extra": ["x": [nil, number("1.50")]],
    "byName": ["a": -1],
  ]

  @Test func `types round trip in member order`() throws {
    let encoded = try ValueEncoder().encode(trip)
    #expect(encoded == value)
    #expect(encoded.object?.members.first?.name == "title")
    #expect(try ValueDecoder().decode(Trip.self, from: value) == trip)
    let nested = NestedContainers(inner: 3, list: [1, nil, 2])
    let nestedValue: Value = ["a": ["a": 3], "list": [1, nil, 2], "super": true]
    #expect(try ValueEncoder().encode(nested) == nestedValue)
    #expect(try ValueDecoder().decode(from: nestedValue) == nested)
  }

  @Test func `codes single values, arrays and optionals`() throws {
    #expect(try ValueEncoder().encode("a") == "a")
    #expect(try ValueEncoder().encode([1, 2]) == [1, 2])
    #expect(try ValueEncoder().encode(Optional<Int>.none) == .null)
    #expect(try ValueEncoder().encode(Float(0.1)) == 0.1)
    #expect(try ValueEncoder().encode([String: Int]()) == [:])
    #expect(try ValueEncoder().encode([Int]()) == [])
    #expect(try ValueEncoder().encode(Value.null) == .null)
    #expect(try ValueDecoder().decode(Int?.self, from: nil) == nil)
    #expect(try ValueDecoder().decode([Bool].self, from: [true]) == [true])
    #expect(try ValueDecoder().decode(Double.self, from: 3) == 3)
    #expect(try ValueDecoder().decode(Int.self, from: number("3.0")) == 3)
    #expect(try ValueDecoder().decode(Float.self, from: 0.1) == 0.1)
    #expect(throws: EncodingError.self) { try ValueEncoder().encode(["x": Double.nan]) }
  }

  @Test(
    "reports the path of a value that does not match",
    arguments: [
      (["seats": 256], "seats", "beyond 0…255"), (["seats": -1], "seats", "beyond"),
      (["seats": "7"], "seats", "an integer"), (["seats": 7.5], "seats", "an integer"),
      (["seats": nil], "seats", "null"), (["kind": "swim"], "kind", "swim"),
      (["open": 1], "open", "true or false"), (["title": 1], "title", "a string"),
      (["stops": [:]], "stops", "an array"),
      (["stops": [["name": "a"], []]], "stops.Index 1", "an object"),
      (["stops": [["name": 1]]], "stops.Index 0.name", "a string"),
      (["stops": [["name": "x", "at": "1"]]], "stops.Index 0.at", "a number"),
      (["byName": ["a": 1.5]], "byName.a", "an integer"),
      (["stops": [["name": "x", "at": number("1e999")]]], "stops.Index 0.at", "range"),
    ] as [(Value, String, String)])
  func reportsPathOfMismatchedValue(change: Value, path: String, hint: String) throws {
    var members = try #require(value.object)
    members.merge(try #require(change.object))
    let error = #expect(throws: DecodingError.self) {
      try ValueDecoder().decode(Trip.self, from: .object(members))
    }
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        context
      default: nil
      }
    let found = context?.codingPath.map { $0.intValue.map { "Index \($0)" } ?? $0.stringValue }
    #expect(found?.joined(separator: ".") == path)
    #expect(context?.debugDescription.contains(hint) == true)
  }

  @Test func `names the missing member`() throws {
    let error = #expect(throws: DecodingError.self) {
      try ValueDecoder().decode(Trip.TripStop.self, from: [:])
    }
    guard case .keyNotFound(let key, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(key.stringValue == "name")
  }

  @Test func `reads strings as numbers and booleans only when lenient`() throws {
    let lenient = ValueDecoder(parsesStrings: true)
    #expect(try lenient.decode(Int.self, from: "7") == 7)
    #expect(try lenient.decode(Double.self, from: "7.5") == 7.5)
    #expect(try lenient.decode(Bool.self, from: "") == true)
    #expect(try lenient.decode(Bool.self, from: "0") == false)
    #expect(try lenient.decode([Int].self, from: ["1", 2]) == [1, 2])
    #expect(try lenient.decode(String.self, from: "7") == "7")
    for (text, wrong) in [("7", "x"), ("7", "07"), ("7", " 7"), ("7", "")] {
      #expect(throws: DecodingError.self) {
        try ValueDecoder().decode(Int.self, from: .string(text))
      }
      #expect(throws: DecodingError.self) { try lenient.decode(Int.self, from: .string(wrong)) }
    }
    #expect(throws: DecodingError.self) { try lenient.decode(Bool.self, from: "yes") }
  }

  @Test(
    "accepts only numbers of RFC 8259",
    arguments: [
      ("0", true), ("-0", true), ("10", true), ("1.5", true), ("1e5", true), ("-1.5E+05", true),
      ("", false), ("-", false), ("01", false), ("1.", false), (".5", false), ("1e", false),
      ("1e+", false), ("+1", false), ("1 ", false), ("0x1", false), ("NaN", false), ("١", false),
    ])
  func acceptsOnlyNumbersOfRFC8259(text: String, isNumber: Bool) {
    #expect((Number(digits: text) != nil) == isNumber)
  }

  @Test(
    "recognizes integers by value",
    arguments: [
      ("7", true), ("7.0", true), ("7e2", true), ("7.5", false), ("1e-1", false), ("-0", true),
      ("123456789012345678901234567890", true), ("1e300", false), ("1e999", false),
    ])
  func recognizesIntegersByValue(digits: String, isInteger: Bool) {
    #expect(Number(digits: digits)?.isInteger == isInteger)
  }

  @Test(
    "converts integers exactly",
    arguments: [
      ("7", 7), ("7.0", 7), ("7e2", 700), ("70e-1", 7), ("0.07e2", 7), ("-12.50E+1", -125),
      ("-0", 0), ("0e99999999999999999999", 0), ("0.00", 0), ("7.5", nil), ("1e-1", nil),
      ("1e300", nil),
      ("1e99999999999999999999", nil), ("1e-99999999999999999999", nil), ("1e2147483647", nil),
      ("9007199254740993.0", 9_007_199_254_740_993), ("9223372036854775807", .max),
      ("-9223372036854775808.0", .min), ("922337203685477580.8e1", nil),
      ("9223372036854775808", nil), ("123456789012345678901234567890", nil),
    ] as [(String, Int64?)])
  func convertsToExactIntegers(digits: String, integer: Int64?) {
    #expect(Number(digits: digits)?.exactly(Int64.self) == integer)
  }

  @Test func `rejects integers out of range`() throws {
    let wide = try #require(Number(digits: "18446744073709551615.0"))
    #expect(wide.exactly(UInt64.self) == .max)
    #expect(wide.exactly(Int64.self) == nil)
    #expect(Number(digits: "-1.0")?.exactly(UInt8.self) == nil)
    let odd = try ValueDecoder().decode(Int.self, from: number("9007199254740993.0"))
    #expect(odd == 9_007_199_254_740_993)
  }
}
