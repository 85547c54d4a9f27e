import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The events of a bridge, in order.
@Suite(.timeLimit(.minutes(2)))
struct EventSinkTests {
  private let sinkEvents = Mailbox<(session: String, event: SessionEvent)>()

  private func bridge() -> InMemoryBridge {
    var observer = EventSink()
    observer.emit = { [sinkEvents] session, event, _ in sinkEvents.put((session, event)) }
    return InMemoryBridge(Router(), observer: observer)
  }

  private func nextHostTimeout() async throws -> (client: String, method: String) {
    while true {
      if case .hostTimedOut(let client, let method) = try await sinkEvents.receive().event {
        return (client, method)
      }
    }
  }

  @Test func reportsHostTimeout() async throws {
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await client.call(
      1, "session.open", ["protocol": ["1.0"], "hosts": [["scheme": "native", "kind": "page"]]])
    let name = try await client.response(1)["result"]?["client"]?.string
    try await client.call(2, "router.open", ["uri": "native://x"])
    _ = try await client.nextRequest("page.open")
    try await bridge.server.advance(by: .seconds(10))
    let opening = try await nextHostTimeout()
    #expect(opening == (name, "page.open"))
    try await client.call(3, "router.open", ["uri": "native://x"])
    try await client.respond(try await client.nextRequest("page.open"), .null)
    try await client.call(4, "navigation.finish", ["page": "p2"])
    _ = try await client.nextRequest("page.close")
    try await bridge.server.advance(by: .seconds(10))
    let closing = try await nextHostTimeout()
    #expect(closing == (name, "page.close"))
  }

  @Test func reportsClientsThatJoinAndLeave() async throws {
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "$/ping", [:])
    try await client.call(
      2, "session.open", ["protocol": ["1.0"], "client": ["name": "shell", "version": "7"]])
    try await client.call(3, "session.close", [:])
    var summaries: [String] = []
    var sessions: [String] = []
    for _ in 0..<6 {
      let (session, event) = try await sinkEvents.receive()
      if !sessions.contains(session) { sessions.append(session) }
      let number = sessions.firstIndex(of: session) ?? -1
      switch event {
      case .joined(let client, let isFirst):
        summaries.append(
          "\(isFirst ? "opened" : "joined") \(number) \(client.name ?? "-") \(client.version ?? "-")"
        )
      case .left(_, let code): summaries.append("left \(number) \(code ?? 0)")
      case .ended: summaries.append("closed \(number)")
      default: summaries.append("?")
      }
    }
    #expect(
      summaries == [
        "opened 0 - -", "opened 1 shell 7", "left 0 0", "closed 0", "left 1 1000", "closed 1",
      ])
  }

  @Test func reportsCallsOnlyOnRequest() async throws {
    let bridge = bridge()
    let client = try await WireClient.connect(to: bridge)
    try await client.call(1, "$/ping", [:])
    _ = try await client.response(1)
    try await client.close()
    for _ in 0..<3 {
      if case .callEnded = try await sinkEvents.receive().event {
        Issue.record("a call was reported")
      }
    }
  }
}
