import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// How the Swift client numbers and acknowledges messages and resumes, message by message.
@Suite(.timeLimit(.minutes(1)))
struct ClientSequenceTests {
  private let server = ScriptedServer()

  private func openClient(
    _ hosts: [BridgeClient.Host] = [], _ reconnect: BridgeClient.Reconnection = .automatic()
  ) async throws -> BridgeClient {
    try await server.openClient(
      .init(name: "test", version: "1", hosts: hosts, reconnect: reconnect), canResume: true)
  }

  /// Responds to the client's `session.resume`: the server has accepted its messages up to
  /// `received`.
  private func acceptResume(
    received: Int64, pending: [Value] = [], token: String = "t2"
  ) async throws -> Value {
    let resumeRequest = try await server.next()
    #expect(resumeRequest["method"] == "session.resume")
    #expect(resumeRequest["seq"] == nil)
    try await server.respond(
      resumeRequest,
      [
        "resumed": true, "received": .integer(received),
        "sent": resumeRequest["params"]?["received"] ?? 0,
        "session": "s", "client": "c", "token": .string(token), "epoch": "e",
        "capabilities": ["resume"], "pending": .array(pending),
      ])
    return resumeRequest["params"] ?? .null
  }

  private func eventMessage(_ seq: Int64) -> Value {
    [
      "jsonrpc": "2.0", "seq": .integer(seq), "method": "event",
      "params": ["topic": "tick", "data": .integer(seq), "at": 0],
    ]
  }

  private func close(_ client: BridgeClient) async {
    await client.close()
  }

  @Test func numbersEveryMessageExceptPings() async throws {
    let client = try await openClient()
    let calls = Task { try await client.invoke("action://a") }
    let request = try await server.next()
    #expect(request["seq"] == 1)
    try await client.notify("hello")
    #expect(try await server.next()["seq"] == 2)
    let ping = Task { try await client.request("$/ping") }
    let pingRequest = try await server.next()
    #expect(pingRequest["method"] == "$/ping")
    #expect(pingRequest["seq"] == nil)
    try await server.respond(pingRequest, nil)
    #expect(try await ping.value == nil)
    try await server.send(["jsonrpc": "2.0", "id": "p", "method": "$/ping"])
    #expect(try await server.next() == ["jsonrpc": "2.0", "id": "p", "result": nil])
    try await server.send(
      ["jsonrpc": "2.0", "seq": 1, "id": request["id"] ?? nil, "result": "done"])
    #expect(try await calls.value == "done")
    await close(client)
  }

  @Test(arguments: [true, false])
  func numbersNothingWithoutResumeSupport(canResume: Bool) async throws {
    let client = try await server.openClient(
      .init(name: "test", version: "1", reconnect: canResume ? .never : .automatic()),
      canResume: canResume)
    try await client.notify("hello")
    #expect(try await server.next() == ["jsonrpc": "2.0", "method": "hello"])
    await server.loop.advance(by: .seconds(60))
    try await server.close(.drain)
    #expect(await client.waitUntilEnded().code == 4200)
  }

