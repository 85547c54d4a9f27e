import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import WayValues

/// What a bridge tells of itself, in its order.
@Suite(.timeLimit(.minutes(2)))
struct ObserverTests {
  private let events = Mailbox<BridgeNotice>()

  private func bridge() -> TestBridge {
    var observer = Observer()
    observer.tell = { [events] in events.put($0) }
    return TestBridge(Router(), observer: observer)
  }

  private func silent() async throws -> (client: String, method: String) {
    while true {
      if case .hostSilent(_, let client, let method) = try await events.take() {
        return (client, method)
      }
    }
  }

  @Test func aHostThatDoesNotAnswerIsTold() async throws {
    let bridge = bridge()
    let client = try await TestClient.connect(to: bridge, subprotocol: Bridge.subprotocol)
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
    let client = try await TestClient.connect(to: bridge)
    try await client.call(1, "$/ping", [:])
    try await client.call(
      2, "session.open", ["protocol": ["1.0"], "client": ["name": "shell", "version": "7"]])
    try await client.call(3, "session.close", [:])
    var told: [String] = []
    var sessions: [String] = []
    for _ in 0..<8 {
      switch try await events.take() {
      case .sessionOpened(let session):
        sessions.append(session)
        told.append("opened")
      case .clientJoined(let session, _, let name, let version):
        #expect(session == sessions.last)
        told.append("joined \(name ?? "-") \(version ?? "-")")
      case .clientLeft(let session, _, let code):
        told.append("left \(sessions.firstIndex(of: session) ?? -1) \(code ?? 0)")
      case .sessionClosed(let session):
        told.append("closed \(sessions.firstIndex(of: session) ?? -1)")
      default: told.append("?")
      }
    }
    #expect(
      told == [
        "opened", "joined - -", "left 0 0", "closed 0", "opened", "joined shell 7", "left 1 1000",
        "closed 1",
      ])
  }

  @Test func callsAreToldOnlyWhereTheyAreAskedFor() async throws {
    let bridge = bridge()
    let client = try await TestClient.connect(to: bridge)
    try await client.call(1, "$/ping", [:])
    _ = try await client.answer(1)
    try await client.close()
    for _ in 0..<4 {
      if case .call = try await events.take() { Issue.record("a call was told") }
    }
  }
}
