import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// What clients learn about one another.
@Suite(.timeLimit(.minutes(1)))
struct PresenceTests {
  @Test func aClientDeniedTheRequestLearnsOnlyIdentifiers() async throws {
    let bridge = InMemoryBridge(
      Router(), identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([
        Policy.Rule("all", .allow, ["*"]),
        Policy.Rule("others", .deny, ["session.clients"], subjects: ["other"]),
      ]))
    let (shell, opened) = try await WireClient.open(bridge, ["token": "shell"])
    let (other, _) = try await WireClient.open(bridge, ["token": "other"], joining: opened)
    for client in [shell, other] { try await client.subscribe("session.*") }
    let (page, pageOpened) = try await WireClient.open(
      bridge, ["token": "page", "client": ["name": "shop", "version": "2", "platform": "web"]],
      joining: opened)
    let (session, id) = (opened["session"] ?? .null, pageOpened["client"] ?? .null)
    #expect(
      try await shell.nextEvent()["data"]
        == [
          "session": session, "client": id, "name": "shop", "version": "2", "platform": "web",
          "user": "page",
        ])
    #expect(try await other.nextEvent()["data"] == ["session": session, "client": id])
    #expect(try await other.callStatus("session.clients", [:]) == "others")
    try await page.close()
    for client in [shell, other] {
      let event = try await client.nextEvent()
      #expect(event["topic"] == "session.left")
      #expect(event["data"] == ["session": session, "client": id])
    }
  }

  /// Applies the events to a list that was requested after the subscription, and compares the list
  /// with a new one after each change.
  @Test func theEventsAfterTheListLeadToTheNextList() async throws {
    let bridge = InMemoryBridge(Router())
    let (shell, opened) = try await WireClient.open(bridge)
    try await shell.subscribe("session.*")
    var known = try await clients(seenBy: shell)
    var guests: [(client: WireClient, opened: Value)] = []
    for step in 0..<12 {
      switch step % 4 {
      case 0, 1: guests.append(try await WireClient.open(bridge, joining: opened))
      default: try await guests.removeFirst().client.close()
      }
      let event = try await shell.nextEvent()
      let id = try #require(event["data"]?["client"]?.string)
      if event["topic"] == "session.joined" {
        known.append(id)
      } else {
        known.removeAll { $0 == id }
      }
      #expect(try await clients(seenBy: shell) == known)
    }
    #expect(known.count == 1)
  }

  private func clients(seenBy client: WireClient) async throws -> [String] {
    let result = try await client.request("session.clients", [:])["result"]
    return result?["clients"]?.array?.compactMap { $0["client"]?.string } ?? []
  }
}
