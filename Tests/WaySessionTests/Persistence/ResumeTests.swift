import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// What becomes of clients whose connection is lost, beyond what the transcripts show.
@Suite(.timeLimit(.minutes(1)))
struct ResumeTests {
  @Test func afterItsTimeAClientIsGone() async throws {
    let client = try await SequencedClient(try InMemoryBridge.conformance())
    try await client.call(1, "router.invoke", ["uri": "action://echo"])
    _ = try await client.wire.answer(1)
    try await client.lose()
    #expect(await client.bridge.hub.census().absentClients == 1)
    try await client.bridge.server.advance(by: .seconds(119))
    #expect(try await client.resume(after: 1)["resumed"] == true)
    try await client.lose()
    try await client.bridge.server.advance(by: .seconds(121))
    #expect(await client.bridge.hub.census().sessions == 0)
    #expect(try await client.resume(after: 1)["reason"] == "unknown")
  }

  @Test func whoHasSentNothingHasTenSeconds() async throws {
    let client = try await SequencedClient(try InMemoryBridge.conformance())
    try await client.lose()
    try await client.bridge.server.advance(by: .seconds(9))
    #expect(try await client.resume(after: 0)["resumed"] == true)
    try await client.lose()
    try await client.bridge.server.advance(by: .seconds(11))
    #expect(await client.bridge.hub.census().sessions == 0)
  }

  @Test func whoCameFirstTakesNothingOverThoughItsLoopTookItLast() async throws {
    let bridge = try InMemoryBridge.conformance()
    let client = try await SequencedClient(bridge)
    let token = await client.hello["token"]
    let earlier = bridge.server.loop.nanoseconds
    try await bridge.server.advance(by: .milliseconds(1))
    let answer = try await client.resume(after: 0)
    #expect(answer["resumed"] == true)
    var handshake = Handshake()
    handshake.came = earlier
    let stuck = try await WireClient.connect(
      to: bridge, subprotocol: LoopSessions.subprotocol, from: handshake)
    try await stuck.call(
      "again", "session.resume",
      [
        "client": answer["client"] ?? .null, "token": token ?? .null,
        "epoch": answer["epoch"] ?? .null, "received": 0,
      ])
    #expect(try await stuck.end() == 4009)
    try await client.call(1, "$/ping", [:])
    #expect(try await client.wire.answer(1)["result"] == .null)
  }

  @Test func aCallWithALaterDeadlineKeepsItsCaller() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (host, hello) = try await WireClient.open(
      bridge, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let client = try await SequencedClient(bridge, joining: hello)
    try await client.call(
      1, "router.invoke", ["uri": "action://toast", "deadlineMs": 300_000])
    let run = try await host.request("task.run")
    try await client.lose()
    try await bridge.server.advance(by: .seconds(200))
    try await host.reply(run, "late")
    await bridge.server.loop.settle()
    #expect(try await client.resume(after: 0)["resumed"] == true)
    #expect(try await client.wire.answer(1)["result"] == "late")
  }

  @Test func whatFindsNoRoomInItsOutboxGivesAClientUp() async throws {
    var limits = Limits()
    limits.maxOutboxMessages = 4
    let router = Router()
    let bridge = InMemoryBridge(router, limits: limits)
    let client = try await SequencedClient(bridge)
    try await client.call(1, "events.subscribe", ["topics": ["news"]])
    _ = try await client.wire.answer(1)
    try await client.lose()
    for _ in 1...3 { try await bridge.hub.allServers.publish("news", 1, to: .all, retain: 0) }
    #expect(await bridge.hub.census().sessions == 1)
    try await bridge.hub.allServers.publish("news", 2, to: .all, retain: 0)
    await bridge.server.loop.settle()
    #expect(await bridge.hub.census().sessions == 0)
    #expect(bridge.loopHub.resumables.givenUpCount == 1)
    #expect(bridge.loopHub.resumables.bytes == 0)
    #expect(try await client.resume(after: 1)["reason"] == "outbox")
  }

  @Test func theOneForWhomMostIsKeptGoesFirst() async throws {
    var limits = Limits()
    limits.maxOutboxBytes = 2000
    let bridge = InMemoryBridge(Router(), limits: limits)
    let (large, small) = (try await SequencedClient(bridge), try await SequencedClient(bridge))
    for (client, topic) in [(large, "large"), (small, "small")] {
      try await client.call(1, "events.subscribe", ["topics": [.string(topic)]])
      _ = try await client.wire.answer(1)
      try await client.lose()
    }
    try await bridge.hub.allServers.publish("small", "x", to: .all, retain: 0)
    try await bridge.hub.allServers.publish(
      "large", .string(String(repeating: "x", count: 1500)), to: .all, retain: 0)
    try await bridge.hub.allServers.publish("small", "y", to: .all, retain: 0)
    await bridge.server.loop.settle()
    #expect(bridge.loopHub.resumables.bytes < 2000)
    #expect(bridge.loopHub.resumables.givenUpCount == 0)
    try await bridge.hub.allServers.publish(
      "small", .string(String(repeating: "y", count: 200)), to: .all, retain: 0)
    await bridge.server.loop.settle()
    #expect(try await large.resume(after: 1)["reason"] == "outbox")
    #expect(try await small.resume(after: 1)["resumed"] == true)
  }

  @Test func whoDoesNotAcknowledgeIsClosedAndMayResume() async throws {
    var limits = Limits()
    limits.maxOutboxMessages = 8
    let client = try await SequencedClient(InMemoryBridge(try echoing(), limits: limits))
    for number: Int64 in 1...9 {
      try await client.call(.integer(number), "router.invoke", ["uri": "action://echo"])
    }
    for number: Int64 in 1...9 { _ = try await client.wire.answer(.integer(number)) }
    #expect(try await client.wire.end() == 4201)
    #expect(try await client.resume(after: 9)["resumed"] == true)
  }

