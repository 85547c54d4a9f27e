import TestSupport
import Testing
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// `POST /mcp`: AI agents as clients of their users' sessions.
@Suite(.timeLimit(.minutes(1)))
struct AgentEndpointTests {
  @Test("describes the server")
  func discovers() async throws {
    let bridge = try AgentBridge()
    let response = try await bridge.send("server/discover").response()
    #expect(response.status == 200)
    #expect(response.contentType == "application/json")
    let result = response.json?["result"]
    #expect(result?["capabilities"]?["tools"]?["listChanged"] == true)
    #expect(
      result?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"]
        == .string(ServerSoftware.name))
  }

  @Test(
    "lists the tools that the policy allows the agent",
    arguments: [
      ("anna:desk", ["add", "item", "pick", "share"]), ("anna:other", []), ("anna", []),
      ("anna:night", []),
    ] as [(String, [String])])
  func listsAllowedTools(token: String, names: [String]) async throws {
    let bridge = try AgentBridge()
    let response = try await bridge.send("tools/list", token: token).response()
    let tools = response.json?["result"]?["tools"]?.array
    #expect(tools?.compactMap { $0["name"]?.string } == names)
  }

  @Test("lists no tools without a policy")
  func listsNothingWithoutPolicy() async throws {
    let response = try await AgentBridge(nil).send("tools/list").response()
    #expect(response.json?["result"]?["tools"] == [])
  }

  @Test("calls a task of the server, also without the app")
  func callsTask() async throws {
    let bridge = try AgentBridge()
    let agent: Value = ["id": "desk", "name": "helper", "version": "2", "for": "anna"]
    for isOpen in [false, true] {
      let app = isOpen ? try await bridge.openApp("anna") : nil
      let result = try await bridge.call("add", ["count": 2])
      #expect(result["structuredContent"] == ["params": ["count": 2], "agent": agent])
      #expect(result["isError"] == nil)
      if let app { #expect(result["_meta"]?["waybridge/session"] == app.opened["session"]) }
    }
  }

  @Test(
    "a call that fails is a result with advice",
    arguments: [
      ("share", [:], "anna:desk", 2504, "The app is not open"),
      ("delete", [:], "anna:desk", 2403, "The rule is \"default\""),
      ("share", [:], "anna:night", 2403, "The rule is \"no sharing at night\""),
      ("add", [:], "anna:desk", 2422, "$.count: is missing"),
      ("add", ["count": "two"], "anna:desk", 2422, "$.count"),
      ("item", [:], "anna:desk", 2422, "$.id"),
      ("item", ["id": "secret"], "anna:desk", 2403, "leads to another route"),
      ("share", ["session": "s-none"], "anna:desk", 2404, "Leave out the session"),
      ("share", ["session": 1], "anna:desk", 2422, "$.session"),
    ] as [(String, ValueObject, String, Int64, String)])
  func returnsFailures(
    name: String, arguments: ValueObject, token: String, code: Int64, text: String
  ) async throws {
    let result = try await AgentBridge().call(name, arguments, token: token)
    #expect(result["isError"] == true)
    #expect(result["_meta"]?["waybridge/error"]?["code"] == .integer(code))
    #expect(result["content"]?.array?.first?["text"]?.string?.contains(text) == true)
  }

  @Test("a hosted task runs in the app of the agent's user, who learns of the agent")
  func callsHostedTask() async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    _ = try await bridge.openApp("ben")
    let exchange = try bridge.send(
      "tools/call", ["name": "share", "arguments": ["title": "Pear"]])
    let run = try await app.client.nextRequest("task.run")
    #expect(run["params"]?["caller"]?["agent"]?["id"] == "desk")
    #expect(run["params"]?["params"] == ["title": "Pear"])
    try await app.client.respond(run, ["shared": true])
    let result = try await exchange.response().json?["result"]
    #expect(result?["structuredContent"] == ["shared": true])
  }

  @Test("a call with the same key is made once")
  func repeatsCallWithKey() async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    for isFirst in [true, false] {
      let exchange = try bridge.send(
        "tools/call", ["name": "share"], meta: ["waybridge/key": "k1"])
      if isFirst {
        let run = try await app.client.nextRequest("task.run")
        try await app.client.respond(run, ["shared": true])
      }
      let result = try await exchange.response().json?["result"]
      #expect(result?["structuredContent"] == ["shared": true])
    }
    #expect(try await app.client.hasNoPendingMessages())
  }

  @Test("progress is a stream of events, whose last one is the response")
  func reportsProgress() async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    let exchange = try bridge.send(
      "tools/call", ["name": "share"], meta: ["progressToken": "p1"])
    let run = try await app.client.nextRequest("task.run")
    for value in [0.25, 0.25, 0.5] as [Value] {
      try await app.client.notify("$/progress", ["id": run["id"] ?? .null, "value": value])
    }
    #expect(try await exchange.response().contentType == "text/event-stream")
    for expected in [0.25, 0.5] as [Value] {
      let message = try await exchange.message()
      #expect(message["method"] == "notifications/progress")
      #expect(message["params"] == ["progressToken": "p1", "progress": expected])
    }
    try await app.client.respond(run, ["done": true])
    let last = try await exchange.message()
    #expect(last["id"] == 1)
    #expect(last["result"]?["structuredContent"] == ["done": true])
    #expect(try await exchange.end() == .completed)
  }

  @Test("without a token for progress, or without events, the response is JSON")
  func sendsNoProgressUnasked() async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    for (meta, accept) in [([:], "*/*"), (["progressToken": 1], "application/json")]
      as [(ValueObject, String)]
    {
      let exchange = try bridge.send(
        "tools/call", ["name": "share"], meta: meta, accept: accept)
      let run = try await app.client.nextRequest("task.run")
      try await app.client.notify("$/progress", ["id": run["id"] ?? .null, "value": 1])
      try await app.client.respond(run, ["done": true])
      #expect(try await exchange.response().json?["result"]?["structuredContent"] == ["done": true])
    }
  }

  @Test("a client that accepts events only gets the response as one")
  func sendsOneEvent() async throws {
    let exchange = try AgentBridge().send("tools/list", accept: "text/event-stream")
    #expect(try await exchange.response().contentType == "text/event-stream")
    #expect(try await exchange.message()["result"]?["tools"]?.array?.count == 4)
    #expect(try await exchange.end() == .completed)
  }

  @Test("a call that takes long becomes a stream, so that its connection stays open")
  func longCallBecomesStream() async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    let exchange = try bridge.send("tools/call", ["name": "share"])
    let run = try await app.client.nextRequest("task.run")
    try await bridge.bridge.server.advance(by: .seconds(16))
    #expect(try await exchange.response().contentType == "text/event-stream")
    try await app.client.respond(run, ["done": true])
    #expect(try await exchange.message()["result"]?["structuredContent"] == ["done": true])
    #expect(try await exchange.end() == .completed)
  }

  @Test("closing the connection cancels the call", arguments: [false, true])
  func closingCancels(isStreamed: Bool) async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    let exchange = try bridge.send(
      "tools/call", ["name": "share"], meta: isStreamed ? ["progressToken": 1] : [:])
    let run = try await app.client.nextRequest("task.run")
    if isStreamed {
      try await app.client.notify("$/progress", ["id": run["id"] ?? .null, "value": 1])
      _ = try await exchange.response()
      _ = try await exchange.message()
    }
    exchange.close()
    let cancel = try await app.client.nextMessage()
    #expect(cancel["method"] == "$/cancelRequest")
    #expect(cancel["params"]?["id"] == run["id"])
    try await app.client.reject(run, -32800)
  }

  @Test("a page's outcome is the result, and its opening is progress")
  func opensPage() async throws {
    let bridge = try AgentBridge()
    let app = try await bridge.openApp("anna")
    let exchange = try bridge.send(
      "tools/call", ["name": "pick"], meta: ["progressToken": "p"])
    let page = try await app.client.acceptPageOpen()
    _ = try await exchange.response()
    #expect(try await exchange.message()["params"]?["message"] == "The user's app shows the page")
    try await app.client.call(
      9, "navigation.finish", ["page": page["id"] ?? .null, "result": ["data": ["id": 3]]])
    #expect(try await exchange.message()["result"]?["structuredContent"] == ["id": 3])
  }

  @Test("an agent listens to changes of the table and the policy, until it goes or the server ends")
  func listensToChanges() async throws {
    let bridge = try AgentBridge()
    let exchange = try bridge.send(
      "subscriptions/listen",
      ["notifications": ["toolsListChanged": true, "promptsListChanged": true]])
    let other = try bridge.send("subscriptions/listen", ["notifications": [:]])
    let id = "io.modelcontextprotocol/subscriptionId"
    #expect(try await exchange.response().contentType == "text/event-stream")
    let first = try await exchange.message()
    #expect(first["method"] == "notifications/subscriptions/acknowledged")
    #expect(
      first["params"] == ["_meta": [id: 1], "notifications": ["toolsListChanged": true]] as Value)
    _ = try await other.response()
    #expect(try await other.message()["params"]?["notifications"] == [:])
    try await bridge.bridge.sessionServer.applyPolicy(nil)
    #expect(try await exchange.message()["method"] == "notifications/tools/list_changed")
    exchange.drain()
    let last = try await exchange.message()
    #expect(last["id"] == 1)
    #expect(last["result"]?["_meta"]?[id] == 1)
    #expect(try await exchange.end() == .completed)
    other.close()
    #expect(try await other.end() == .disconnected)
    await bridge.bridge.server.loop.settle()
    #expect(bridge.bridge.sessionServer.agentListeners.count == 0)
  }

  @Test("a stream of changes needs a client that accepts events")
  func listeningNeedsEvents() async throws {
    let response = try await AgentBridge().send(
      "subscriptions/listen", ["notifications": [:]], accept: "application/json"
    ).response()
    #expect(response.status == 406)
  }

  @Test(
    "requests that are not served have a status",
    arguments: [
      ("tools/list", "wrong", 401, 2401), ("tools/list", nil, 401, 2401),
      ("prompts/list", "anna:desk", 404, -32601), ("tools/call", "anna:desk", 400, -32602),
    ] as [(String, String?, Int, Int64)])
  func rejectsRequests(method: String, token: String?, status: Int, code: Int64) async throws {
    let params: ValueObject = method == "tools/call" ? ["name": "nothing"] : [:]
    let response = try await AgentBridge().send(method, params, token: token).response()
    #expect(response.status == status)
    #expect(response.json?["error"]?["code"] == .integer(code))
    #expect(response.json?["id"] == 1)
    let challenge = response.fields.first { $0.name == "WWW-Authenticate" }?.value
    #expect(challenge == (status == 401 ? "Bearer" : nil))
  }

  @Test("an agent that calls too often gets 429")
  func limitsRate() async throws {
    let bridge = try AgentBridge()
    var statuses: [Int] = []
    for _ in 0..<4_000 where statuses.last != 429 {
      statuses.append(try await bridge.send("server/discover").response().status)
    }
    #expect(statuses.last == 429)
    #expect(Set(statuses) == [200, 429])
  }

  @Test("clients of the revision with a handshake are served without a session")
  func servesHandshake() async throws {
    let bridge = try AgentBridge()
    func send(_ body: String) async throws -> HTTPResponse {
      try await bridge.post(
        body, token: "anna:desk", fields: [("mcp-protocol-version", "2025-11-25")]
      ).response()
    }
    let opened = try await bridge.post(
      #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
      token: "anna:desk"
    ).response()
    #expect(opened.json?["result"]?["protocolVersion"] == "2025-11-25")
    #expect(opened.fields.isEmpty)
    let started = try await send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    #expect(started.status == 202)
    #expect(started.body.isEmpty)
    let list = try await send(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
    #expect(list.json?["result"]?["tools"]?.array?.count == 4)
    let call = try await send(
      #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"count":1}}}"#
    )
    #expect(call.json?["result"]?["structuredContent"]?["params"] == ["count": 1])
    let unknown = try await send(
      #"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nothing"}}"#)
    #expect(unknown.status == 200)
    #expect(unknown.json?["error"]?["code"] == -32602)
  }
}
