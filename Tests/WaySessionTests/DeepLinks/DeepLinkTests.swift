import TestSupport
import Testing
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// Deep links.
@Suite(.timeLimit(.minutes(1)))
struct DeepLinkTests {
  private let router = Router()

  private static let legacyLinks: [(Value, String)] = [
    (
      ["action": "order", "action_url": "http://x.example/a?b=c&d"],
      "native://shop?from=http://x.example/a?b%3Dc%26d&b=c&d="
    ),
    (
      ["action": "offers", "action_url": "x:?sort=price&q=a+b&q=%26#f", "params": ["n": 1]],
      "native://shop?sort=price&of=all&q=a%20b&q=%26"
    ),
    (["action": "offers", "action_url": "x:no/query"], "native://shop?sort=name&of=all"),
    (["action": "offers"], "native://shop?sort=name&of=all"),
    (["action": "web", "action_url": "native://shop?web"], "native://shop?web"),
    (["action": "unknown", "action_url": "native://shop?unknown"], "native://shop?unknown"),
  ]

  private static let invalidLinks: [(Value, Int64)] = [
    ([:], -32602), (["uri": "no uri"], -32602), (["uri": "relative/x"], -32602),
    (["uri": 7], -32602), (["action": "unknown"], 2404), (["action": "order"], 2422),
    (["action": 7], -32602),
    (["action": "web", "action_url": "::"], -32602),
    (["action": "offers", "action_url": "no url"], -32602),
    (["action": "offers", "action_url": "x:?a=%FF"], 2422),
    (["action": "web", "action_url": "native://shop", "params": 7], -32602),
    (["action": "web", "action_url": "native://shop", "uri": "native://shop"], -32602),
    (["uri": "native://shop", "action_url": "native://shop"], -32602),
    (["uri": "native://shop", "style": "pusch"], -32602),
    (["uri": "native://shop", "exts": 7], -32602),
    (["uri": "native://shop", "key": ""], -32602),
    (["uri": "native://shop", "key": .string(String(repeating: "k", count: 129))], -32602),
  ]

  /// Returns a bridge with a table that has a page with parents, and the actions of an older
  /// server.
  private func bridge(limits: Limits = Limits()) throws -> InMemoryBridge {
    let table: Value = [
      "version": "1",
      "routes": [
        ["name": "shop", "pattern": "native://shop", "kind": "page"],
        ["name": "orders", "pattern": "native://orders/:customer", "kind": "page"],
        [
          "name": "order", "pattern": "native://order/:customer/:id", "kind": "page",
          "parents": ["native://shop", "native://orders/:customer"],
        ],
      ],
      "actions": [
        "order": "native://shop?from=:action_url", "web": nil,
        "offers": "native://shop?sort=name&of=all",
      ],
    ]
    try RouteTable(parsing: table).apply(to: router)
    return InMemoryBridge(router, limits: limits)
  }

  /// Accepts the next page request and returns the page's URI.
  private func acceptPageOpen(_ client: WireClient) async throws -> String? {
    let open = try await client.nextRequest("page.open")
    try await client.respond(open, .null)
    return open["params"]?["page"]?["uri"]?.string
  }

  private func registerHost(_ client: WireClient, _ schemes: String...) async throws {
    let hosts = schemes.map { Value.object(["scheme": .string($0), "kind": "page"]) }
    try await client.call("host", "host.register", ["hosts": .array(hosts)])
  }

