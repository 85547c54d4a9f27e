import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Deep links whose host has lost its connection, and others that are held.
@Suite(.timeLimit(.minutes(1)))
struct AbsentHostLinkTests {
  private static let native: ValueObject = ["hosts": [["scheme": "native", "kind": "page"]]]
  private static let flutter: ValueObject = ["hosts": [["scheme": "flutter", "kind": "page"]]]

  private let router = Router()
  private let bridge: InMemoryBridge

  init() throws {
    try router.page("native://shop")
    bridge = InMemoryBridge(router)
  }

  /// Opens a session with a host that numbers its messages, and another client in it.
  private func open(
    guestHosts: ValueObject = [:]
  ) async throws -> (host: SequencedClient, other: WireClient) {
    let host = try await SequencedClient(bridge, Self.native)
    try await host.call("ping", "$/ping", [:])
    _ = try await host.wire.response("ping")
    let (other, _) = try await WireClient.open(
      bridge, guestHosts, joining: await host.openResult)
    return (host, other)
  }

  private func deliver(_ client: WireClient, _ uri: String) async throws -> Value {
    try await client.request("router.deliver", ["uri": .string(uri)])["result"] ?? .null
  }

  @Test func linkWaitsForAbsentHost() async throws {
    let (host, other) = try await open()
    try await host.disconnect()
    #expect(try await deliver(other, "native://shop") == .null)
    try await bridge.server.advance(by: .seconds(60))
    #expect(try await host.resume(after: 1)["resumed"] == true)
    let request = try await host.wire.nextRequest("page.open")
    #expect(request["params"]?["page"]?["uri"] == "native://shop")
    try await host.respond(request, .null)
    #expect(try await other.request("navigation.stack")["result"]?["pages"]?.array?.count == 1)
  }

  @Test func linkSurvivesAbsenceOfItsHostDuringOpening() async throws {
    let (host, other) = try await open()
    #expect(try await deliver(other, "native://shop") == .null)
    _ = try await host.wire.nextRequest("page.open")
    try await host.disconnect()
    try await bridge.server.advance(by: .seconds(60))
    // The request got lost on the way.
    #expect(try await host.resume(after: 1)["resumed"] == true)
    try await host.respond(try await host.wire.nextRequest("page.open"), .null)
    #expect(try await other.request("navigation.stack")["result"]?["pages"]?.array?.count == 1)
    // It was followed once.
    try await host.call("ping", "$/ping", [:])
    #expect(try await host.wire.nextMessage()["id"] == "ping")
  }

  @Test(arguments: [false, true])
  func linkMovesToNextHostAfterFirstLeaves(wasAsked: Bool) async throws {
    let (host, other) = try await open()
    if wasAsked {
      _ = try await deliver(other, "native://shop")
      _ = try await host.wire.nextRequest("page.open")
    }
    try await host.disconnect()
    if !wasAsked { _ = try await deliver(other, "native://shop") }
    try await bridge.server.advance(by: .seconds(121))
    try await other.call(1, "host.register", .object(Self.native))
    #expect(try await other.acceptPageOpen()["uri"] == "native://shop")
    #expect(try await other.hasNoPendingMessages())
  }

  @Test func reloadedHostGetsTheLinkAgain() async throws {
    let (host, other) = try await open()
    _ = try await deliver(other, "native://shop")
    let request = try await host.wire.nextRequest("page.open")
    try await host.disconnect()
    let resumed = try await host.resume(after: request["seq"]?.integer ?? 0, reloaded: true)
    #expect(resumed["resumed"] == true)
    try await host.respond(try await host.wire.nextRequest("page.open"), .null)
    #expect(try await other.request("navigation.stack")["result"]?["pages"]?.array?.count == 1)
  }

  @Test func hostThatIsLostAgainAndAgainEndsTheLink() async throws {
    let (host, other) = try await open()
    _ = try await deliver(other, "native://shop")
    for _ in 1...DeepLinkQueue.maxAttempts {
      let request = try await host.wire.nextRequest("page.open")
      try await host.disconnect()
      let resumed = try await host.resume(
        after: request["seq"]?.integer ?? 0, reloaded: true)
      #expect(resumed["resumed"] == true)
    }
    try await host.call("ping", "$/ping", [:])
    #expect(try await host.wire.nextMessage()["id"] == "ping")
  }

  @Test(arguments: [false, true])
  func absentHostDoesNotBlockOtherLinks(wasAsked: Bool) async throws {
    let (host, other) = try await open(guestHosts: Self.flutter)
    if wasAsked {
      _ = try await deliver(other, "native://shop")
      _ = try await host.wire.nextRequest("page.open")
    }
    try await host.disconnect()
    if !wasAsked { _ = try await deliver(other, "native://shop") }
    #expect(try await deliver(other, "flutter://profile") == .null)
    #expect(try await other.acceptPageOpen()["uri"] == "flutter://profile")
  }

  @Test func heldLinkDoesNotBlockOtherLinks() async throws {
    let release = Mailbox<Bool>()
    router.intercept("hold", on: .routes(["native://shop"])) { _ in
      _ = await release.next(within: .seconds(60))
      return .next
    }
    let (host, other) = try await open()
    _ = try await deliver(other, "native://shop")
    _ = try await deliver(other, "native://list")
    await bridge.server.loop.settle()
    try await bridge.server.advance(by: PendingLinks.maxHold)
    let first = try await host.wire.nextRequest("page.open")
    #expect(first["params"]?["page"]?["uri"] == "native://list")
    try await host.respond(first, .null)
    release.put(true)
    let second = try await host.wire.nextRequest("page.open")
    #expect(second["params"]?["page"]?["uri"] == "native://shop")
  }

  @Test func linkForUserWaitsAgainWhenItsSessionsEnd() async throws {
    let users = InMemoryBridge(router, identify: { Identity(user: $0.token) })
    let phone = try await SequencedClient(
      users, ["token": "anna", "hosts": [["scheme": "native", "kind": "page"]]])
    try await phone.disconnect()
    let receipt = try await users.sessionServer.dispatch.deliver(
      DeepLink("native://shop"), to: .user("anna"))
    #expect(receipt == DeliveryReceipt(waiting: 1))
    try await users.server.advance(by: .seconds(121))
    let (next, _) = try await WireClient.open(
      users, ["token": "anna", "hosts": [["scheme": "native", "kind": "page"]]])
    #expect(try await next.acceptPageOpen()["uri"] == "native://shop")
  }

  @Test func linkOfUserIsFollowedOnceAlthoughAnotherSessionEnds() async throws {
    let users = InMemoryBridge(router, identify: { Identity(user: $0.token) })
    let members: ValueObject = [
      "token": "anna", "hosts": [["scheme": "native", "kind": "page"]],
    ]
    let phone = try await SequencedClient(users, members)
    let (desk, _) = try await WireClient.open(users, members)
    try await phone.disconnect()
    let receipt = try await users.sessionServer.dispatch.deliver(
      DeepLink("native://shop"), to: .user("anna"))
    #expect(receipt == DeliveryReceipt(delivered: 1, waiting: 1))
    #expect(try await desk.acceptPageOpen()["uri"] == "native://shop")
    try await users.server.advance(by: .seconds(121))
    #expect(try await desk.hasNoPendingMessages())
  }
}
