import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// How the Swift client numbers, acknowledges and goes on, message by message.
@Suite(.timeLimit(.minutes(1)))
struct ClientSequenceTests {
  private let server = ScriptedServer()

  private func open(
    _ hosts: [BridgeClient.Host] = [], _ reconnect: BridgeClient.Reconnection = .automatic()
  ) async throws -> BridgeClient {
    try await server.open(
      .init(name: "test", version: "1", hosts: hosts, reconnect: reconnect), canResume: true)
  }

  /// Answers a hello of the client that goes on: the server has taken its messages up to `received`.
  private func welcome(
    received: Int64, pending: [Value] = [], token: String = "t2"
  ) async throws -> Value {
    let hello = try await server.next()
    #expect(hello["method"] == "session.resume")
    #expect(hello["seq"] == nil)
    try await server.answer(
      hello,
      [
        "resumed": true, "received": .integer(received), "sent": hello["params"]?["received"] ?? 0,
        "session": "s", "client": "c", "token": .string(token), "epoch": "e",
        "capabilities": ["resume"], "pending": .list(pending),
      ])
    return hello["params"] ?? .null
  }

  private func event(_ seq: Int64) -> Value {
    [
      "jsonrpc": "2.0", "seq": .integer(seq), "method": "event",
      "params": ["topic": "tick", "data": .integer(seq), "at": 0],
    ]
  }

  private func close(_ client: BridgeClient) async {
    await client.close()
  }

  @Test func everyMessageHasItsNumberButPings() async throws {
    let client = try await open()
    let calls = Task { try await client.invoke("action://a") }
    let request = try await server.next()
    #expect(request["seq"] == 1)
    try await client.notify("hello")
    #expect(try await server.next()["seq"] == 2)
    let ping = Task { try await client.request("$/ping") }
    let asked = try await server.next()
    #expect(asked["method"] == "$/ping")
    #expect(asked["seq"] == nil)
    try await server.answer(asked, nil)
    #expect(try await ping.value == nil)
    try await server.send(["jsonrpc": "2.0", "id": "p", "method": "$/ping"])
    #expect(try await server.next() == ["jsonrpc": "2.0", "id": "p", "result": nil])
    try await server.send(
      ["jsonrpc": "2.0", "seq": 1, "id": request["id"] ?? nil, "result": "done"])
    #expect(try await calls.value == "done")
    await close(client)
  }

  @Test(arguments: [true, false])
  func nothingIsNumberedWhereTheServerOrTheAppDoesNotWantIt(canResume: Bool) async throws {
    let client = try await server.open(
      .init(name: "test", version: "1", reconnect: canResume ? .never : .automatic()),
      canResume: canResume)
    try await client.notify("hello")
    #expect(try await server.next() == ["jsonrpc": "2.0", "method": "hello"])
    await server.loop.advance(by: .seconds(60))
    try await server.close(.drain)
    #expect(await client.ended().code == 4200)
  }

