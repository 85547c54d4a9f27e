import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Clients that lose their connection: cases that the transcripts do not cover.
@Suite(.timeLimit(.minutes(1)))
struct ResumeTests {
  @Test func removesClientAfterResumeTimeout() async throws {
    let client = try await SequencedClient(try InMemoryBridge.conformance())
    try await client.call(1, "router.invoke", ["uri": "action://echo"])
    _ = try await client.wire.response(1)
    try await client.disconnect()
    #expect(await client.bridge.sessionServer.totals().absentClients == 1)
    try await client.bridge.server.advance(by: .seconds(119))
    #expect(try await client.resume(after: 1)["resumed"] == true)
    try await client.disconnect()
    try await client.bridge.server.advance(by: .seconds(121))
    #expect(await client.bridge.sessionServer.totals().sessions == 0)
    #expect(try await client.resume(after: 1)["reason"] == "unknown")
  }

  @Test func unconfirmedClientExpiresAfterTenSeconds() async throws {
    let client = try await SequencedClient(try InMemoryBridge.conformance())
    try await client.disconnect()
    try await client.bridge.server.advance(by: .seconds(9))
    #expect(try await client.resume(after: 0)["resumed"] == true)
    try await client.disconnect()
    try await client.bridge.server.advance(by: .seconds(11))
    #expect(await client.bridge.sessionServer.totals().sessions == 0)
  }

  @Test func olderConnectionCannotReplaceNewerOne() async throws {
    let bridge = try InMemoryBridge.conformance()
    let client = try await SequencedClient(bridge)
    let token = await client.openResult["token"]
    let earlier = bridge.server.loop.nanoseconds
    try await bridge.server.advance(by: .milliseconds(1))
    let response = try await client.resume(after: 0)
    #expect(response["resumed"] == true)
    var handshake = Handshake()
    handshake.receivedAt = earlier
    let stuck = try await WireClient.connect(
      to: bridge, subprotocol: Handshake.sessionSubprotocol, from: handshake)
    try await stuck.call(
      "again", "session.resume",
      [
        "client": response["client"] ?? .null, "token": token ?? .null,
        "epoch": response["epoch"] ?? .null, "received": 0,
      ])
    #expect(try await stuck.nextCloseCode() == 4009)
    try await client.call(1, "$/ping", [:])
    #expect(try await client.wire.response(1)["result"] == .null)
  }

  @Test func longCallExtendsResumeTimeout() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (host, opened) = try await WireClient.open(
      bridge, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let client = try await SequencedClient(bridge, joining: opened)
    try await client.call(
      1, "router.invoke", ["uri": "action://toast", "deadlineMs": 300_000])
    let run = try await host.nextRequest("task.run")
    try await client.disconnect()
    try await bridge.server.advance(by: .seconds(200))
    try await host.respond(run, "late")
    await bridge.server.loop.settle()
    #expect(try await client.resume(after: 0)["resumed"] == true)
    #expect(try await client.wire.response(1)["result"] == "late")
  }

  @Test func discardsClientWhenOutboxIsFull() async throws {
    var limits = Limits()
    limits.maxOutboxMessages = 4
    let router = Router()
    let bridge = InMemoryBridge(router, limits: limits)
    let client = try await SequencedClient(bridge)
    try await client.call(1, "events.subscribe", ["topics": ["news"]])
    _ = try await client.wire.response(1)
    try await client.disconnect()
    for _ in 1...3 {
      try await bridge.sessionServer.dispatch.publish("news", 1, to: .all, retain: 0)
    }
    #expect(await bridge.sessionServer.totals().sessions == 1)
    try await bridge.sessionServer.dispatch.publish("news", 2, to: .all, retain: 0)
    await bridge.server.loop.settle()
    #expect(await bridge.sessionServer.totals().sessions == 0)
    #expect(bridge.loopSessions.resumableClients.discardedCount == 1)
    #expect(bridge.loopSessions.resumableClients.bytes == 0)
    #expect(try await client.resume(after: 1)["reason"] == "outbox")
  }