  @Test func acknowledgesAfterOneSecondOr32Messages() async throws {
    let client = try await openClient()
    for seq: Int64 in 1...3 { try await server.send(eventMessage(seq)) }
    await server.loop.advance(by: .seconds(1))
    #expect(
      try await server.next() == ["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 3]])
    for seq: Int64 in 4...35 { try await server.send(eventMessage(seq)) }
    #expect(try await server.next()["params"]?["seq"] == 35)
    // No acknowledgement is due any more.
    await server.loop.advance(by: .seconds(2))
    try await client.notify("hello")
    #expect(try await server.next()["method"] == "hello")
    await close(client)
  }

  @Test func acknowledgesAfter64Kilobytes() async throws {
    let client = try await openClient()
    let text = Value.string(String(repeating: "x", count: 65_536))
    try await server.send(["jsonrpc": "2.0", "seq": 1, "method": "m", "params": [text]])
    #expect(try await server.next()["params"]?["seq"] == 1)
    await close(client)
  }

  @Test func resendsMessagesTheServerHasNotReceived() async throws {
    let client = try await openClient()
    for number: Value in [1, 2, 3] { try await client.notify("m", [number]) }
    for _ in 0..<3 { _ = try await server.next() }
    try await server.send(["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 1]])
    try await server.send(eventMessage(1))
    try await server.close(.noPong)
    let params = try await acceptResume(received: 2)
    #expect(params["client"] == "c")
    #expect(params["token"] == "t")
    #expect(params["epoch"] == "e")
    #expect(params["received"] == 1)
    #expect(params["open"]?["client"]?["name"] == "test")
    let again = try await server.next()
    #expect(again == ["jsonrpc": "2.0", "seq": 3, "method": "m", "params": [3]])
    try await client.notify("new")
    #expect(try await server.next()["seq"] == 4)
    await close(client)
  }

  @Test func requestWithResponseIsSentAgainAsNotification() async throws {
    let client = try await openClient()
    let first = Task { try await client.invoke("action://a") }
    let firstRequest = try await server.next()
    let second = Task { try await client.invoke("action://b") }
    let secondRequest = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "seq": 1, "id": firstRequest["id"] ?? nil, "result": "one",
    ])
    #expect(try await first.value == "one")
    for _ in 0..<2 {
      try await server.close(.noPong)
      _ = try await acceptResume(received: 0)
      while true {
        let message = try await server.next()
        if message["method"] == "$/ack" { continue }
        var notification = firstRequest.object
        notification?["id"] = nil
        #expect(message.object == notification)
        break
      }
      #expect(try await server.next() == secondRequest)
      await server.loop.advance(by: .seconds(5))
    }
    // Once it is acknowledged, nothing of it is left.
    try await server.close(.noPong)
    _ = try await acceptResume(received: 1)
    #expect(try await server.next() == secondRequest)
    try await server.send([
      "jsonrpc": "2.0", "seq": 2, "id": secondRequest["id"] ?? nil, "result": "two",
    ])
    #expect(try await second.value == "two")
    await close(client)
  }

  @Test func reusesThePreviousTokenWhenTheResponseWasLost() async throws {
    let client = try await openClient()
    try await server.close(.noPong)
    let lost = try await server.next()
    #expect(lost["params"]?["token"] == "t")
    try await server.close(.noPong)
    // The connection was too short to reconnect at once.
    await server.loop.advance(by: .seconds(1))
    #expect(try await acceptResume(received: 0, token: "t2")["token"] == "t")
    await server.loop.advance(by: .seconds(5))
    try await server.close(.noPong)
    #expect(try await acceptResume(received: 0, token: "t3")["token"] == "t2")
    await close(client)
    #expect(await client.session?.token == "t3")
  }

  @Test func duplicateMessagesAreProcessedOnce() async throws {
    let runs = Mailbox<Value>()
    let client = try await openClient([
      .task("action://a") {
        runs.put($0.params["n"] ?? nil)
        return nil
      }
    ])
    func run(_ seq: Int64) async throws {
      try await server.send([
        "jsonrpc": "2.0", "seq": .integer(seq), "id": .integer(seq), "method": "task.run",
        "params": [
          "uri": "action://a", "params": ["n": .integer(seq)],
          "host": ["pattern": "action://a", "kind": "task"],
        ],
      ])
    }
    try await run(1)
    #expect(try await server.next()["result"] == .null)
    for seq: Int64 in [1, 1, 2] { try await run(seq) }
    #expect(try await server.next()["id"] == 2)
    #expect(try await runs.receive() == 1)
    #expect(try await runs.receive() == 2)
    await close(client)
  }

  @Test(
    arguments: [
      ["jsonrpc": "2.0", "seq": 2, "method": "m"], ["jsonrpc": "2.0", "method": "m"],
      ["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 7]],
      ["jsonrpc": "2.0", "method": "$/ack"], ["jsonrpc": "2.0", "id": 99, "result": 1],
      ["jsonrpc": "2.0", "seq": "1", "method": "m"],
    ] as [Value])
  func invalidSequenceClosesAndTheClientResumes(message: Value) async throws {
    let client = try await openClient()
    try await server.send(message)
    #expect(try await server.closeCodes.receive() == 4204)
    _ = try await acceptResume(received: 0)
    try await client.notify("hello")
    #expect(try await server.next()["seq"] == 1)
    await close(client)
  }

  @Test func pingsASilentServerThenReconnects() async throws {
    let client = try await openClient()
    await server.loop.advance(by: .seconds(20))
    let ping = try await server.next()
    #expect(ping["method"] == "$/ping")
    #expect(ping["seq"] == nil)
    try await server.respond(ping, nil)
    await server.loop.advance(by: .seconds(20))
    #expect(try await server.next()["method"] == "$/ping")
    await server.loop.advance(by: .seconds(15))
    #expect(try await server.closeCodes.receive() == 4202)
    _ = try await acceptResume(received: 0)
    await close(client)
  }

  @Test func reconnectsWhenTheResumeRequestTimesOut() async throws {
    let client = try await openClient()
    try await server.close(.noPong)
    #expect(try await server.next()["method"] == "session.resume")
    await server.loop.advance(by: .seconds(11))
    _ = try await acceptResume(received: 0)
    await close(client)
  }

  @Test func callUnknownToTheServerHasUnknownOutcome() async throws {
    let client = try await openClient()
    var calls: [Task<Value, any Error>] = []
    var ids: [Value] = []
    for name in ["lost", "answered", "pending", "again"] {
      calls.append(Task { try await client.invoke("action://\(name)") })
      ids.append(try await server.next()["id"] ?? nil)
    }
    try await server.close(.noPong)
    _ = try await acceptResume(
      received: 3, pending: [["id": ids[2], "method": "router.invoke", "uri": "action://pending"]])
    try await server.send(["jsonrpc": "2.0", "seq": 1, "id": ids[1], "result": 1])
    #expect(try await server.next()["params"]?["uri"] == "action://again")
    let mark = try await server.next()
    #expect(mark["method"] == "$/ping")
    try await server.respond(mark, nil)
    let error = await #expect(throws: CallError.self) { try await calls[0].value }
    #expect(error?.protocolCode == .outcomeUnknown)
    #expect(try await calls[1].value == 1)
    for (seq, place) in [(2, 2), (3, 3)] {
      try await server.send([
        "jsonrpc": "2.0", "seq": .integer(Int64(seq)), "id": ids[place],
        "result": .integer(Int64(place)),
      ])
      #expect(try await calls[place].value == .integer(Int64(place)))
    }
    await close(client)
  }

  @Test func opensANewSessionAfterAnImpossibleReceivedCount() async throws {
    let client = try await openClient()
    var states = await client.connectionStates().makeAsyncIterator()
    try await server.close(.noPong)
    _ = try await acceptResume(received: 5)
    await server.loop.advance(by: .seconds(1))
    let openRequest = try await server.next()
    #expect(openRequest["method"] == "session.open")
    try await server.respond(
      openRequest, ["session": "s2", "client": "c2", "token": "t", "capabilities": ["resume"]])
    while let state = await states.next() {
      guard case .sessionReplaced(let lost) = state else { continue }
      #expect(lost.reason == "gap")
      #expect(lost.session.id == "s")
      break
    }
    await close(client)
  }

  @Test(arguments: [(2401, 1), (2503, 2)] as [(Int64, Int)])
  func rejectedResumeEndsOrRetriesByCode(code: Int64, attempts: Int) async throws {
    let client = try await openClient()
    let call = Task { try await client.invoke("action://a") }
    _ = try await server.next()
    try await server.close(.drain)
    for _ in 0..<attempts {
      let resumeRequest = try await server.next()
      try await server.send([
        "jsonrpc": "2.0", "id": resumeRequest["id"] ?? nil,
        "error": ["code": .integer(code), "message": "no"],
      ])
      await server.loop.advance(by: .seconds(30))
    }
    if attempts == 1 {
      #expect(await client.waitUntilEnded().code == 4200)
    } else {
      await close(client)
    }
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.protocolCode == .outcomeUnknown)
  }

  @Test func waitsAsLongAsARejectedResumeRequests() async throws {
    let client = try await openClient()
    var states = await client.connectionStates().makeAsyncIterator()
    try await server.close(.drain)
    let rejected = try await server.next()
    try await server.send([
      "jsonrpc": "2.0", "id": rejected["id"] ?? nil,
      "error": ["code": 2429, "message": "later", "data": ["retryAfterMs": 60_000]],
    ])
    var delays: [Duration] = []
    while delays.count < 2, let state = await states.next() {
      if case .waiting(_, _, let delay) = state { delays.append(delay) }
    }
    #expect(delays.first == .zero)
    let requested = Duration.milliseconds(60_250)...Duration.milliseconds(60_500)
    let last = try #require(delays.last)
    #expect(requested.contains(last))
    await server.loop.advance(by: .seconds(61))
    _ = try await acceptResume(received: 0)
    await close(client)
  }

  @Test(arguments: [1000, 1009, 4001, 4009] as [UInt16])
  func doesNotReconnectAfterATerminalCode(code: UInt16) async throws {
    let client = try await openClient()
    let states = await client.connectionStates()
    try await server.close(CloseCode(rawValue: code))
    #expect(await client.waitUntilEnded().code == code)
    var count = 0
    for await state in states {
      count += 1
      if case .waiting = state { Issue.record("it waits") }
    }
    #expect(count == 2)
    let error = await #expect(throws: CallError.self) { try await client.invoke("action://a") }
    #expect(error?.protocolCode == .unavailable)
  }

  @Test func sequenceNumberCountsTowardTheMessageLimit() async throws {
    let client = try await server.openClient(
      .init(name: "test", version: "1"), maxMessage: 200, canResume: true)
    var sent = 0
    for size in 80..<160 {
      do {
        try await client.notify("m", [.string(String(repeating: "x", count: size))])
        let text = try await server.next().json ?? ""
        sent += 1
        #expect(text.utf8.count <= 200)
      } catch {
        #expect((error as? CallError)?.protocolCode == .tooLarge)
      }
    }
    #expect((1..<80).contains(sent))
    await close(client)
  }

  @Test func limitsUnacknowledgedMessages() async throws {
    let client = try await openClient()
    let text = Value.string(String(repeating: "x", count: 1 << 19))
    let error = await #expect(throws: CallError.self) {
      for _ in 0..<20 { try await client.notify("m", [text]) }
    }
    #expect(error?.protocolCode == .tooMany)
    try await server.send(["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 12]])
    await server.loop.settle()
    try await client.notify("m", [text])
    await close(client)
  }
}