  @Test func anAckComesAfterASecondOrThirtyTwoMessages() async throws {
    let client = try await open()
    for seq: Int64 in 1...3 { try await server.send(event(seq)) }
    await server.loop.advance(by: .seconds(1))
    #expect(
      try await server.next() == ["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 3]])
    for seq: Int64 in 4...35 { try await server.send(event(seq)) }
    #expect(try await server.next()["params"]?["seq"] == 35)
    // Nothing is owed any more.
    await server.loop.advance(by: .seconds(2))
    try await client.notify("hello")
    #expect(try await server.next()["method"] == "hello")
    await close(client)
  }

  @Test func anAckComesAfterSixtyFourKilobytes() async throws {
    let client = try await open()
    let text = Value.string(String(repeating: "x", count: 65_536))
    try await server.send(["jsonrpc": "2.0", "seq": 1, "method": "m", "params": [text]])
    #expect(try await server.next()["params"]?["seq"] == 1)
    await close(client)
  }

  @Test func whatTheServerHasNotTakenIsSentAgain() async throws {
    let client = try await open()
    for number: Value in [1, 2, 3] { try await client.notify("m", [number]) }
    for _ in 0..<3 { _ = try await server.next() }
    try await server.send(["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 1]])
    try await server.send(event(1))
    try await server.close(.noPong)
    let params = try await welcome(received: 2)
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

  @Test func theTokenBeforeIsUsedAgainWhenTheAnswerGotLost() async throws {
    let client = try await open()
    try await server.close(.noPong)
    let lost = try await server.next()
    #expect(lost["params"]?["token"] == "t")
    try await server.close(.noPong)
    // It was there for too short a time to be tried again at once.
    await server.loop.advance(by: .seconds(1))
    #expect(try await welcome(received: 0, token: "t2")["token"] == "t")
    await server.loop.advance(by: .seconds(5))
    try await server.close(.noPong)
    #expect(try await welcome(received: 0, token: "t3")["token"] == "t2")
    await close(client)
    #expect(await client.session?.token == "t3")
  }

  @Test func whatComesTwiceIsTakenOnce() async throws {
    let runs = Mailbox<Value>()
    let client = try await open([
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
    #expect(try await runs.take() == 1)
    #expect(try await runs.take() == 2)
    await close(client)
  }

  @Test(
    arguments: [
      ["jsonrpc": "2.0", "seq": 2, "method": "m"], ["jsonrpc": "2.0", "method": "m"],
      ["jsonrpc": "2.0", "method": "$/ack", "params": ["seq": 7]],
      ["jsonrpc": "2.0", "method": "$/ack"], ["jsonrpc": "2.0", "id": 99, "result": 1],
      ["jsonrpc": "2.0", "seq": "1", "method": "m"],
    ] as [Value])
  func whatDoesNotFitClosesAndTheClientGoesOn(message: Value) async throws {
    let client = try await open()
    try await server.send(message)
    #expect(try await server.closes.take() == 4204)
    _ = try await welcome(received: 0)
    try await client.notify("hello")
    #expect(try await server.next()["seq"] == 1)
    await close(client)
  }

  @Test func aServerThatIsSilentIsAskedAndLeft() async throws {
    let client = try await open()
    await server.loop.advance(by: .seconds(20))
    let ping = try await server.next()
    #expect(ping["method"] == "$/ping")
    #expect(ping["seq"] == nil)
    try await server.answer(ping, nil)
    await server.loop.advance(by: .seconds(20))
    #expect(try await server.next()["method"] == "$/ping")
    await server.loop.advance(by: .seconds(15))
    #expect(try await server.closes.take() == 4202)
    _ = try await welcome(received: 0)
    await close(client)
  }

  @Test func aServerThatDoesNotAnswerTheHelloIsLeft() async throws {
    let client = try await open()
    try await server.close(.noPong)
    #expect(try await server.next()["method"] == "session.resume")
    await server.loop.advance(by: .seconds(11))
    _ = try await welcome(received: 0)
    await close(client)
  }

  @Test func aCallThatTheServerKnowsNothingOfHasAnUnknownOutcome() async throws {
    let client = try await open()
    var calls: [Task<Value, any Error>] = []
    var ids: [Value] = []
    for name in ["lost", "answered", "pending", "again"] {
      calls.append(Task { try await client.invoke("action://\(name)") })
      ids.append(try await server.next()["id"] ?? nil)
    }
    try await server.close(.noPong)
    _ = try await welcome(
      received: 3, pending: [["id": ids[2], "method": "router.invoke", "uri": "action://pending"]])
    try await server.send(["jsonrpc": "2.0", "seq": 1, "id": ids[1], "result": 1])
    #expect(try await server.next()["params"]?["uri"] == "action://again")
    let mark = try await server.next()
    #expect(mark["method"] == "$/ping")
    try await server.answer(mark, nil)
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

  @Test func aServerThatHasTakenMoreThanWasSentGetsANewHello() async throws {
    let client = try await open()
    var states = await client.connectionStates().makeAsyncIterator()
    try await server.close(.noPong)
    _ = try await welcome(received: 5)
    await server.loop.advance(by: .seconds(1))
    let hello = try await server.next()
    #expect(hello["method"] == "session.open")
    try await server.answer(
      hello, ["session": "s2", "client": "c2", "token": "t", "capabilities": ["resume"]])
    while let state = await states.next() {
      guard case .begunAnew(let lost) = state else { continue }
      #expect(lost.reason == "gap")
      #expect(lost.session.id == "s")
      break
    }
    await close(client)
  }

  @Test(arguments: [(2401, 1), (2503, 2)] as [(Int64, Int)])
  func aHelloThatIsRefusedIsTheEndOrNot(code: Int64, hellos: Int) async throws {
    let client = try await open()
    let call = Task { try await client.invoke("action://a") }
    _ = try await server.next()
    try await server.close(.drain)
    for _ in 0..<hellos {
      let hello = try await server.next()
      try await server.send([
        "jsonrpc": "2.0", "id": hello["id"] ?? nil,
        "error": ["code": .integer(code), "message": "no"],
      ])
      await server.loop.advance(by: .seconds(30))
    }
    if hellos == 1 {
      #expect(await client.ended().code == 4200)
    } else {
      await close(client)
    }
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.protocolCode == .outcomeUnknown)
  }

  @Test(arguments: [1000, 1009, 4001, 4009] as [UInt16])
  func afterATerminalCodeItStaysAway(code: UInt16) async throws {
    let client = try await open()
    let states = await client.connectionStates()
    try await server.close(CloseCode(rawValue: code))
    #expect(await client.ended().code == code)
    var count = 0
    for await state in states {
      count += 1
      if case .waiting = state { Issue.record("it waits") }
    }
    #expect(count == 2)
    let error = await #expect(throws: CallError.self) { try await client.invoke("action://a") }
    #expect(error?.protocolCode == .unavailable)
  }

  @Test func aCallIsNotLargerThanTheServerTakesWithItsNumber() async throws {
    let client = try await server.open(
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

  @Test func whatIsKeptForTheServerIsBounded() async throws {
    let client = try await open()
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
