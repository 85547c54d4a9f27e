import Testing
import WayNavigation
import WayRPC
import WayRouting
import WayValues

@testable import WayAgents

struct AgentResultTests {
  private static let server = MCPImplementation(name: "shop", version: "1")

  private static func context(_ revision: MCPRevision = .stateless) throws -> MCPResponseContext {
    let post =
      revision == .stateless
      ? TestPost.stateless("tools/call", #""name":"add","#, name: "add")
      : TestPost("", #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#)
    return MCPResponseContext(try post.request(), from: server)
  }

  private static func tool(_ kind: String) throws -> AgentTool {
    try AgentToolTests.tool([
      "name": "add", "pattern": "\(kind == "page" ? "native" : "action")://add", "kind": "\(kind)",
      "agents": [:],
      "result": ["type": "object"],
    ])
  }

  @Test(
    "a task's value is structured content, and text",
    arguments: [["a": 1], 7, "text", .null, [1, "b"]] as [Value])
  func returnsValue(_ value: Value) throws {
    let tool = try Self.tool("task")
    let result = try Self.context().result(.success(value), of: tool).value?["result"]
    #expect(result?["structuredContent"] == value)
    #expect(result?["resultType"] == "complete")
    #expect(result?["isError"] == nil)
    let text = try #require(result?["content"]?.array?.first?["text"]?.string)
    #expect(try JSON.parse(text) == value)
    let older = try Self.context(.handshake).result(.success(value), of: tool).value?["result"]
    #expect(older?["structuredContent"] == (value.object == nil ? nil : value))
    #expect(older?["resultType"] == nil)
  }

  @Test(
    "a page's data is the result, and a page without a result an error",
    arguments: [
      (Outcome.finished(data: ["id": 3]), false, "{\"id\":3}"),
      (.finished(code: 2, message: "Done", data: ["id": 3]), false, "Done"),
      (.dismissed, true, "closed the page without a result"),
      (.finished(), true, "finished without a result"), (.replaced, true, "replaced"),
      (.failed(code: 2504, message: "gone"), true, "app is not open"),
      (.cancelled(), true, "cancelled"),
    ])
  func returnsOutcome(_ outcome: Outcome, _ isError: Bool, _ text: String) throws {
    let tool = try Self.tool("page")
    let result = try Self.context().result(.success(outcome.value), of: tool).value?["result"]
    #expect((result?["isError"] == true) == isError)
    #expect(result?["structuredContent"] == (isError ? nil : ["id": 3]))
    #expect(result?["content"]?.array?.first?["text"]?.string?.contains(text) == true)
  }

  @Test(
    "a task's error has advice, and its data for programs",
    arguments: [
      (CallError(.forbidden, "No", data: ["rule": "no-agents"]), "The rule is \"no-agents\""),
      (CallError(.noRoute, "No host", kind: "noHost"), "The app is not open"),
      (CallError(.hostAbsent), "The app is not open"),
      (CallError(.noRoute, "No route"), "List the tools again"),
      (
        CallError(
          .invalidParameters, data: ["errors": [["path": "$.n", "message": "is missing"]]]),
        "$.n: is missing."
      ),
      (CallError(.refused, "No", data: ["reason": "login"]), "The reason is \"login\""),
      (CallError(.deadline), "may have had its effect"),
      (CallError(.outcomeUnknown), "may have had its effect"),
      (CallError(.tooMany, "Slow", data: ["retryAfterMs": 20]), "after 20 ms"),
      (CallError(.unavailable), "again later"),
      (CallError(.hostFailed), "ask the user what it shows"),
      (CallError(code: 17, message: "Sold out."), "Sold out."),
      (CallError(code: -5, message: "x", data: "text"), "x."),
      (CallError(code: 17, message: "Busy", data: ["retryable": true]), "again later"),
    ])
  func returnsError(_ error: CallError, _ text: String) throws {
    let result = try Self.context().result(.failure(error), of: Self.tool("task")).value?["result"]
    #expect(result?["isError"] == true)
    #expect(result?["structuredContent"] == nil)
    #expect(result?["content"]?.array?.first?["text"]?.string?.contains(text) == true)
    let facts = result?["_meta"]?["waybridge/error"]
    #expect(facts?["code"] == .integer(Int64(error.code)))
    #expect(facts?["data"] == error.data)
  }

  @Test("a value that nests too deep is an error of the response")
  func rejectsDeepValue() throws {
    let deep = (0..<200).reduce(Value.null) { value, _ in [value] }
    let message = try Self.context().result(.success(deep), of: Self.tool("task")).value
    #expect(message?["error"]?["code"] == -32603)
    #expect(message?["id"] == 1)
  }

  @Test("what the server says of itself")
  func describesServer() throws {
    let found = try Self.context().discovery(listens: true).value?["result"]
    #expect(found?["supportedVersions"] == ["2026-07-28"])
    #expect(found?["capabilities"] == ["tools": ["listChanged": true]])
    #expect(found?["ttlMs"]?.integer != nil)
    #expect(found?["cacheScope"] == "private")
    #expect(found?["serverInfo"] == nil)
    #expect(
      try Self.context().discovery(listens: false).value?["result"]?["capabilities"] == [
        "tools": [:]
      ])
    let older = try Self.context(.handshake).initialization.value?["result"]
    #expect(older?["protocolVersion"] == "2025-11-25")
    #expect(older?["serverInfo"] == ["name": "shop", "version": "1"])
    #expect(older?["capabilities"] == ["tools": [:]])
    #expect(try Self.context(.handshake).pong.value?["result"] == [:])
  }

  @Test("the messages of a stream of changes name the request that opened it")
  func namesSubscription() throws {
    let post = TestPost(
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen",
      #"{"jsonrpc":"2.0","id":"s1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},META}}"#
    )
    let context = MCPResponseContext(try post.request(), from: Self.server)
    let name = "io.modelcontextprotocol/subscriptionId"
    #expect(
      context.acknowledgement(ofToolChanges: true).value?["params"]
        == ["_meta": [name: "s1"], "notifications": ["toolsListChanged": true]] as Value)
    #expect(
      context.acknowledgement(ofToolChanges: false).value?["params"]?["notifications"] == [:])
    #expect(context.toolChange.value?["method"] == "notifications/tools/list_changed")
    #expect(context.toolChange.value?["params"] == ["_meta": [name: "s1"]] as Value)
    #expect(context.listeningEnd.value?["id"] == "s1")
    #expect(context.listeningEnd.value?["result"]?["_meta"]?[name] == "s1")
    let event = String(decoding: context.toolChange.event, as: UTF8.self)
    #expect(event.hasPrefix("event: message\ndata: {\"jsonrpc\":\"2.0\""))
    #expect(event.hasSuffix("}\n\n"))
    #expect(event.split(separator: "\n").count == 2)
  }

  @Test("the numbers of progress always grow, and the token keeps its type")
  func progressGrows() throws {
    for token in [RequestID.string("p"), .integer(1)] {
      var progress = MCPProgress(token)
      let values: [Value] = [
        ["opened": ["page": "p1"]], 0.5, 0.5, 0.4, "half",
        ["progress": 3, "total": 9, "message": "m"],
        ["progress": 2], ["other": 1], .null, 1e300, "late", ["progress": "x"], 1e308,
      ]
      var last = -1.0
      var messages: [Value] = []
      for value in values {
        guard let message = progress.notification(of: value) else { continue }
        let params = try #require(message.value?["params"])
        #expect(params["progressToken"] == token.value)
        let number = try #require(params["progress"]?.double)
        #expect(number > last)
        last = number
        messages.append(params)
      }
      #expect(messages.count == 8)
      #expect(messages[0]["message"] == "The user's app shows the page")
      #expect(messages[2]["message"] == "half")
      #expect(messages[3]["total"] == 9)
    }
  }
}
