import TestSupport
import Testing
import WayRouting
import WayValues

@testable import WaySession

/// Pages that the app opens in its sessions.
@Suite(.timeLimit(.minutes(1)))
struct PushedPageTests {
  private let bridge: InMemoryBridge

  init() throws {
    bridge = try .withOffers()
  }

  private func openShell(_ user: Value) async throws -> (client: WireClient, opened: Value) {
    try await WireClient.open(
      bridge, ["token": user, "hosts": [["scheme": "native", "kind": "page"]]])
  }

  private func open(
    _ uri: String, in audience: Audience, _ params: ValueObject = [:]
  ) -> Task<[Delivery<OpenedPage>], Never> {
    let bridge = bridge.sessionServer
    return Task {
      await bridge.open(
        uri, params, exts: ["animated": false], style: .present, in: audience,
        timeout: .seconds(3))
    }
  }

  @Test func opensPageInEachSessionAndReturnsOutcome() async throws {
    let (anna, annaOpened) = try await openShell("anna")
    let (ben, benOpened) = try await openShell("ben")
    let opening = open("native://offer/7", in: .all, ["pick": true])
    let request = try await anna.nextMessage()
    let page = try #require(request["params"]?["page"])
    #expect(page["uri"] == "native://offer/7")
    #expect(page["params"] == ["id": "7", "pick": true])
    #expect(page["exts"] == ["animated": false])
    try await anna.respond(request, .null)
    try await ben.reject(try await ben.nextMessage(), 1)
    let deliveries = await opening.value
    #expect(deliveries.count == 2)
    let shown = try #require(
      try deliveries.first { .string($0.session) == annaOpened["session"] }?.result.get())
    #expect(shown.page.map(Value.string) == page["id"])
    let rejected = try #require(
      deliveries.first { .string($0.session) == benOpened["session"] }?.result)
    #expect(throws: CallError.self) { try rejected.get() }
    try await anna.call(
      1, "navigation.finish", ["page": page["id"] ?? .null, "result": ["data": "bought"]])
    #expect(try await shown.outcome() == .finished(data: "bought"))
  }

  @Test func runsTaskInEachSession() async throws {
    let (_, _) = try await openShell("anna")
    let deliveries = await open("action://add", in: .user("anna"), ["n": 1]).value
    let done = try #require(try deliveries.first?.result.get())
    #expect(done.page == nil)
    #expect(try await done.outcome() == .finished(data: true))
  }

  @Test func progressDoesNotEndTask() async throws {
    try bridge.router.task("action://slow") { call in
      call.reportProgress(["opened": ["page": "p1"]])
      return await call.navigator.canOpen("action://add") ? "done" : "lost"
    }
    _ = try await openShell("anna")
    let done = try #require(try await open("action://slow", in: .all).value.first?.result.get())
    #expect(done.page == nil)
    #expect(try await done.outcome() == .finished(data: "done"))
  }

  @Test func closingPageCancelsIt() async throws {
    let (anna, _) = try await openShell("anna")
    let opening = open("native://offer/7", in: .all)
    try await anna.respond(try await anna.nextMessage(), .null)
    let shown = try #require(try await opening.value.first?.result.get())
    shown.close()
    let close = try await anna.nextMessage()
    #expect(close["method"] == "page.close")
    #expect(close["params"]?["reason"] == "cancelled")
    #expect(try await shown.outcome() == .cancelled())
    shown.close()
  }

  @Test(arguments: [("native://offer/7", 2408), ("native://none", 2504), ("flutter://x", 2404)])
  func failsWhenPageIsNotShown(uri: String, code: Int) async throws {
    try bridge.router.page("native://none", PageHandler(open: { _, _ in }, close: { _, _, _ in }))
    try bridge.router.handle("native://none", with: .hosted)
    let host: Value = [["patterns": ["native://offer/:id"], "kind": "page"]]
    let (anna, _) = try await WireClient.open(bridge, ["hosts": host])
    let opening = open(uri, in: .all)
    if code == 2408 {
      _ = try await anna.nextMessage()
      await bridge.server.loop.advance(by: .seconds(3))
    }
    guard case .failure(let error)? = await opening.value.first?.result else {
      return #expect(Bool(false), "the page was opened")
    }
    #expect(error.code == code)
  }

  @Test func cancellingBeforePageIsShownCancelsRequest() async throws {
    let (anna, _) = try await openShell("anna")
    let opening = open("native://offer/7", in: .all)
    let request = try await anna.nextMessage()
    opening.cancel()
    let cancel = try await anna.nextMessage()
    #expect(cancel["method"] == "$/cancelRequest")
    #expect(cancel["params"] == ["id": request["id"] ?? .null])
    guard case .failure(let error)? = await opening.value.first?.result else {
      return #expect(Bool(false), "the page was opened")
    }
    #expect(error.code == -32800)
  }

  @Test func opensPageOnBehalfOfClient() async throws {
    let (anna, opened) = try await openShell("anna")
    let first = open("native://offer/1", in: .all)
    let request = try await anna.nextMessage()
    try await anna.respond(request, .null)
    _ = await first.value
    let page = request["params"]?["page"]?["id"] ?? .null
    let (_, inside) = try await WireClient.open(bridge, ["page": page], joining: opened)
    let session = try #require(opened["session"]?.string)
    let name = try #require(inside["client"]?.string)
    let second = open("native://offer/2", in: .client(name, session: session))
    let next = try await anna.nextMessage()
    #expect(next["params"]?["page"]?["opener"] == page)
    try await anna.respond(next, .null)
    #expect(await second.value.count == 1)
    let undelivered = await open("native://offer/2", in: .client("c-none", session: session)).value
    guard case .failure(let error)? = undelivered.first?.result else {
      return #expect(Bool(false), "there is no such client")
    }
    #expect(error.code == 2504)
  }
}
