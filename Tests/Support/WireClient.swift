import WayRPC
import WayTransport
import WayValues

/// A plain client that sends calls and awaits what comes, message by message.
package struct WireClient {
  private let peer: Peer

  /// A client of any server.
  package static func connect(
    to server: any PeerServer, subprotocol: String? = nil
  ) async throws -> WireClient {
    WireClient(peer: try await Peer.connect(to: server, subprotocol: subprotocol))
  }

  /// A client with a session: a new one, or that of `joining`, the answer that another got.
  package static func open(
    on server: any PeerServer, _ members: ValueObject = [:], joining: Value? = nil
  ) async throws -> (client: WireClient, hello: Value) {
    let client = try await connect(to: server, subprotocol: "waybridge.v1")
    return (client, try await client.open(members, joining: joining)["result"] ?? .null)
  }

  /// What `session.open` is answered.
  package func open(_ members: ValueObject = [:], joining: Value? = nil) async throws -> Value {
    var params = members
    if let joining {
      params["join"] = [
        "session": joining["session"] ?? .null,
        "token": joining["joinToken"] ?? joining["invitation"] ?? .null,
      ]
    }
    try await call("hello", "session.open", .object(params))
    return try await answer("hello")
  }

  /// What `session.resume` is answered, for the client that `hello` was said to; `more` goes over
  /// its own members.
  package func resume(_ hello: Value, _ more: ValueObject = [:]) async throws -> Value {
    var params: ValueObject = ["received": 0]
    for name in ["client", "token", "epoch"] { params[name] = hello[name] ?? .null }
    params.merge(more)
    try await call("resume", "session.resume", .object(params))
    return try await answer("resume")["result"] ?? .null
  }

  /// Subscribes, and awaits the answer.
  package func subscribe(_ topics: Value...) async throws {
    try await call("subscribe", "events.subscribe", ["topics": .list(topics)])
    _ = try await answer("subscribe")
  }

  /// The params of the next event; throws when anything else comes first.
  package func event() async throws -> Value {
    let message = try await message()
    guard message["method"] == "event", let params = message["params"] else {
      throw TranscriptFailure(description: "\(message) is no event")
    }
    return params
  }

  /// Refuses a request of the server.
  package func refuse(_ request: Value, _ code: Int64, _ message: Value = "no") async throws {
    try await peer.send([
      "jsonrpc": "2.0", "id": request["id"] ?? .null,
      "error": ["code": .integer(code), "message": message],
    ])
  }

  /// Nothing has come but the answer to a ping.
  package func hasHeardNothing() async throws -> Bool {
    try await call("ping", "$/ping", [:])
    return try await message() == ["jsonrpc": "2.0", "id": "ping", "result": nil]
  }

  package func close(_ code: CloseCode = .normal) async throws {
    try await peer.close(code)
  }

  package func call(_ id: Value, _ method: String, _ params: Value) async throws {
    try await peer.send(
      ["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
  }

  package func notify(_ method: String, _ params: Value) async throws {
    try await peer.send(["jsonrpc": "2.0", "method": .string(method), "params": params])
  }

  package func batch(_ messages: [Value]) async throws {
    try await send(.list(messages))
  }

  /// Sends what may be no message of the protocol.
  package func send(_ value: Value) async throws {
    try await peer.send(value)
  }

  /// Answers a request of the server.
  package func reply(_ request: Value, _ result: Value) async throws {
    try await peer.send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }

  /// Leaves what the server asks a host to the next.
  package func decline(_ request: Value) async throws {
    try await peer.send([
      "jsonrpc": "2.0", "id": request["id"] ?? .null,
      "error": ["code": 2404, "message": "not mine", "data": ["kind": "declined"]],
    ])
  }

  /// The next message.
  package func message() async throws -> Value {
    guard case .text(let bytes) = try await peer.next() else {
      throw TranscriptFailure(description: "the connection closed")
    }
    return try JSON.parse(bytes.span.bytes)
  }

  /// The code that the connection closes with, which must come next.
  package func end() async throws -> UInt16? {
    guard case .closed(let code) = try await peer.next() else {
      throw TranscriptFailure(description: "a message came instead of the end")
    }
    return code
  }

  /// Calls a method, and gives its answer.
  package func ask(_ method: String, _ params: Value = [:]) async throws -> Value {
    try await call("ask", method, params)
    return try await answer("ask")
  }

  /// Calls a method, and says what came of it: `ok`, the rule that refuses it, or the error's code.
  package func verdict(_ method: String, _ params: Value = [:]) async throws -> String {
    let answer = try await ask(method, params)
    guard let error = answer["error"] else { return "ok" }
    if error["code"] == 2403 { return error["data"]?["rule"]?.string ?? "2403" }
    return "\(error["code"]?.integer ?? 0)"
  }

  /// The next answer to the call `id`; others that come before it are passed over.
  package func answer(_ id: Value) async throws -> Value {
    while true {
      let message = try await message()
      if message["id"] == id, message["method"] == nil { return message }
    }
  }

  /// The id of the next answer; what else comes before it is passed over.
  package func answered() async throws -> Value? {
    while true {
      let message = try await message()
      if message["method"] == nil { return message["id"] }
    }
  }

  /// Opens what the server asks for next, and gives the page.
  package func show() async throws -> Value {
    let request = try await request("page.open")
    try await reply(request, .null)
    return request["params"]?["page"] ?? .null
  }

  /// What a task or service answers.
  package func invoke(_ uri: String, _ params: Value = [:]) async throws -> Value {
    try await call("ask", "router.invoke", ["uri": .string(uri), "params": params])
    return try await answer("ask")
  }

  /// The next request or notification of the server by this method; others that come before it are
  /// passed over.
  package func request(_ method: String) async throws -> Value {
    while true {
      let message = try await message()
      if message["method"]?.string == method { return message }
    }
  }
}
