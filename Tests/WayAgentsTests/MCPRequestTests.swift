import Testing
import WayRPC
import WayValues

@testable import WayAgents

struct MCPRequestTests {
  private static let list = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/list"
  private static let call = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call"

  /// A row: the head, the body, the status and the code of the rejection.
  static let rejected: [(String, String, Int, Int)] = [
    ("", "", 400, -32700),
    ("", "{", 400, -32700),
    ("", #"[]"#, 400, -32600),
    ("", #"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, 400, -32600),
    ("", #""text""#, 400, -32600),
    ("", #"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, 400, -32600),
    ("", #"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, 400, -32600),
    ("", #"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#, 400, -32600),
    ("", #"{"jsonrpc":"2.0","id":1}"#, 400, -32600),
    ("", #"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, 400, -32600),
    ("", #"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32600),
    // The metadata comes before the header fields.
    (list, #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#, 400, -32602),
    (list, #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, 400, -32602),
    (list, #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":3}}"#, 400, -32602),
    (
      list,
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
      400, -32602
    ),
    (
      list,
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
      400, -32602
    ),
    // The header fields come before the revision, the method and the params.
    ("", #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}"#, 400, -32020),
    (
      "MCP-Protocol-Version: 2026-01-01\nMcp-Method: tools/list",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}"#, 400, -32020
    ),
    (
      "MCP-Protocol-Version: 2026-07-28\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/list",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}"#, 400, -32020
    ),
    (
      "MCP-Protocol-Version: 2026-07-28",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}"#, 400, -32020
    ),
    (
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: Tools/List",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}"#, 400, -32020
    ),
    (
      "MCP-Protocol-Version: v999.0.0\nMcp-Method: unknown/method",
      #"{"jsonrpc":"2.0","id":1,"method":"unknown/method","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
      400, -32022
    ),
    (
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/list",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
      400, -32020
    ),
    (
      call, #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",META}}"#, 400,
      -32020
    ),
    (
      call + "\nMcp-Name: other",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",META}}"#, 400, -32020
    ),
    (
      call + "\nMcp-Name: =?base64?YWRk!?=",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",META}}"#, 400, -32020
    ),
    // The method comes before its params.
    (
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: prompts/list",
      #"{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{META}}"#, 404, -32601
    ),
    (
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: initialize",
      #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{META}}"#, 404, -32601
    ),
    (
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: ping",
      #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{META}}"#, 404, -32601
    ),
    (
      call, #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,META}}"#, 400, -32602
    ),
    (
      call + "\nMcp-Name: add",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":[],META}}"#,
      400, -32602
    ),
    (
      call + "\nMcp-Name: add",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":null,META}}"#,
      400, -32602
    ),
    (
      list, #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":1,META}}"#, 400,
      -32602
    ),
    (
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen",
      #"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{META}}"#, 400, -32602
    ),
    // The older revision reads errors of requests from the status 200.
    ("", #"{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{}}"#, 200, -32601),
    ("", #"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#, 200, -32601),
    ("", #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, 200, -32602),
    (
      "MCP-Protocol-Version: 2027-01-01",
      #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#, 400, -32602
    ),
  ]

  @Test("a request that breaks a rule is rejected for the first one", arguments: rejected)
  func rejects(_ head: String, _ body: String, _ status: Int, _ code: Int) throws {
    guard case .failure(let rejection) = TestPost(head, body).read() else {
      Issue.record("it was accepted")
      return
    }
    #expect(rejection.status == status)
    #expect(rejection.error.code == code)
    #expect(rejection.error.message.count >= 8)
    let written = try JSON.parse(rejection.body.span.bytes)
    #expect(written["error"]?["code"] == .integer(Int64(code)))
    // The id is returned if it is a request with one that is allowed, and left out otherwise.
    let id = (try? JSON.parse(body.replacing("META", with: TestPost.meta)))?["id"]
    #expect(written["id"] == (id == 1 && !body.contains("result") ? 1 : nil))
  }

  @Test("the error of an unknown revision names what the client asked for, and what there is")
  func unknownRevisionNamesSupported() throws {
    let post = TestPost(
      "MCP-Protocol-Version: v9\nMcp-Method: tools/list",
      #"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v9","io.modelcontextprotocol/clientCapabilities":{}}}}"#
    )
    guard case .failure(let rejection) = post.read() else {
      Issue.record("it was accepted")
      return
    }
    #expect(rejection.error.data == ["supported": ["2026-07-28"], "requested": "v9"])
    #expect(rejection.id == .string("a"))
  }

  @Test("header fields are compared without the spaces around them, and names in base64 too")
  func comparesTrimmedAndDecodedFields() throws {
    let post = TestPost(
      """
      mcp-protocol-version: \t2026-07-28 \t
      MCP-METHOD:tools/call
      Mcp-Name: =?base64?w7ZsIHRvb2w=?=
      """,
      #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"öl tool",META}}"#)
    let expected = MCPToolCall(name: "öl tool", arguments: [:], key: nil)
    #expect(try post.request().operation == .callTool(expected))
  }

  @Test(
    "the form of base64 in header fields",
    arguments: [
      ("us-west1", "us-west1"), ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
      ("=?base64?IHBhZGRlZCA=?=", " padded "),
      ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
      ("SGVsbG8=", "SGVsbG8="), ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="), ("=?base64??=", ""),
      ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="), ("=?base64?SGVsbG8?=", nil),
      ("=?base64?SGVs!!!bG8=?=", nil), ("=?base64?SGVsbG9=?=", nil), ("=?base64?/w==?=", nil),
      ("=?base64?====?=", nil), ("=?base64?A===?=", nil), ("", ""), ("=?base64?=", "=?base64?="),
    ] as [(String, String?)])
  func decodesHeaderText(_ value: String, _ text: String?) {
    #expect(MCPHeaderText(value)?.text == text)
  }

  @Test("what a valid request asks for")
  func readsOperations() throws {
    #expect(try TestPost.stateless("server/discover").request().operation == .discover)
    #expect(
      try TestPost.stateless("tools/list", #""cursor":"c","#).request().operation
        == .listTools(cursor: "c"))
    #expect(
      try TestPost.stateless("subscriptions/listen", #""notifications":{"toolsListChanged":true},"#)
        .request().operation == .listen(toToolChanges: true))
    #expect(
      try TestPost.stateless("subscriptions/listen", #""notifications":{},"#)
        .request().operation == .listen(toToolChanges: false))
  }

  @Test("the metadata of a request")
  func readsMetadata() throws {
    let post = TestPost(
      "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: add",
      #"""
      {"jsonrpc":"2.0","id":"r1","method":"tools/call","params":{"name":"add","arguments":{"n":1.0},"extra":1,
       "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"x":{}},
       "io.modelcontextprotocol/clientInfo":{"name":"desk","version":"2","title":"Desk"},
       "progressToken":7,"waybridge/key":"k1","other":null}}}
      """#)
    let request = try post.request()
    #expect(request.id == .string("r1"))
    #expect(request.revision == .stateless)
    #expect(request.client == MCPImplementation(name: "desk", version: "2"))
    #expect(request.progressToken == .integer(7))
    guard case .callTool(let call) = request.operation else {
      Issue.record("\(request.operation)")
      return
    }
    #expect(call.key == "k1")
    #expect(call.arguments["n"]?.double == 1)
  }

  @Test("a client without the stateless revision gets the handshake's one")
  func readsHandshake() throws {
    for head in ["", "MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2025-06-18"] {
      let request = try TestPost(
        head,
        #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#
      ).request()
      #expect(request.revision == .handshake)
      #expect(request.operation == .initialize)
      let ping = try TestPost(head, #"{"jsonrpc":"2.0","id":0,"method":"ping"}"#).request()
      #expect(ping.operation == .ping)
      let list = try TestPost(head, #"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#).request()
      #expect(list.operation == .listTools(cursor: nil))
    }
  }

  @Test("notifications need nothing, and have no response")
  func acceptsNotifications() throws {
    for body in [
      #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    ] {
      #expect(try TestPost("", body).read().get() == .notification)
    }
  }

  @Test(
    "the media types that a client accepts",
    arguments: [
      ("", true, true), ("Accept: application/json, text/event-stream", true, true),
      ("Accept: application/json", true, false), ("Accept: text/event-stream;q=0.9", false, true),
      ("Accept: */*", true, true), ("Accept: text/html", false, false),
      ("Accept: APPLICATION/*\nAccept: text/*", true, true),
    ])
  func readsAcceptedTypes(_ head: String, _ json: Bool, _ events: Bool) {
    let read = MCPRequestHead(TestPost(head, "").fields)
    #expect(read.acceptsJSON == json)
    #expect(read.acceptsEvents == events)
  }
}
