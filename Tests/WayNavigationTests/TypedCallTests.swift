import Testing
import WayNavigation
import WayValues

struct TypedCallTests {
  private struct Address: Codable, Sendable, Equatable {
    var id: String
    var street: String?
  }

  private typealias Call = PageCall<Address>

  @Test("names of the pattern are filled in, the other parameters go along")
  func fills() throws {
    let call = Call(
      ["native://address/:id/x"], ["id": "a/b ü", "page": 2, "city": nil as String?, "deep": true])
    #expect(call.uri == "native://address/a%2Fb%20%C3%BC/x")
    #expect(call.params == ["page": 2, "deep": true])
    try call.check()
  }

  @Test("the first pattern that all parameters are there for is taken")
  func choosesPattern() throws {
    let patterns = ["app:/a/:x/b/:y", "app:/a/:x", "app:/a"]
    func uri(_ x: String?, _ y: Int?) -> String { Call(patterns, ["x": x, "y": y]).uri }
    #expect(uri("1", 2) == "app:/a/1/b/2")
    #expect(uri("1", nil) == "app:/a/1")
    #expect(uri(nil, 2) == "app:/a")
    #expect(Call(patterns, ["y": 2]).params == ["y": 2])
  }

  @Test(
    "a wildcard takes a list",
    arguments: [
      ([], "files://box"), (["a", "b c"], "files://box/a/b%20c"), (["a", ""], "files://box/a//"),
      (["", "a"], "files://box//a"),
    ] as [([String], String)])
  func wildcard(rest: [String], expected: String) throws {
    let call = ValueCall<Value>(["files://box/*"], ["*": rest])
    try call.check()
    #expect(call.uri == expected)
    #expect(call.params.isEmpty)
  }

  @Test(
    "what has no place in a URI is told when the call is made",
    arguments: ["", ".", "..", "a\u{0}"])
  func faults(id: String) {
    let error = #expect(throws: CallError.self) { try Call(["app:/:id"], ["id": id]).check() }
    #expect(error?.code == -32602)
    #expect(error?.message.contains("id is a part of the URI") == true)
  }

  @Test("a missing part, a list, and a number that JSON lacks are told by their names")
  func moreFaults() {
    let missing = #expect(throws: CallError.self) { try Call(["app:/:id"]).check() }
    #expect(missing?.message == "id is missing: it is a part of the URI")
    let list = #expect(throws: CallError.self) { try Call(["app:/:id"], ["id": ["a"]]).check() }
    #expect(list?.message.contains("holds no array") == true)
    let number = #expect(throws: CallError.self) {
      try Call(["app:/"], ["ratio": Double.nan]).check()
    }
    #expect(number?.message.hasPrefix("ratio cannot be written as JSON") == true)
    let method = #expect(throws: CallError.self) {
      try PageMethodCall<Value>("scroll", ["to": Double.infinity]).check()
    }
    #expect(method?.code == -32602)
  }

  @Test("the data of a finished page is its type, of any other outcome nothing")
  func outcomes() throws {
    let call = Call(["app:/"])
    let finished = try call.outcome(.finished(code: 3, message: "m", data: ["id": "a", "more": 1]))
    #expect(
      finished
        == PageOutcome(kind: .finished, code: 3, message: "m", data: Address(id: "a", street: nil)))
    #expect(try call.outcome(.finished()).data == nil)
    #expect(try call.outcome(.dismissed).data == nil)
    #expect(try call.outcome(.failed(code: 2504, message: "gone")).code == 2504)
  }

  @Test("what does not fit is told with its place")
  func unfit() {
    let error = #expect(throws: CallError.self) {
      try Call(["app:/a"]).outcome(.finished(data: ["id": "a", "street": 7]))
    }
    #expect(error?.code == -32603)
    #expect(error?.kind == "malformed")
    #expect(error?.data?["path"] == "$.street")
    #expect(
      error?.message
        == "The result of app:/a does not fit its type: $.street: has to be a string; it is of type number"
    )
    let value = #expect(throws: CallError.self) {
      try ValueCall<[Int]>(["app:/n"]).result([1, "x"])
    }
    #expect(value?.data?["path"] == "$[1]")
    let event = #expect(throws: CallError.self) {
      try TopicEvent(EventTopic<Address>("cart.changed"), [:], at: 1)
    }
    #expect(
      event?.message.hasPrefix("An event of cart.changed does not fit its type: $.id") == true)
  }

  @Test("null is a value where the type has it")
  func null() throws {
    #expect(try ValueCall<Int?>(["app:/n"]).result(nil) == nil)
    #expect(try ValueCall<Value>(["app:/n"]).result(nil) == .null)
  }
}
