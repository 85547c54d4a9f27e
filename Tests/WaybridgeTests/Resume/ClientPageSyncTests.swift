import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// What the Swift client says to a server that was restarted, message by message.
@Suite(.timeLimit(.minutes(1)))
struct ClientPageSyncTests {
  private let server = ScriptedServer()
  private let shell = RejectingPageHost()

  /// Shows all but `native://no`.
  private final class RejectingPageHost: PageHost {
    let calls = Mailbox<String>()

    func open(_ page: BridgeClient.Page) async throws {
      calls.put("open \(page.uri)")
      if page.uri == "native://no" { throw CallError(.hostFailed, "no") }
    }

    func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
      calls.put("close \(page.uri) \(reason)")
    }
  }

  private static func opening(_ id: String, _ uri: String) -> Value {
    [
      "page": ["id": .string(id), "uri": .string(uri), "style": "push"],
      "host": ["scheme": .string(String(uri.prefix { $0 != ":" })), "kind": "page"],
    ]
  }

  /// A client that shows `p1` and `p2`, and has sent the answers to that.
  private func open() async throws -> BridgeClient {
    let client = try await server.open(
      .init(name: "test", version: "1", hosts: [.pages(scheme: "native", shell)]), canResume: true)
    for number: Int64 in 1...2 {
      try await server.send([
        "jsonrpc": "2.0", "seq": .integer(number), "id": .integer(number), "method": "page.open",
        "params": Self.opening("p\(number)", "native://\(number)"),
      ])
      #expect(try await server.next()["result"] == .null)
      #expect(try await shell.calls.take() == "open native://\(number)")
    }
    return client
  }

  /// Lets the client go on with a server that was restarted; gives the params of its hello.
  private func restart(received: Int64 = 2) async throws -> Value {
    try await server.close(.noPong)
    async let next = server.next()
    // A connection that was there for too short a time is not made again at once.
    await server.loop.advance(by: .seconds(2))
    let hello = try await next
    #expect(hello["method"] == "session.resume")
    try await server.answer(
      hello,
      [
        "resumed": true, "restarted": true, "received": .integer(received),
        "sent": hello["params"]?["received"] ?? 0, "session": "s", "client": "c", "token": "t2",
        "epoch": "e", "capabilities": ["resume"], "pending": [],
      ])
    return hello["params"] ?? .null
  }

  private func answer(_ request: Value, seq: Int64, _ result: Value) async throws {
    try await server.send([
      "jsonrpc": "2.0", "seq": .integer(seq), "id": request["id"] ?? nil, "result": result,
    ])
  }

  @Test func whatOnlyWaitsWasNotSent() async throws {
    let client = try await open()
    try await client.notify("sent")
    _ = try await server.next()
    try await server.close(.noPong)
    let hello = try await server.next()
    #expect(hello["params"]?["sent"] == 3)
    #expect(hello["params"]?["received"] == 2)
    try await client.notify("waits")
    await server.loop.settle()
    #expect(try await restart()["sent"] == 3)
    #expect(try await server.next()["seq"] == 3)
    #expect(try await server.next() == ["jsonrpc": "2.0", "seq": 4, "method": "waits"])
    #expect(try await server.next()["method"] == "page.sync")
    await client.close()
  }

  @Test func whatIsGoneIsClosedAndWhatIsMissingIsShown() async throws {
    let client = try await open()
    #expect(try await restart()["sent"] == 2)
    let asked = try await server.next()
    #expect(asked["method"] == "page.sync")
    #expect(asked["seq"] == 3)
    #expect(asked["params"] == ["pages": ["p1", "p2"]])
    try await answer(
      asked, seq: 3,
      [
        "closed": ["p2", "p9"],
        "open": [
          Self.opening("p0", "native://0"), Self.opening("p1", "native://1"),
          Self.opening("p3", "native://no"), Self.opening("p4", "other://4"),
          Self.opening("p5", "native://5"),
        ],
      ])
    var calls: [String] = []
    for _ in 0..<4 { calls.append(try await shell.calls.take()) }
    #expect(calls.contains("close native://2 failed"))
    #expect(
      calls.filter { $0.hasPrefix("open") }
        == ["open native://0", "open native://no", "open native://5"])
    let told = try await server.next()
    #expect(told["method"] == "page.sync")
    #expect(told["params"]?["pages"] == ["p1", "p0", "p5"])
    #expect(told["params"]?["failed"] == ["p3", "p4"])
    // A server that asks for it again is not obeyed for ever.
    try await answer(
      told, seq: 4, ["closed": [], "open": [Self.opening("p3", "native://no")]])
    // What was shown again closes as all do.
    try await server.send([
      "jsonrpc": "2.0", "seq": 5, "id": 9, "method": "page.close",
      "params": ["page": "p5", "reason": "finished"],
    ])
    #expect(try await shell.calls.take() == "close native://5 finished")
    #expect(try await server.next()["id"] == 9)
    await client.close()
  }

  @Test func aPageThatClosesBeforeItsTurnIsNotShown() async throws {
    let client = try await open()
    _ = try await restart()
    let asked = try await server.next()
    try await answer(
      asked, seq: 3, ["closed": [], "open": [Self.opening("p3", "native://3")]])
    try await server.send([
      "jsonrpc": "2.0", "seq": 4, "id": 9, "method": "page.close",
      "params": ["page": "p3", "reason": "dismissed"],
    ])
    while try await server.next()["id"] != 9 {}
    await server.loop.settle()
    var isShown = false
    while let call = await shell.calls.next(within: .milliseconds(50)) {
      if call == "open native://3" { isShown = true }
      if call.hasPrefix("close native://3") { isShown = false }
    }
    #expect(!isShown)
    await client.close()
  }

  @Test func aComparisonIsNoCallOfTheApps() async throws {
    let client = try await open()
    _ = try await restart()
    #expect(try await server.next()["method"] == "page.sync")
    let states = await client.connectionStates()
    try await server.close(.noPong)
    async let hello = server.next()
    await server.loop.advance(by: .seconds(2))
    try await server.answer(
      try await hello,
      [
        "resumed": false, "reason": "unknown", "session": "s2", "client": "c2", "token": "t",
        "capabilities": ["resume"],
      ])
    for await state in states {
      guard case .begunAnew(let lost) = state else { continue }
      #expect(lost.calls.isEmpty)
      #expect(lost.pages.map(\.id) == ["p2", "p1"])
      break
    }
    // The ids may be those of other pages by now.
    try await client.notify("next")
    #expect(try await server.next()["method"] == "next")
    await client.close()
  }

  @Test func whoShowsNothingAsksNothing() async throws {
    let client = try await server.open(.init(name: "test", version: "1"), canResume: true)
    _ = try await restart(received: 0)
    try await client.notify("next")
    #expect(try await server.next()["method"] == "next")
    await client.close()
  }
}
