import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import WayValues

/// What a bridge tells of itself, in its order.
@Suite(.timeLimit(.minutes(2)))
struct EventSinkTests {
  private let events = Mailbox<(session: String, happening: Happening)>()

  private func bridge() -> InMemoryBridge {
    var observer = Observer()
    observer.tell = { [events] in events.put(($0, $1)) }
    return InMemoryBridge(Router(), observer: observer)
  }

  private func silent() async throws -> (client: String, method: String) {
    while true {
      if case .hostSilent(let client, let method) = try await events.take().happening {
        return (client, method)
      }
    }
  }

  @Test func aHostThatDoesNotAnswerIsTold() async throws {
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge, subprotocol: LoopSessions.subprotocol)
    try await client.call(
      1, "session.open", ["protocol": ["1.0"], "hosts": [["scheme": "native", "kind": "page"]]])
    let name = try await client.answer(1)["result"]?["client"]?.string
    try await client.call(2, "router.open", ["uri": "native://x"])
    _ = try await client.request("page.open")
    try await bridge.server.advance(by: .seconds(10))
    let opening = try await silent()
    #expect(opening == (name, "page.open"))
    try await client.call(3, "router.open", ["uri": "native://x"])
    try await client.reply(try await client.request("page.open"), .null)
    try await client.call(4, "navigation.finish", ["page": "p2"])
    _ = try await client.request("page.close")
    try await bridge.server.advance(by: .seconds(10))
    let closing = try await silent()
    #expect(closing == (name, "page.close"))
  }

  @Test func membersAreToldAsTheyComeAndGo() async throws {
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "$/ping", [:])
    try await client.call(
      2, "session.open", ["protocol": ["1.0"], "client": ["name": "shell", "version": "7"]])
    try await client.call(3, "session.close", [:])
    var told: [String] = []
    var sessions: [String] = []
    for _ in 0..<6 {
      let (session, happening) = try await events.take()
      if !sessions.contains(session) { sessions.append(session) }
      let number = sessions.firstIndex(of: session) ?? -1
      switch happening {
      case .joined(_, let name, let version, let isFirst):
        told.append("\(isFirst ? "opened" : "joined") \(number) \(name ?? "-") \(version ?? "-")")
      case .left(_, let code): told.append("left \(number) \(code ?? 0)")
      case .ended: told.append("closed \(number)")
      default: told.append("?")
      }
    }
    #expect(
      told == [
        "opened 0 - -", "opened 1 shell 7", "left 0 0", "closed 0", "left 1 1000", "closed 1",
      ])
  }

  @Test func callsAreToldOnlyWhereTheyAreAskedFor() async throws {
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "$/ping", [:])
    _ = try await client.answer(1)
    try await client.close()
    for _ in 0..<3 {
      if case .called = try await events.take().happening { Issue.record("a call was told") }
    }
  }
}
