import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// Deep links with idempotency keys: each is followed once.
@Suite(.timeLimit(.minutes(1)))
struct LinkKeyTests {
  private static let link: ValueObject = ["uri": "native://shop", "key": "intent-1"]

  private let bridge: InMemoryBridge

  init() throws {
    let router = Router()
    try router.page("native://shop")
    bridge = InMemoryBridge(router, identify: { Identity(user: $0.token) })
  }

  private func deliver(
    _ client: WireClient, _ members: ValueObject = [:]
  ) async throws -> Value {
    var params = Self.link
    params.merge(members)
    return try await client.request("router.deliver", .object(params))
  }

  private var dispatch: SessionDispatch { bridge.sessionServer.dispatch }

  @Test func repeatedLinkIsFollowedOnce() async throws {
    let (client, _) = try await WireClient.open(bridge)
    #expect(try await deliver(client)["result"] == .null)
    try await client.call(
      "host", "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
    #expect(try await client.acceptPageOpen()["uri"] == "native://shop")
    // The result is that of the first request.
    #expect(try await deliver(client)["result"] == .null)
    #expect(try await client.hasNoPendingMessages())
  }

  @Test(
    arguments: [
      ["uri": "native://shop?x"], ["params": ["a": 1]], ["exts": ["a": 1]], ["style": "root"],
    ] as [ValueObject])
  func otherLinkWithSameKeyIsRejected(change: ValueObject) async throws {
    let (client, _) = try await WireClient.open(bridge)
    _ = try await deliver(client)
    #expect(try await deliver(client, change)["error"]?["code"] == 2409)
    // So is another call.
    let call: Value = ["uri": "action://x", "key": "intent-1"]
    #expect(try await client.callStatus("router.invoke", call) == "2409")
  }

  @Test func keyIsFreeAfterTenMinutes() async throws {
    let (client, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    #expect(try await deliver(client)["result"] == .null)
    _ = try await client.acceptPageOpen()
    try await bridge.server.advance(by: .seconds(601))
    #expect(try await deliver(client, ["style": "root"])["result"] == .null)
    _ = try await client.acceptPageOpen()
  }

  @Test func rejectedLinkDoesNotUseItsKey() async throws {
    let (client, _) = try await WireClient.open(bridge)
    #expect(try await deliver(client, ["uri": "shop"])["error"]?["code"] == -32602)
    #expect(try await deliver(client)["error"] == nil)
  }

  @Test(
    arguments: [.all, .user("anna"), .session("")] as [Audience])
  func repeatedPushIsFollowedOnce(audience: Audience) async throws {
    let (client, opened) = try await WireClient.open(
      bridge, ["token": "anna", "hosts": [["scheme": "native", "kind": "page"]]])
    var audience = audience
    if case .session = audience { audience = .session(opened["session"]?.string ?? "") }
    let link = DeepLink("native://shop", key: "k")
    for _ in 1...2 {
      #expect(try await dispatch.deliver(link, to: audience) == DeliveryReceipt(delivered: 1))
    }
    _ = try await client.acceptPageOpen()
    #expect(try await client.hasNoPendingMessages())
    let other = await #expect(throws: CallError.self) {
      try await dispatch.deliver(DeepLink("native://shop?x", key: "k"), to: audience)
    }
    #expect(other?.code == 2409)
    // Keys belong to the pusher.
    #expect(try await deliver(client, ["key": "k"])["result"] == .null)
    _ = try await client.acceptPageOpen()
  }

  @Test func waitingLinkKeepsItsKey() async throws {
    let link = DeepLink("native://shop", key: "k")
    for _ in 1...2 {
      #expect(
        try await dispatch.deliver(link, to: .user("anna")) == DeliveryReceipt(waiting: 1))
    }
    #expect(bridge.sessionServer.unclaimedLinks.withLock { $0.count } == 1)
    let (client, opened) = try await WireClient.open(
      bridge, ["token": "anna", "hosts": [["scheme": "native", "kind": "page"]]])
    _ = try await client.acceptPageOpen()
    // The session remembers the key, although the retry names another audience.
    let session = opened["session"]?.string ?? ""
    #expect(
      try await dispatch.deliver(link, to: .session(session)) == DeliveryReceipt(delivered: 1))
    #expect(try await client.hasNoPendingMessages())
  }

  @Test func linkForNewSessionOfSameUserIsNotRepeated() async throws {
    let hosts: ValueObject = [
      "token": "anna", "hosts": [["scheme": "native", "kind": "page"]],
    ]
    let (first, _) = try await WireClient.open(bridge, hosts)
    let link = DeepLink("native://shop", key: "k")
    try await dispatch.deliver(link, to: .user("anna"))
    _ = try await first.acceptPageOpen()
    let (second, _) = try await WireClient.open(bridge, hosts)
    #expect(
      try await dispatch.deliver(link, to: .user("anna")) == DeliveryReceipt(delivered: 1))
    #expect(try await second.hasNoPendingMessages())
  }
}