  @Test func waitsForHostAndOpensParentPages() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await client.call(1, "router.deliver", ["uri": "native://order/anna/7"])
    #expect(try await client.response(1)["result"] == .null)
    try await registerHost(client, "native")
    #expect(try await acceptPageOpen(client) == "native://shop")
    #expect(try await acceptPageOpen(client) == "native://orders/anna")
    #expect(try await acceptPageOpen(client) == "native://order/anna/7")
  }

  @Test func opensDeepLinksInOrder() async throws {
    let client = try await WireClient.connect(to: bridge())
    for number in 1...3 {
      try await client.call(
        .integer(Int64(number)), "router.deliver",
        ["uri": .string("native://orders/\(number)"), "params": ["n": .integer(Int64(number))]])
    }
    try await registerHost(client, "native")
    for number in 1...3 { #expect(try await acceptPageOpen(client) == "native://orders/\(number)") }
  }

  @Test func linkWithoutHostDoesNotBlockOthers() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "flutter")
    try await client.call(1, "router.deliver", ["uri": "native://shop"])
    try await client.call(2, "router.deliver", ["uri": "flutter://profile"])
    #expect(try await acceptPageOpen(client) == "flutter://profile")
    try await registerHost(client, "native")
    #expect(try await acceptPageOpen(client) == "native://shop")
  }

  @Test func skipsParentThatIsOpen() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "native")
    try await client.call(1, "router.open", ["uri": "native://shop"])
    #expect(try await acceptPageOpen(client) == "native://shop")
    try await client.call(2, "router.deliver", ["uri": "native://order/bob/1"])
    #expect(try await acceptPageOpen(client) == "native://orders/bob")
    #expect(try await acceptPageOpen(client) == "native://order/bob/1")
  }

  @Test func opensPageWhenParentIsRejected() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "native")
    try await client.call(2, "router.deliver", ["uri": "native://order/bob/1"])
    let first = try await client.nextRequest("page.open")
    try await client.reject(first, 7, "no shop today")
    #expect(try await acceptPageOpen(client) == "native://orders/bob")
    #expect(try await acceptPageOpen(client) == "native://order/bob/1")
  }

  @Test(arguments: legacyLinks)
  func acceptsLegacyLinkFormat(params: Value, uri: String) async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "native")
    try await client.call(1, "router.deliver", params)
    let shown = try await acceptPageOpen(client)
    #expect(shown == uri)
  }

  @Test func legacyParamsOverrideQuery() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "native")
    try await client.call(
      1, "router.deliver",
      [
        "action": "offers", "action_url": "?sort=price&n=1", "params": ["n": 2, "of": "one"],
      ])
    let page = try await client.acceptPageOpen()
    #expect(page["params"] == ["sort": "price", "of": "one", "n": 2])
  }

  @Test func rejectsDotSegmentInParentURI() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "native")
    try await client.subscribe("route.failed")
    try await client.call(
      1, "router.deliver", ["uri": "native://order/anna/7", "params": ["customer": ".."]])
    let event = try await client.nextRequest("event")["params"]?["data"]
    #expect(event?["code"] == 2422)
    #expect(try await acceptPageOpen(client) == "native://order/anna/7")
  }

  @Test(arguments: invalidLinks)
  func rejectsInvalidDeepLink(params: Value, code: Int64) async throws {
    let client = try await WireClient.connect(to: bridge())
    try await client.call(1, "router.deliver", params)
    #expect(try await client.response(1)["error"]?["code"]?.integer == code)
  }

  @Test func limitsPendingDeepLinks() async throws {
    var limits = Limits()
    limits.maxLinks = 2
    let client = try await WireClient.connect(to: bridge(limits: limits))
    for number in 1...3 {
      try await client.call(.integer(Int64(number)), "router.deliver", ["uri": "native://shop"])
    }
    #expect(try await client.response(2)["result"] == .null)
    #expect(try await client.response(3)["error"]?["code"] == 2429)
  }

  @Test(
    arguments: [
      ["uri": "native://shop"], ["action": "web", "action_url": "native://shop"],
    ] as [ValueObject])
  func passesStyleAndExtensions(link: ValueObject) async throws {
    let client = try await WireClient.connect(to: bridge())
    try await registerHost(client, "native")
    var params = link
    params.merge(["style": "root", "exts": ["animated": false]])
    try await client.call(1, "router.deliver", .object(params))
    #expect(try await client.response(1)["result"] == .null)
    let page = try await client.acceptPageOpen()
    #expect(page["style"] == "root")
    #expect(page["exts"] == ["animated": false])
  }

  @Test func deepLinkOfAppWaitsForSession() async throws {
    let bridge = try bridge()
    let receipt = try await bridge.sessionServer.dispatch.deliver(
      DeepLink("native://orders/9"), to: .all)
    #expect(receipt == DeliveryReceipt(waiting: 1))
    let client = try await WireClient.connect(to: bridge)
    try await registerHost(client, "native")
    #expect(try await acceptPageOpen(client) == "native://orders/9")
    let second = try await WireClient.connect(to: bridge)
    try await registerHost(second, "native")
    _ = try await second.response("host")
    try await second.call(1, "navigation.stack", [:])
    #expect(try await second.response(1)["result"]?["pages"] == [])
    let others = try await bridge.sessionServer.dispatch.deliver(
      DeepLink("native://shop"), to: .all)
    #expect(others == DeliveryReceipt(delivered: 2))
    #expect(try await acceptPageOpen(client) == "native://shop")
    #expect(try await acceptPageOpen(second) == "native://shop")
  }

  @Test func appReceivesDeliveryErrors() async throws {
    var limits = Limits()
    limits.maxLinks = 1
    let bridge = try bridge(limits: limits)
    await #expect(throws: CallError.self) {
      try await bridge.sessionServer.dispatch.deliver(DeepLink("nothing"), to: .all)
    }
    try await bridge.sessionServer.dispatch.deliver(
      DeepLink("native://shop"), to: .user("anna"))
    let error = await #expect(throws: CallError.self) {
      try await bridge.sessionServer.dispatch.deliver(
        DeepLink("native://shop"), to: .user("anna"))
    }
    #expect(error?.code == 2429)
    // The links for one user do not use up the room of another.
    try await bridge.sessionServer.dispatch.deliver(
      DeepLink("native://shop"), to: .user("ben"))
  }

  @Test func linkForUnknownSessionDoesNotWait() async throws {
    let bridge = try bridge()
    let receipt = try await bridge.sessionServer.dispatch.deliver(
      DeepLink("native://shop"), to: .session("s-none"))
    #expect(receipt == DeliveryReceipt(unreachable: 1))
    #expect(bridge.sessionServer.unclaimedLinks.withLock { $0.count } == 0)
  }

  @Test func unclaimedLinkExpiresAfterADay() async throws {
    let bridge = try bridge()
    try await bridge.sessionServer.dispatch.deliver(DeepLink("native://shop"), to: .all)
    try await bridge.server.advance(by: .seconds(86_400))
    let shell = try await WireClient.connect(to: bridge, hosting: ["native"])
    #expect(try await shell.hasNoPendingMessages())
  }

  @Test func earlyLinkReachesFirstSessionWithHost() async throws {
    let bridge = try bridge()
    try await bridge.sessionServer.dispatch.deliver(DeepLink("native://shop"), to: .all)
    let pinging = try await WireClient.connect(to: bridge)
    #expect(try await pinging.hasNoPendingMessages())
    // Delivered while the only client is one without a host.
    try await bridge.sessionServer.dispatch.deliver(
      DeepLink("native://orders/anna"), to: .all)
    let other = try await WireClient.connect(to: bridge, hosting: ["flutter"])
    #expect(try await other.hasNoPendingMessages())
    let shell = try await WireClient.connect(to: bridge)
    try await registerHost(shell, "native")
    #expect(try await acceptPageOpen(shell) == "native://shop")
    #expect(try await acceptPageOpen(shell) == "native://orders/anna")
  }

  @Test func requeuesUnopenedLinkWhenSessionEnds() async throws {
    let bridge = try bridge()
    try await bridge.sessionServer.dispatch.deliver(DeepLink("native://shop"), to: .all)
    let first = try await WireClient.connect(to: bridge)
    try await registerHost(first, "native")
    _ = try await first.nextRequest("page.open")
    let waiting = try await WireClient.connect(to: bridge)
    try await registerHost(waiting, "native")
    _ = try await waiting.response("host")
    try await first.close()
    #expect(try await acceptPageOpen(waiting) == "native://shop")
    #expect(try await waiting.hasNoPendingMessages())
  }

  @Test func keepsLinkForLaterSessionWhenQueueIsFull() async throws {
    var limits = Limits()
    limits.maxLinks = 1
    let bridge = try bridge(limits: limits)
    try await bridge.sessionServer.dispatch.deliver(DeepLink("native://shop"), to: .all)
    let full = try await WireClient.connect(to: bridge)
    try await full.call(1, "router.deliver", ["uri": "native://orders/anna"])
    _ = try await full.response(1)
    // Its own link has no host, so that another one exceeds the limit.
    try await full.call(
      2, "host.register", ["hosts": [["patterns": ["native://shop"], "kind": "page"]]])
    _ = try await full.response(2)
    await bridge.server.loop.settle()
    let shell = try await WireClient.connect(to: bridge)
    try await registerHost(shell, "native")
    #expect(try await acceptPageOpen(shell) == "native://shop")
  }
}
