import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// A message of the Swift client that the server cannot read fails alone, and is not sent again.
@Suite(.timeLimit(.minutes(1)))
struct ClientUnreadableMessageTests {
  private let server = ScriptedServer()

  private func openClient(_ hosts: [BridgeClient.Host] = []) async throws -> BridgeClient {
    try await server.openClient(
      .init(name: "test", version: "1", hosts: hosts), canResume: true)
  }

  /// Sends the error about a message whose id the server could not read. With `number` it counts as
  /// received.
  private func rejectMessage(seq: Int64, number: Int64? = nil) async throws {
    var data: ValueObject = ["kind": "parseError", "retryable": false]
    data["seq"] = number.map(Value.integer)
    try await server.send([
      "jsonrpc": "2.0", "seq": .integer(seq), "id": nil,
      "error": ["code": -32700, "message": "not JSON", "data": .object(data)],
    ])
  }

  /// Waits until the client has closed its connection, and responds to its `session.resume`.
  private func acceptResume(received: Int64) async throws {
    #expect(try await server.closeCodes.receive() == 4204)
    // After a short connection the client waits before it reconnects.
    async let next = server.next()
    await server.loop.advance(by: .seconds(2))
    let request = try await next
    #expect(request["method"] == "session.resume")
    let pending: [Value] = []
    try await server.respond(
      request,
      [
        "resumed": true, "received": .integer(received),
        "sent": request["params"]?["received"] ?? 0, "session": "s", "client": "c", "token": "t",
        "epoch": "e", "capabilities": ["resume"], "pending": .array(pending),
      ])
  }

  /// Returns the client's next message that is no acknowledgement.
  private func nextMessage() async throws -> Value {
    while true {
      let message = try await server.next()
      if message["method"] != "$/ack" { return message }
    }
  }

  private func cancellation(_ seq: Int64, of id: Value) -> Value {
    [
      "jsonrpc": "2.0", "seq": .integer(seq), "method": "$/cancelRequest", "params": ["id": id],
    ]
  }

  private func expectParseError(_ call: Task<Value, any Error>) async {
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.code == -32700)
  }

  @Test func unreadableRequestFailsAndLaterMessagesArrive() async throws {
    let client = try await openClient()
    try await client.notify("before")
    #expect(try await nextMessage()["seq"] == 1)
    let call = Task { try await client.invoke("action://a") }
    let request = try await nextMessage()
    #expect(request["seq"] == 2)
    let other = Task { try await client.invoke("action://b") }
    let otherRequest = try await nextMessage()
    try await rejectMessage(seq: 1)
    try await acceptResume(received: 1)
    await expectParseError(call)
    #expect(try await nextMessage() == cancellation(2, of: request["id"] ?? nil))
    #expect(try await nextMessage() == otherRequest)
    try await server.send([
      "jsonrpc": "2.0", "seq": 2, "id": otherRequest["id"] ?? nil, "result": "done",
    ])
    #expect(try await other.value == "done")
    try await client.notify("after")
    #expect(try await nextMessage()["seq"] == 4)
    await client.close()
  }

  @Test func unreadableNotificationIsReplaced() async throws {
    let client = try await openClient()
    try await client.notify("unreadable")
    _ = try await nextMessage()
    try await rejectMessage(seq: 1)
    #expect(try await server.closeCodes.receive() == 4204)
    // A message that waits for the connection stays behind it.
    try await client.notify("waits")
    server.closeCodes.put(4204)
    try await acceptResume(received: 0)
    #expect(try await nextMessage() == cancellation(1, of: nil))
    #expect(try await nextMessage() == ["jsonrpc": "2.0", "seq": 2, "method": "waits"])
    await client.close()
  }

  @Test func unreadableResponseBecomesAnError() async throws {
    let client = try await openClient([.task("action://a") { _ in "unreadable" }])
    try await server.send([
      "jsonrpc": "2.0", "seq": 1, "id": 7, "method": "task.run", "params": ["uri": "action://a"],
    ])
    #expect(try await nextMessage()["result"] == "unreadable")
    try await rejectMessage(seq: 2)
    try await acceptResume(received: 0)
    let response = try await nextMessage()
    #expect(response["seq"] == 1)
    #expect(response["id"] == 7)
    #expect(response["error"]?["code"] == -32603)
    await client.close()
  }

  @Test func replacementIsNotReplaced() async throws {
    let client = try await openClient()
    let call = Task { try await client.invoke("action://a") }
    let request = try await nextMessage()
    let other = Task { try await client.invoke("action://b") }
    let otherRequest = try await nextMessage()
    try await rejectMessage(seq: 1)
    try await acceptResume(received: 0)
    await expectParseError(call)
    for seq: Int64 in 2...3 {
      #expect(try await nextMessage() == cancellation(1, of: request["id"] ?? nil))
      #expect(try await nextMessage() == otherRequest)
      // The server sends the error about the first message again.
      try await rejectMessage(seq: seq)
      try await acceptResume(received: 0)
    }
    #expect(try await nextMessage() == cancellation(1, of: request["id"] ?? nil))
    await client.close()
    let error = await #expect(throws: CallError.self) { try await other.value }
    #expect(error?.protocolCode == .outcomeUnknown)
  }

  @Test func numberedErrorOnlyFailsItsRequest() async throws {
    let client = try await openClient()
    let calls = ["a", "b"].map { name in
      Task { try await client.invoke("action://\(name)") }
    }
    let requests = [try await nextMessage(), try await nextMessage()]
    let second = requests.firstIndex { $0["params"]?["uri"] == "action://b" } ?? 0
    try await rejectMessage(seq: 1, number: requests[second]["seq"]?.integer)
    await expectParseError(calls[1])
    // A message without a call, such as a response.
    try await rejectMessage(seq: 2, number: 9)
    try await server.send([
      "jsonrpc": "2.0", "seq": 3, "id": requests[1 - second]["id"] ?? nil, "result": "done",
    ])
    #expect(try await calls[0].value == "done")
    try await client.notify("same connection")
    #expect(try await nextMessage()["seq"] == 3)
    await client.close()
  }

  @Test func errorOnAConnectionWithoutNumbersIsIgnored() async throws {
    let client = try await server.openClient()
    let call = Task { try await client.invoke("action://a") }
    let request = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "id": nil, "error": ["code": -32700, "message": "not JSON"],
    ])
    try await server.respond(request, "done")
    #expect(try await call.value == "done")
    await client.close()
  }
}
