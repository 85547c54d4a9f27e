import WayRPC
import WayTransport
import WayValues

/// A client on a plain connection that sends calls and receives messages one by one.
package struct WireClient {
  private let peer: RawClient

  /// Connects to any server.
  package static func connect(
    to server: any ServerFixture, subprotocol: String? = nil
  ) async throws -> WireClient {
    WireClient(peer: try await RawClient.connect(to: server, subprotocol: subprotocol))
  }

  /// Connects and opens a session: a new one, or that of `joining`, another client's result of
  /// `session.open`.
  package static func open(
    on server: any ServerFixture, _ members: ValueObject = [:], joining: Value? = nil
  ) async throws -> (client: WireClient, opened: Value) {
    let client = try await connect(to: server, subprotocol: "waybridge.v1")
    return (client, try await client.open(members, joining: joining)["result"] ?? .null)
  }

  /// Calls `session.open` and returns its result.
  package func open(_ members: ValueObject = [:], joining: Value? = nil) async throws -> Value {
    var params = members
    if let joining {
      params["join"] = [
        "session": joining["session"] ?? .null,
        "token": joining["joinToken"] ?? joining["invitation"] ?? .null,
      ]
    }
    try await call("hello", "session.open", .object(params))
    return try await response("hello")
  }

  /// Calls `session.resume` with the data of `opened`, the result of `session.open`, and returns
  /// the result. `more` overrides members of the params.
  package func resume(_ opened: Value, _ more: ValueObject = [:]) async throws -> Value {
    var params: ValueObject = ["received": 0]
    for name in ["client", "token", "epoch"] { params[name] = opened[name] ?? .null }
    params.merge(more)
    try await call("resume", "session.resume", .object(params))
    return try await response("resume")["result"] ?? .null
  }

  /// Subscribes and waits for the response.
  package func subscribe(_ topics: Value...) async throws {
    try await call("subscribe", "events.subscribe", ["topics": .array(topics)])
    _ = try await response("subscribe")
  }

  /// Returns the params of the next event. Throws if any other message arrives first.
  package func nextEvent() async throws -> Value {
    let message = try await nextMessage()
    guard message["method"] == "event", let params = message["params"] else {
      throw TranscriptFailure(description: "\(message) is no event")
    }
    return params
  }

  /// Rejects a request of the server.
  package func reject(_ request: Value, _ code: Int64, _ message: Value = "no") async throws {
    try await peer.send([
      "jsonrpc": "2.0", "id": request["id"] ?? .null,
      "error": ["code": .integer(code), "message": message],
    ])
  }

  /// Returns whether only the response to a ping arrives.
  package func hasNoPendingMessages() async throws -> Bool {
    try await call("ping", "$/ping", [:])
    return try await nextMessage() == ["jsonrpc": "2.0", "id": "ping", "result": nil]
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
    try await send(.array(messages))
  }

  /// Sends a value, which need not be a valid message.
  package func send(_ value: Value) async throws {
    try await peer.send(value)
  }

  /// Sends a text, which need not be JSON.
  package func send(text: String) async throws {
    try await peer.send(Array(text.utf8))
  }

  /// Responds to a request of the server.
  package func respond(_ request: Value, _ result: Value) async throws {
    try await peer.send(["jsonrpc": "2.0", "id": request["id"] ?? .null, "result": result])
  }

  /// Declines a request to a host, so that the server tries the next host.
  package func decline(_ request: Value) async throws {
    try await peer.send([
      "jsonrpc": "2.0", "id": request["id"] ?? .null,
      "error": ["code": 2404, "message": "not mine", "data": ["kind": "declined"]],
    ])
  }

  /// Returns the next message.
  package func nextMessage() async throws -> Value {
    guard case .text(let bytes) = try await peer.next() else {
      throw TranscriptFailure(description: "the connection closed")
    }
    return try JSON.parse(bytes.span.bytes)
  }

  /// Returns the close code of the connection, which must be the next event.
  package func nextCloseCode() async throws -> UInt16? {
    guard case .closed(let code) = try await peer.next() else {
      throw TranscriptFailure(description: "a message arrived instead of the close")
    }
    return code
  }

  /// Calls a method and returns its response.
  package func request(_ method: String, _ params: Value = [:]) async throws -> Value {
    try await call("ask", method, params)
    return try await response("ask")
  }

  /// Calls a method. Returns `ok`, the name of the rule that denies it, or the error code.
  package func callStatus(_ method: String, _ params: Value = [:]) async throws -> String {
    let received = try await request(method, params)
    guard let error = received["error"] else { return "ok" }
    if error["code"] == 2403 { return error["data"]?["rule"]?.string ?? "2403" }
    return "\(error["code"]?.integer ?? 0)"
  }

  /// Returns the next response to the call `id`; skips other messages.
  package func response(_ id: Value) async throws -> Value {
    while true {
      let message = try await nextMessage()
      if message["id"] == id, message["method"] == nil { return message }
    }
  }

  /// Returns the id of the next response; skips other messages.
  package func nextResponseID() async throws -> Value? {
    while true {
      let message = try await nextMessage()
      if message["method"] == nil { return message["id"] }
    }
  }

  /// Accepts the next page that the server requests, and returns the page.
  package func acceptPageOpen() async throws -> Value {
    let request = try await nextRequest("page.open")
    try await respond(request, .null)
    return request["params"]?["page"] ?? .null
  }

  /// Runs a task or service and returns its result.
  package func invoke(_ uri: String, _ params: Value = [:]) async throws -> Value {
    try await call("ask", "router.invoke", ["uri": .string(uri), "params": params])
    return try await response("ask")
  }

  /// Returns the next request or notification of the server with this method; skips other messages.
  package func nextRequest(_ method: String) async throws -> Value {
    while true {
      let message = try await nextMessage()
      if message["method"]?.string == method { return message }
    }
  }
}
