import Testing
import WayValues

struct ValueObjectTests {
  @Test(arguments: [3, 40])
  func keepsMemberOrderWhenReplacingValues(count: Int) {
    var object = ValueObject((0..<count).map { ("m\($0)", .integer(Int64($0))) })
    object["m1"] = "again"
    #expect(object.members.map(\.name) == (0..<count).map { "m\($0)" })
    #expect(object["m1"] == "again")
    #expect(object.count == count)
  }

  @Test(arguments: [3, 40])
  func removesMemberAndFindsOthers(count: Int) {
    var object = ValueObject((0..<count).map { ("m\($0)", .integer(Int64($0))) })
    object["m0"] = nil
    #expect(object["m0"] == nil)
    #expect(object["m\(count - 1)"] == .integer(Int64(count - 1)))
    #expect(object.members.first?.name == "m1")
  }

  @Test func comparesNamesAsBytes() {
    let composed = "\u{E9}"
    let decomposed = "e\u{301}"
    let object: ValueObject = ["\(composed)": 1, "\(decomposed)": 2]
    #expect(object.count == 2)
    #expect(object[composed] == 1)
    #expect(object[decomposed] == 2)
    #expect(Value.string(composed) != Value.string(decomposed))
  }

  @Test func equalityIgnoresMemberOrder() {
    let left: Value = ["a": 1, "b": [true, nil]]
    let right: Value = ["b": [true, nil], "a": 1]
    #expect(left == right)
    #expect(left.hashValue == right.hashValue)
    #expect(left != ["a": 1, "b": [true]])
  }

  @Test func mergeOverwritesExistingMembers() {
    var object: ValueObject = ["a": 1, "b": 2]
    object.merge(["b": 3, "c": 4])
    #expect(object == ["a": 1, "b": 3, "c": 4])
  }

  @Test(arguments: [
    (1.5, "1.5"), (-0.0, "-0.0"), (1e21, "1e+21"),
  ])
  func convertsDoublesToDigits(value: Double, digits: String) throws {
    let number = try #require(Number(value))
    #expect(number.digits == digits)
    #expect(number.double == value)
  }

  @Test func nonFiniteDoublesBecomeNull() {
    #expect(Value(Double.nan).isNull)
    #expect(Value(Double.infinity).isNull)
  }
}