  @Test func discardsClientWithLargestOutboxFirst() async throws {
    var limits = Limits()
    limits.maxOutboxBytes = 2000
    let bridge = InMemoryBridge(Router(), limits: limits)
    let (large, small) = (try await SequencedClient(bridge), try await SequencedClient(bridge))
    for (client, topic) in [(large, "large"), (small, "small")] {
      try await client.call(1, "events.subscribe", ["topics": [.string(topic)]])
      _ = try await client.wire.response(1)
      try await client.disconnect()
    }
    try await bridge.sessionServer.dispatch.publish("small", "x", to: .all, retain: 0)
    try await bridge.sessionServer.dispatch.publish(
      "large", .string(String(repeating: "x", count: 1500)), to: .all, retain: 0)
    try await bridge.sessionServer.dispatch.publish("small", "y", to: .all, retain: 0)
    await bridge.server.loop.settle()
    #expect(bridge.loopSessions.resumableClients.bytes < 2000)
    #expect(bridge.loopSessions.resumableClients.discardedCount == 0)
    try await bridge.sessionServer.dispatch.publish(
      "small", .string(String(repeating: "y", count: 200)), to: .all, retain: 0)
    await bridge.server.loop.settle()
    #expect(try await large.resume(after: 1)["reason"] == "outbox")
    #expect(try await small.resume(after: 1)["resumed"] == true)
  }

  /// Each reading of the loop's clock takes as long as a walk may use of a turn.
  @Test func discardsManyClientsInSeveralTurns() async throws {
    var limits = Limits()
    limits.maxOutboxBytes = 6000
    let loop = MemoryLoop(readingTime: .nanoseconds(Int64(SessionWalkQueue<Int>.share)))
    let bridge = InMemoryBridge(Router(), limits: limits, loop: loop)
    let resumableClients = bridge.loopSessions.resumableClients
    let connected = try await SequencedClient(bridge)
    try await connected.call(1, "events.subscribe", ["topics": ["large"]])
    _ = try await connected.wire.response(1)
    for _ in 1...8 {
      let absent = try await SequencedClient(bridge)
      try await absent.call(1, "events.subscribe", ["topics": ["small"]])
      _ = try await absent.wire.response(1)
      try await absent.disconnect()
    }
    try await bridge.sessionServer.dispatch.publish(
      "small", .string(String(repeating: "x", count: 400)), to: .all, retain: 0)
    await loop.settle()
    #expect(resumableClients.discardedCount == 0)
    // The number of discarded clients in each turn.
    let counts = Locked<[Int]>([])
    @Sendable func observe() {
      counts.withLock { $0.append(resumableClients.discardedCount) }
      if resumableClients.discardedCount == 0 || resumableClients.exceedsLimit {
        loop.execute { observe() }
      }
    }
    loop.execute { observe() }
    try await bridge.sessionServer.dispatch.publish(
      "large", .string(String(repeating: "x", count: 3000)), to: .all, retain: 0)
    await loop.settle()
    let last = try #require(counts.withLock { $0 }.last)
    #expect(last > 2)
    #expect(Set(counts.withLock { $0 }) == Set(0...last))
  }

  @Test func unacknowledgedClientIsClosedAndCanResume() async throws {
    var limits = Limits()
    limits.maxOutboxMessages = 8
    let client = try await SequencedClient(InMemoryBridge(try makeEchoRouter(), limits: limits))
    for number: Int64 in 1...9 {
      try await client.call(.integer(number), "router.invoke", ["uri": "action://echo"])
    }
    for number: Int64 in 1...9 { _ = try await client.wire.response(.integer(number)) }
    #expect(try await client.wire.nextCloseCode() == 4201)
    #expect(try await client.resume(after: 9)["resumed"] == true)
  }

  private func makeEchoRouter() throws -> Router {
    let router = Router()
    try router.task("action://echo") { call in .object(call.params) }
    return router
  }

  @Test func keepsOnlyLatestProgressOfCall() async throws {
    let router = Router()
    let (steps, proceed) = (Mailbox<Void>(), Mailbox<Void>())
    try router.task("action://steps") { call async throws in
      for step in 1...3 {
        try await proceed.receive()
        call.reportProgress(.integer(Int64(step)))
        steps.put(())
      }
      try await proceed.receive()
      return "done"
    }
    let bridge = InMemoryBridge(router)
    let client = try await SequencedClient(bridge)
    try await client.call(1, "router.invoke", ["uri": "action://steps"])
    await bridge.server.loop.settle()
    try await client.disconnect()
    for _ in 1...3 {
      proceed.put(())
      try await steps.receive()
    }
    proceed.put(())
    await bridge.server.loop.settle()
    #expect(try await client.resume(after: 0)["resumed"] == true)
    let progress = try await client.wire.nextMessage()
    #expect(progress["params"] == ["id": 1, "value": 3])
    #expect(progress["seq"] == 1)
    let response = try await client.wire.nextMessage()
    #expect(response["result"] == "done")
    #expect(response["seq"] == 2)
  }

