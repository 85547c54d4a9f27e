import TestSupport
import Testing
import WayRPC
import WayValues

@testable import WaySession

/// The method table and its published description.
struct MethodTableTests {
  @Test func findsMethodsByExactName() {
    let table = MethodTable(others: ["echo": { _ throws(CallError) in .null }])
    for (place, method) in MethodTable.builtIn.enumerated() {
      let found = table.find(method.name)
      #expect(found?.method === method)
      #expect(found?.place == place)
    }
    #expect(table.find("echo")?.place == MethodTable.builtIn.count)
    // The Kelvin sign is canonically equivalent to K, but no method name contains a K.
    for name in ["", "router", "router.invokf", "router.invoke\u{301}", "\u{212A}", "ECHO"] {
      #expect(table.find(name) == nil, "\(name)")
    }
  }

  @Test(
    arguments: [
      ("router.x", true), ("$/x", true), ("task.run", true), ("event", true), ("", true),
      ("events.x", true), ("routers.x", false), ("cart", false), ("eventful", false),
    ])
  func reservesProtocolNames(name: String, isReserved: Bool) {
    #expect(MethodTable.isReserved(name) == isReserved)
  }

  @Test func openRPCDocumentMatchesMethodTable() throws {
    let described = try DocumentedMethod.loadAll()
    #expect(Set(described.map(\.name)) == Set(MethodTable.builtIn.map(\.name)))
    for method in MethodTable.builtIn {
      let params = described.first { $0.name == method.name }?.params.map(\.name) ?? []
      #expect(Set(params) == Set(method.paramList.params.map(\.name.wireName)), "\(method.name)")
    }
  }

  @Test func rejectsParametersOfWrongType() async throws {
    let bridge = try InMemoryBridge.conformance()
    try await bridge.sessionServer.applyPolicy(
      CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
    let client = try await WireClient.connect(to: bridge)
    var checked = 0
    // The params of `session.resume` are not read on a plain connection.
    for method in try DocumentedMethod.loadAll() where method.name != "session.resume" {
      // An id, and the data of an event, may be of any type.
      for (name, wrong) in method.params where !["onBehalfOf", "data"].contains(name) {
        try await client.call("call", method.name, .object([name: wrong]))
        let error = try await client.response("call")["error"]
        #expect(error?["code"] == -32602, "\(method.name) \(name)")
        let message = error?["message"]?.string ?? ""
        #expect(message.hasPrefix("params.\(name) must be "), "\(method.name): \(message)")
        checked += 1
      }
    }
    #expect(checked > 30)
  }

  @Test(arguments: ParamName.allCases)
  func storesEveryParamName(name: ParamName) throws {
    let params = try Params([name.wireName: 1], of: "m", taking: [Param(name, .any)])
    #expect(params[name] == 1)
  }

  @Test func storesAllParamsOfMethod() {
    let room = RPCParamsView.MemberPositions(repeating: 0).count
    #expect(MethodTable.builtIn.allSatisfy { $0.paramList.params.count <= room })
  }

  @Test func treatsNullAsAbsent() throws {
    let paramList: ParamList = [Param(.uri, .string), Param(.id, .any)]
    let params = try Params(["uri": nil, "id": nil], of: "m", taking: paramList)
    #expect(params.string(.uri) == nil)
    #expect(params[.id] == .some(.null))
    #expect(throws: CallError.self) { try params.required(.uri) }
    #expect(throws: CallError.self) { _ = try Params([1], of: "m", taking: paramList) }
    #expect(throws: CallError.self) { _ = try Params([1], of: "m", taking: []) }
    // Params that are not read are not validated.
    _ = try Params([1], of: "m", taking: .unread)
  }

  /// A parameter that a method does not have, with the end of the error's message.
  @Test(arguments: [
    ("urii", "did you mean \"uri\"?"), ("other", "no parameter \"other\""), ("", "\"\""),
  ])
  func rejectsUnknownParams(name: String, hint: String) throws {
    for paramList in [[Param(.uri, .string)], []] as [ParamList] {
      let error = #expect(throws: CallError.self) {
        _ = try Params(["uri": nil, name: 1], of: "m", taking: paramList)
      }
      #expect(error?.code == -32602)
      if !paramList.params.isEmpty { #expect(error?.message.contains(hint) == true) }
    }
    let others = ParamList([Param(.uri, .string)], ignoresOthers: true)
    #expect(try Params(["uri": "a:b", name: 1], of: "m", taking: others).string(.uri) == "a:b")
  }
}

/// A method of `openrpc.json`.
private struct DocumentedMethod {
  let name: String
  /// Each parameter, with a value of a wrong type.
  let params: [(name: String, wrong: Value)]

  static func loadAll() throws -> [DocumentedMethod] {
    let document = try ProjectFiles.json("protocol/openrpc.json")
    return (document["methods"]?.array ?? []).map { method in
      let params = (method["params"]?.array ?? []).map { resolve($0, in: document) }
      return DocumentedMethod(
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