  private func echoing() throws -> Router {
    let router = Router()
    try router.task("action://echo") { call in .object(call.params) }
    return router
  }

  @Test func ofTheProgressOfACallTheLatestIsKept() async throws {
    let router = Router()
    let (steps, goOn) = (Mailbox<Void>(), Mailbox<Void>())
    try router.task("action://steps") { call async throws in
      for step in 1...3 {
        try await goOn.take()
        call.progress(.integer(Int64(step)))
        steps.put(())
      }
      try await goOn.take()
      return "done"
    }
    let bridge = InMemoryBridge(router)
    let client = try await SequencedClient(bridge)
    try await client.call(1, "router.invoke", ["uri": "action://steps"])
    await bridge.server.loop.settle()
    try await client.lose()
    for _ in 1...3 {
      goOn.put(())
      try await steps.take()
    }
    goOn.put(())
    await bridge.server.loop.settle()
    #expect(try await client.resume(after: 0)["resumed"] == true)
    let progress = try await client.wire.message()
    #expect(progress["params"] == ["id": 1, "value": 3])
    #expect(progress["seq"] == 1)
    let answer = try await client.wire.message()
    #expect(answer["result"] == "done")
    #expect(answer["seq"] == 2)
  }

  @Test func whoComesFromElsewhereCannotResume() async throws {
    let client = try await SequencedClient(InMemoryBridge(try echoing()))
    try await client.lose()
    let error = try await client.resume(
      after: 0, from: Handshake(origin: "http://127.0.0.1:1", address: nil))
    #expect(error["code"] == 2403)
    #expect(error["data"]?["rule"] == "origin")
    #expect(try await client.resume(after: 0)["resumed"] == true)
  }

  @Test func sessionsOfNobodyMakeRoomForOthers() async throws {
    var limits = Limits()
    limits.maxSessions = 2
    let bridge = InMemoryBridge(try echoing(), limits: limits)
    let (first, second) = (try await SequencedClient(bridge), try await SequencedClient(bridge))
    try await first.lose()
    try await bridge.server.advance(by: .seconds(1))
    try await second.lose()
    _ = try await SequencedClient(bridge)
    await bridge.server.loop.settle()
    #expect(try await second.resume(after: 0)["resumed"] == true)
    let refused = try await first.resume(after: 0)
    #expect(refused["code"] == 2503)
    // Nobody could make room then, and somebody can now.
    try await second.lose()
    let last = try await SequencedClient(bridge).hello
    #expect(last["session"] != nil)
  }

  @Test func aResultIsKeptForTenMinutes() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (host, hello) = try await WireClient.open(
      bridge, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let (client, _) = try await WireClient.open(bridge, joining: hello)
    for (id, time) in [(1, 599), (2, 2), (3, 0)] as [(Int64, Int)] {
      try await client.call(.integer(id), "router.invoke", ["uri": "action://toast", "key": "k"])
      if id != 2 {
        try await host.reply(try await host.request("task.run"), .integer(id))
      }
      let expected: Value = id == 3 ? 3 : 1
      #expect(try await client.answer(.integer(id))["result"] == expected)
      try await bridge.server.advance(by: .seconds(time))
    }
  }

  @Test func aGuestWhosePageIsGoneLeavesWithItsConnection() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (shell, hello) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    var guests: [SequencedClient] = []
    for number in 1...2 {
      try await shell.call(.integer(Int64(number)), "router.open", ["uri": "native://walk/a"])
      let asked = try await shell.request("page.open")
      try await shell.reply(asked, nil)
      let page = asked["params"]?["page"]?["id"] ?? .null
      let invited = try await shell.ask("session.invite", ["page": page])
      guests.append(
        try await SequencedClient(
          bridge,
          joining: [
            "session": hello["session"] ?? .null,
            "invitation": invited["result"]?["token"] ?? .null,
          ]))
    }
    // One loses its connection before its page closes, the other behind it.
    try await guests[1].lose()
    #expect(await bridge.hub.census().clients == 3)
    for page in ["p2", "p1"] as [Value] {
      try await shell.notify("navigation.finish", ["page": page])
      try await shell.reply(try await shell.request("page.close"), nil)
    }
    await bridge.server.loop.settle()
    #expect(await bridge.hub.census().clients == 2)
    try await guests[0].lose()
    #expect(await bridge.hub.census().clients == 1)
  }

  @Test func nobodyElseGoesOn() async throws {
    let bridge = InMemoryBridge(try echoing(), identify: { Identity(user: $0.token) })
    let client = try await SequencedClient(bridge, ["token": "anna"])
    try await client.lose()
    let answer = try await client.resume(
      after: 0, from: Handshake(origin: nil, address: nil, token: "ben"))
    #expect(answer["reason"] == "user")
    #expect(try await client.resume(after: 0)["resumed"] == true)
  }

  @Test func guestsResumeAsTheyWere() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (shell, hello) = try await WireClient.open(bridge)
    let invitation = try await shell.ask("session.invite", ["routes": ["action://echo"]])
    let guest = try await SequencedClient(
      bridge,
      joining: [
        "session": hello["session"] ?? .null,
        "invitation": invitation["result"]?["token"] ?? .null,
      ])
    try await guest.lose()
    #expect(try await guest.resume(after: 0)["guest"] == true)
    try await guest.call(1, "router.invoke", ["uri": "conformance://moved"])
    #expect(try await guest.wire.answer(1)["error"]?["data"]?["rule"] == "invitation")
    try await guest.call(2, "router.invoke", ["uri": "action://echo"])
    #expect(try await guest.wire.answer(2)["result"] == [:])
  }
}