  @Test func rejectsResumeFromAnotherOrigin() async throws {
    let client = try await SequencedClient(InMemoryBridge(try makeEchoRouter()))
    try await client.disconnect()
    let error = try await client.resume(
      after: 0, from: Handshake(origin: "http://127.0.0.1:1", address: nil))
    #expect(error["code"] == 2403)
    #expect(error["data"]?["rule"] == "origin")
    #expect(try await client.resume(after: 0)["resumed"] == true)
  }

  @Test func abandonedSessionsMakeRoomForNewOnes() async throws {
    var limits = Limits()
    limits.maxSessions = 2
    let bridge = InMemoryBridge(try makeEchoRouter(), limits: limits)
    let (first, second) = (try await SequencedClient(bridge), try await SequencedClient(bridge))
    try await first.disconnect()
    try await bridge.server.advance(by: .seconds(1))
    try await second.disconnect()
    _ = try await SequencedClient(bridge)
    await bridge.server.loop.settle()
    #expect(try await second.resume(after: 0)["resumed"] == true)
    let rejected = try await first.resume(after: 0)
    #expect(rejected["code"] == 2503)
    // Before, no client could be removed to make room; now one can.
    try await second.disconnect()
    let last = try await SequencedClient(bridge).openResult
    #expect(last["session"] != nil)
  }

  @Test func onlySessionsWithoutConnectedClientsMakeRoom() async throws {
    var limits = Limits()
    limits.maxSessions = 2
    let bridge = InMemoryBridge(try makeEchoRouter(), limits: limits)
    let (first, second) = (try await SequencedClient(bridge), try await SequencedClient(bridge))
    let guest = try await SequencedClient(bridge, joining: first.openResult)
    try await first.disconnect()
    #expect(try await first.resume(after: 0)["resumed"] == true)
    for client in [first, second] { try await client.disconnect() }
    // A client of the first session is connected.
    let third = try await SequencedClient(bridge)
    #expect(try await second.resume(after: 0)["code"] == 2503)
    // The session whose clients were disconnected first ends first.
    try await guest.disconnect()
    try await third.disconnect()
    _ = try await SequencedClient(bridge)
    #expect(try await third.resume(after: 0)["resumed"] == true)
    #expect(try await first.resume(after: 0)["code"] == 2503)
  }

