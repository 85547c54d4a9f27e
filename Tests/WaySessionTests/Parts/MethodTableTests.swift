import TestSupport
import Testing
import WayRPC
import WayValues

@testable import WaySession

/// The table of methods, and the description of them.
struct MethodTableTests {
  @Test func everyMethodIsFoundByItsNameAndNoOther() {
    let table = MethodTable(others: ["echo": { _ throws(CallError) in .null }])
    for (place, method) in MethodTable.own.enumerated() {
      let found = table.find(method.name)
      #expect(found?.method === method)
      #expect(found?.place == place)
    }
    #expect(table.find("echo")?.place == MethodTable.own.count)
    // The Kelvin sign is canonically equivalent to a K, of which there is none in these names.
    for name in ["", "router", "router.invokf", "router.invoke\u{301}", "\u{212A}", "ECHO"] {
      #expect(table.find(name) == nil, "\(name)")
    }
  }

  @Test(
    arguments: [
      ("router.x", true), ("$/x", true), ("task.run", true), ("event", true), ("", true),
      ("events.x", true), ("routers.x", false), ("cart", false), ("eventful", false),
    ])
  func theProtocolsNamesAreReserved(name: String, isReserved: Bool) {
    #expect(MethodTable.reserves(name) == isReserved)
  }

  @Test func theDescriptionHasTheMethodsAndParametersThatAreRead() throws {
    let described = try Described.methods()
    #expect(Set(described.map(\.name)) == Set(MethodTable.own.map(\.name)))
    for method in MethodTable.own {
      let params = described.first { $0.name == method.name }?.params.map(\.name) ?? []
      #expect(Set(params) == Set(method.takes.params.map(\.name.text)), "\(method.name)")
    }
  }

  @Test func eachDescribedParameterOfAWrongTypeIsRefusedByItsName() async throws {
    let bridge = try InMemoryBridge.conformance()
    await bridge.hub.follow(try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
    let client = try await WireClient.connect(to: bridge)
    var checked = 0
    // Nobody reads the params of `session.resume` on a plain connection.
    for method in try Described.methods() where method.name != "session.resume" {
      // An id of any type may be one.
      for (name, wrong) in method.params where name != "onBehalfOf" {
        try await client.call("call", method.name, .object([name: wrong]))
        let error = try await client.answer("call")["error"]
        #expect(error?["code"] == -32602, "\(method.name) \(name)")
        let message = error?["message"]?.string ?? ""
        #expect(message.hasPrefix("params.\(name) must be "), "\(method.name): \(message)")
        checked += 1
      }
    }
    #expect(checked > 30)
  }

  @Test(arguments: ParamName.allCases)
  func thereIsRoomForEachName(name: ParamName) throws {
    let params = try Params([name.text: 1], of: "m", taking: [Param(name, .any)])
    #expect(params[name] == 1)
  }

  @Test func thereIsRoomForAllThatAMethodTakes() {
    let room = ParamsView.Places(repeating: 0).count
    #expect(MethodTable.own.allSatisfy { $0.takes.params.count <= room })
  }

  @Test func whatIsNullIsAbsentAndOthersAreIgnored() throws {
    let takes: ParamList = [Param(.uri, .string), Param(.id, .any)]
    let params = try Params(["uri": nil, "other": [1], "id": nil], of: "m", taking: takes)
    #expect(params.string(.uri) == nil)
    #expect(params[.id] == .some(.null))
    #expect(throws: CallError.self) { try params.required(.uri) }
    #expect(throws: CallError.self) { _ = try Params([1], of: "m", taking: takes) }
    // Nothing is read, so nothing is refused.
    _ = try Params([1], of: "m", taking: [])
  }
}

/// A method of `openrpc.json`.
private struct Described {
  let name: String
  /// Each parameter with a value that is not of its type.
  let params: [(name: String, wrong: Value)]

  static func methods() throws -> [Described] {
    let document = try ProjectFiles.json("protocol/openrpc.json")
    return (document["methods"]?.list ?? []).map { method in
      let params = (method["params"]?.list ?? []).map { resolve($0, in: document) }
      return Described(
        name: method["name"]?.string ?? "",
        params: params.map { param in
          let type = resolve(param["schema"] ?? .null, in: document)["type"]?.string
          return (param["name"]?.string ?? "", type == "string" ? 5 : "no \(type ?? "type")")
        })
    }
  }

  private static func resolve(_ value: Value, in document: Value) -> Value {
    guard let path = value["$ref"]?.string else { return value }
    let found = path.split(separator: "/").dropFirst()
      .reduce(document) { $0[String($1)] ?? .null }
    return resolve(found, in: document)
  }
}
