import Testing
import WayNavigation
import WayValues

struct TypedCallTests {
  private struct PostalAddress: Codable, Sendable, Equatable {
    var id: String
    var street: String?
  }

  private typealias AddressCall = PageCall<PostalAddress>

  @Test("fills the parameters of the pattern and keeps the others")
  func fillsPatternAndKeepsOtherParameters() throws {
    let call = AddressCall(
      ["native://address/:id/x"], ["id": "a/b ü", "page": 2, "city": nil as String?, "deep": true])
    #expect(call.uri == "native://address/a%2Fb%20%C3%BC/x")
    #expect(call.params == ["page": 2, "deep": true])
    try call.check()
  }

  @Test("chooses the first pattern for which all parameters are given")
  func choosesFirstPatternWithAllParameters() throws {
    let patterns = ["app:/a/:x/b/:y", "app:/a/:x", "app:/a"]
    func uri(_ x: String?, _ y: Int?) -> String { AddressCall(patterns, ["x": x, "y": y]).uri }
    #expect(uri("1", 2) == "app:/a/1/b/2")
    #expect(uri("1", nil) == "app:/a/1")
    #expect(uri(nil, 2) == "app:/a")
    #expect(AddressCall(patterns, ["y": 2]).params == ["y": 2])
  }

  @Test(
    "a wildcard expands a list",
    arguments: [
      ([], "files://box"), (["a", "b c"], "files://box/a/b%20c"), (["a", ""], "files://box/a//"),
      (["", "a"], "files://box//a"),
    ] as [([String], String)])
  func expandsListForWildcard(rest: [String], expected: String) throws {
    let call = ValueCall<Value>(["files://box/*"], ["*": rest])
    try call.check()
    #expect(call.uri == expected)
    #expect(call.params.isEmpty)
  }

  @Test(
    "rejects path parameters that a URI cannot hold",
    arguments: ["", ".", "..", "a\u{0}"])
  func rejectsInvalidPathParameters(id: String) {
    let error = #expect(throws: CallError.self) {
      try AddressCall(["app:/:id"], ["id": id]).check()
    }
    #expect(error?.code == -32602)
    #expect(error?.message.contains("id is a part of the URI") == true)
  }

  @Test("rejects a missing parameter, a list and a non-finite number by name")
  func rejectsMissingListAndNonFiniteParameters() {
    let missing = #expect(throws: CallError.self) { try AddressCall(["app:/:id"]).check() }
    #expect(missing?.message == "id is missing; it is a part of the URI")
    let list = #expect(throws: CallError.self) {
      try AddressCall(["app:/:id"], ["id": ["a"]]).check()
    }
    #expect(list?.message.contains("holds no array") == true)
    let number = #expect(throws: CallError.self) {
      try AddressCall(["app:/"], ["ratio": Double.nan]).check()
    }
    #expect(number?.message.hasPrefix("ratio cannot be written as JSON") == true)
    let method = #expect(throws: CallError.self) {
      try PageMethodCall<Value>("scroll", ["to": Double.infinity]).check()
    }
    #expect(method?.code == -32602)
  }

  @Test("decodes the data of a finished page only")
  func decodesDataOfFinishedPagesOnly() throws {
    let call = AddressCall(["app:/"])
    let finished = try call.decode(.finished(code: 3, message: "m", data: ["id": "a", "more": 1]))
    #expect(
      finished
        == PageOutcome(
          kind: .finished, code: 3, message: "m", data: PostalAddress(id: "a", street: nil)))
    #expect(try call.decode(.finished()).data == nil)
    #expect(try call.decode(.dismissed).data == nil)
    #expect(try call.decode(.failed(code: 2504, message: "gone")).code == 2504)
  }

  @Test("reports the path of data that does not match its type")
  func reportsPathOfMismatchedData() {
    let error = #expect(throws: CallError.self) {
      try AddressCall(["app:/a"]).decode(.finished(data: ["id": "a", "street": 7]))
    }
    #expect(error?.code == -32603)
    #expect(error?.kind == "malformed")
    #expect(error?.data?["path"] == "$.street")
    #expect(
      error?.message
        == "The result of app:/a does not fit its type: $.street: has to be a string; it is of type number"
    )
    let value = #expect(throws: CallError.self) {
      try ValueCall<[Int]>(["app:/n"]).decode([1, "x"])
    }
    #expect(value?.data?["path"] == "$[1]")
    let event = #expect(throws: CallError.self) {
      try TopicEvent(EventTopic<PostalAddress>("cart.changed"), [:], at: 1)
    }
    #expect(
      event?.message.hasPrefix("An event of cart.changed does not fit its type: $.id") == true)
  }

  @Test("decodes null for optional types")
  func decodesNullForOptionalTypes() throws {
    #expect(try ValueCall<Int?>(["app:/n"]).decode(nil) == nil)
    #expect(try ValueCall<Value>(["app:/n"]).decode(nil) == .null)
  }
}