  @Test func keepsIdempotentResultForTenMinutes() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (host, opened) = try await WireClient.open(
      bridge, ["hosts": [["patterns": ["action://toast"], "kind": "task"]]])
    let (client, _) = try await WireClient.open(bridge, joining: opened)
    for (id, time) in [(1, 599), (2, 2), (3, 0)] as [(Int64, Int)] {
      try await client.call(.integer(id), "router.invoke", ["uri": "action://toast", "key": "k"])
      if id != 2 {
        try await host.respond(try await host.nextRequest("task.run"), .integer(id))
      }
      let expected: Value = id == 3 ? 3 : 1
      #expect(try await client.response(.integer(id))["result"] == expected)
      try await bridge.server.advance(by: .seconds(time))
    }
  }

  @Test func removesDisconnectedGuestWithoutPage() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (shell, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    var guests: [SequencedClient] = []
    for number in 1...2 {
      try await shell.call(.integer(Int64(number)), "router.open", ["uri": "native://walk/a"])
      let request = try await shell.nextRequest("page.open")
      try await shell.respond(request, nil)
      let page = request["params"]?["page"]?["id"] ?? .null
      let invited = try await shell.request("session.invite", ["page": page])
      guests.append(
        try await SequencedClient(
          bridge,
          joining: [
            "session": opened["session"] ?? .null,
            "invitation": invited["result"]?["token"] ?? .null,
          ]))
    }
    // One guest loses its connection before its page closes, the other after it.
    try await guests[1].disconnect()
    #expect(await bridge.sessionServer.totals().clients == 3)
    for page in ["p2", "p1"] as [Value] {
      try await shell.notify("navigation.finish", ["page": page])
      try await shell.respond(try await shell.nextRequest("page.close"), nil)
    }
    await bridge.server.loop.settle()
    #expect(await bridge.sessionServer.totals().clients == 2)
    try await guests[0].disconnect()
    #expect(await bridge.sessionServer.totals().clients == 1)
  }

  @Test func rejectsResumeByAnotherUser() async throws {
    let bridge = InMemoryBridge(try makeEchoRouter(), identify: { Identity(user: $0.token) })
    let client = try await SequencedClient(bridge, ["token": "anna"])
    try await client.disconnect()
    let response = try await client.resume(
      after: 0, from: Handshake(origin: nil, address: nil, token: "ben"))
    #expect(response["reason"] == "user")
    #expect(try await client.resume(after: 0)["resumed"] == true)
  }

  @Test func resumedGuestKeepsItsRights() async throws {
    let bridge = try InMemoryBridge.conformance()
    let (shell, opened) = try await WireClient.open(bridge)
    let invitation = try await shell.request("session.invite", ["routes": ["action://echo"]])
    let guest = try await SequencedClient(
      bridge,
      joining: [
        "session": opened["session"] ?? .null,
        "invitation": invitation["result"]?["token"] ?? .null,
      ])
    try await guest.disconnect()
    #expect(try await guest.resume(after: 0)["guest"] == true)
    try await guest.call(1, "router.invoke", ["uri": "conformance://moved"])
    #expect(try await guest.wire.response(1)["error"]?["data"]?["rule"] == "invitation")
    try await guest.call(2, "router.invoke", ["uri": "action://echo"])
    #expect(try await guest.wire.response(2)["result"] == [:])
  }

  /// Without a token, the app is not asked, and the client keeps its identity and its expiry. The app
  /// would identify the connection as one of a visitor, who has another group.
  private func resumeWithoutToken(
    as group: UTF8Key, isReserved: Bool
  ) async throws -> (client: SequencedClient, opened: Value, resume: () async throws -> Value) {
    let bridge = InMemoryBridge(
      Router(),
      identify: { handshake in
        guard handshake.token != nil else {
          Issue.record("the app was asked for the identity of no token")
          return Identity(groups: ["visitors", "operators"])
        }
        return Identity(groups: [group], expires: InMemoryBridge.startTime + 60_000)
      },
      rules: try CompiledPolicy([
        Policy.Rule("operators", .allow, ["*"], groups: ["operators"]),
        Policy.Rule("users", .allow, ["router.*"], groups: ["users"]),
      ]))
    let client = try await SequencedClient(bridge, from: Handshake(token: "a"))
    let opened = await client.openResult
    return (
      client, opened,
      {
        try await client.disconnect()
        var handshake = Handshake()
        handshake.isReserved = isReserved
        return try await client.resume(after: 0, from: handshake)
      }
    )
  }

  @Test(arguments: [("users", false), ("operators", false), ("operators", true)])
  func resumeWithoutTokenKeepsIdentity(group: String, isReserved: Bool) async throws {
    let (client, opened, resume) = try await resumeWithoutToken(
      as: UTF8Key(group), isReserved: isReserved)
    let resumed = try await resume()
    #expect(resumed["resumed"] == true)
    #expect(resumed["client"] == opened["client"])
    #expect(resumed["expiresAt"] == .integer(InMemoryBridge.startTime + 60_000))
    try await client.call(1, "router.routes", [:])
    #expect(try await client.wire.response(1)["error"] == nil)
    try await client.call(2, "session.list", [:])
    let code = try await client.wire.response(2)["error"]?["code"]
    #expect(code == (group == "operators" ? nil : 2403))
    try await client.bridge.server.advance(by: .seconds(61))
    #expect(try await resume()["code"] == 2401)
  }

  @Test func reservedConnectionIsForAdministratorsThatResumeWithoutToken() async throws {
    let (_, _, resume) = try await resumeWithoutToken(as: "users", isReserved: true)
    #expect(try await resume()["code"] == 2503)
  }
}
