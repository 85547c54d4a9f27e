import TestSupport
import Testing
import WayRouting
import WaySession
import WayTable
import WayValues

/// Links from outside of the app.
@Suite(.timeLimit(.minutes(1)))
struct DeepLinkTests {
  private let router = Router()

  private static let olderShapes: [(Value, String)] = [
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

  private static let noLinks: [(Value, Int64)] = [
    ([:], -32602), (["uri": "no uri"], -32602), (["uri": "relative/x"], -32602),
    (["uri": 7], -32602), (["action": "unknown"], 2404), (["action": "order"], 2422),
    (["action": 7], -32602),
    (["action": "web", "action_url": "::"], -32602),
    (["action": "offers", "action_url": "no url"], -32602),
    (["action": "offers", "action_url": "x:?a=%FF"], 2422),
    (["action": "web", "action_url": "native://shop", "params": 7], -32602),
  ]

  /// A table with a page that has parents, and with the actions of an older server.
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

  /// Shows the next page that is asked for and gives its URI.
  private func show(_ client: WireClient) async throws -> String? {
    let open = try await client.request("page.open")
    try await client.reply(open, .null)
    return open["params"]?["page"]?["uri"]?.string
  }

  private func host(_ client: WireClient, _ schemes: String...) async throws {
    let hosts = schemes.map { Value.object(["scheme": .string($0), "kind": "page"]) }
    try await client.call("host", "host.register", ["hosts": .list(hosts)])
  }

  @Test func aLinkWaitsForAHostAndBuildsThePagesUnderIt() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await client.call(1, "router.deliver", ["uri": "native://order/anna/7"])
    #expect(try await client.answer(1)["result"] == .null)
    try await host(client, "native")
    #expect(try await show(client) == "native://shop")
    #expect(try await show(client) == "native://orders/anna")
    #expect(try await show(client) == "native://order/anna/7")
  }

  @Test func linksAreFollowedInTheOrderInWhichTheyCame() async throws {
    let client = try await WireClient.connect(to: bridge())
    for number in 1...3 {
      try await client.call(
        .integer(Int64(number)), "router.deliver",
        ["uri": .string("native://orders/\(number)"), "params": ["n": .integer(Int64(number))]])
    }
    try await host(client, "native")
    for number in 1...3 { #expect(try await show(client) == "native://orders/\(number)") }
  }

  @Test func aLinkWithoutItsHostDoesNotHoldUpOthers() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await host(client, "flutter")
    try await client.call(1, "router.deliver", ["uri": "native://shop"])
    try await client.call(2, "router.deliver", ["uri": "flutter://profile"])
    #expect(try await show(client) == "flutter://profile")
    try await host(client, "native")
    #expect(try await show(client) == "native://shop")
  }

  @Test func aParentThatIsOnTheStackIsNotOpenedAgain() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await host(client, "native")
    try await client.call(1, "router.open", ["uri": "native://shop"])
    #expect(try await show(client) == "native://shop")
    try await client.call(2, "router.deliver", ["uri": "native://order/bob/1"])
    #expect(try await show(client) == "native://orders/bob")
    #expect(try await show(client) == "native://order/bob/1")
  }

  @Test func aParentThatIsRefusedDoesNotCostThePage() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await host(client, "native")
    try await client.call(2, "router.deliver", ["uri": "native://order/bob/1"])
    let first = try await client.request("page.open")
    try await client.refuse(first, 7, "no shop today")
    #expect(try await show(client) == "native://orders/bob")
    #expect(try await show(client) == "native://order/bob/1")
  }

  @Test(arguments: olderShapes)
  func theOlderShapeIsUnderstood(params: Value, uri: String) async throws {
    let client = try await WireClient.connect(to: bridge())
    try await host(client, "native")
    try await client.call(1, "router.deliver", params)
    let shown = try await show(client)
    #expect(shown == uri)
  }

  @Test func theParamsOfTheOlderShapeGoOverAll() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await host(client, "native")
    try await client.call(
      1, "router.deliver",
      [
        "action": "offers", "action_url": "?sort=price&n=1", "params": ["n": 2, "of": "one"],
      ])
    let page = try await client.show()
    #expect(page["params"] == ["sort": "price", "of": "one", "n": 2])
  }

  @Test func aParameterThatIsADotSegmentGetsIntoNoParent() async throws {
    let client = try await WireClient.connect(to: bridge())
    try await host(client, "native")
    try await client.subscribe("route.failed")
    try await client.call(
      1, "router.deliver", ["uri": "native://order/anna/7", "params": ["customer": ".."]])
    let event = try await client.request("event")["params"]?["data"]
    #expect(event?["code"] == 2422)
    #expect(try await show(client) == "native://order/anna/7")
  }

  @Test(arguments: noLinks)
  func whatIsNoLinkIsRefusedAtOnce(params: Value, code: Int64) async throws {
    let client = try await WireClient.connect(to: bridge())
    try await client.call(1, "router.deliver", params)
    #expect(try await client.answer(1)["error"]?["code"]?.integer == code)
  }

  @Test func linksThatWaitAreBounded() async throws {
    var limits = Limits()
    limits.maxLinks = 2
    let client = try await WireClient.connect(to: bridge(limits: limits))
    for number in 1...3 {
      try await client.call(.integer(Int64(number)), "router.deliver", ["uri": "native://shop"])
    }
    #expect(try await client.answer(2)["result"] == .null)
    #expect(try await client.answer(3)["error"]?["code"] == 2429)
  }

  @Test func aLinkFromSwiftWaitsForTheSessionItIsFor() async throws {
    let bridge = try bridge()
    try await bridge.hub.allServers.deliver(DeepLink("native://orders/9"), to: .all)
    let client = try await WireClient.connect(to: bridge)
    try await host(client, "native")
    #expect(try await show(client) == "native://orders/9")
    let second = try await WireClient.connect(to: bridge)
    try await host(second, "native")
    _ = try await second.answer("host")
    try await second.call(1, "navigation.stack", [:])
    #expect(try await second.answer(1)["result"]?["pages"] == [])
    try await bridge.hub.allServers.deliver(DeepLink("native://shop"), to: .all)
    #expect(try await show(client) == "native://shop")
    #expect(try await show(second) == "native://shop")
  }

  @Test func aLinkFromSwiftHasItsErrors() async throws {
    var limits = Limits()
    limits.maxLinks = 1
    let bridge = try bridge(limits: limits)
    await #expect(throws: CallError.self) {
      try await bridge.hub.allServers.deliver(DeepLink("nothing"), to: .all)
    }
    try await bridge.hub.allServers.deliver(DeepLink("native://shop"), to: .user("anna"))
    let error = await #expect(throws: CallError.self) {
      try await bridge.hub.allServers.deliver(DeepLink("native://shop"), to: .user("anna"))
    }
    #expect(error?.code == 2429)
  }

  @Test func whatCameBeforeAnybodyWasThereIsForThoseWhoCanShowIt() async throws {
    let bridge = try bridge()
    try await bridge.hub.allServers.deliver(DeepLink("native://shop"), to: .all)
    let pinging = try await WireClient.connect(to: bridge)
    #expect(try await pinging.hasHeardNothing())
    // Delivered while only somebody is there who shows nothing.
    try await bridge.hub.allServers.deliver(DeepLink("native://orders/anna"), to: .all)
    let other = try await WireClient.connect(to: bridge, hosting: ["flutter"])
    #expect(try await other.hasHeardNothing())
    let shell = try await WireClient.connect(to: bridge)
    try await host(shell, "native")
    #expect(try await show(shell) == "native://shop")
    #expect(try await show(shell) == "native://orders/anna")
  }

  @Test func aLinkComesBackWhenItsSessionEndsBeforeItWasFollowed() async throws {
    let bridge = try bridge()
    try await bridge.hub.allServers.deliver(DeepLink("native://shop"), to: .all)
    let first = try await WireClient.connect(to: bridge)
    try await host(first, "native")
    _ = try await first.request("page.open")
    let waiting = try await WireClient.connect(to: bridge)
    try await host(waiting, "native")
    _ = try await waiting.answer("host")
    try await first.close()
    #expect(try await show(waiting) == "native://shop")
    #expect(try await waiting.hasHeardNothing())
  }

  @Test func aLinkThatFindsNoRoomStaysWithThoseToCome() async throws {
    var limits = Limits()
    limits.maxLinks = 1
    let bridge = try bridge(limits: limits)
    try await bridge.hub.allServers.deliver(DeepLink("native://shop"), to: .all)
    let full = try await WireClient.connect(to: bridge)
    try await full.call(1, "router.deliver", ["uri": "native://orders/anna"])
    _ = try await full.answer(1)
    // Its own link has no host, so that it has no room for another.
    try await full.call(
      2, "host.register", ["hosts": [["patterns": ["native://shop"], "kind": "page"]]])
    _ = try await full.answer(2)
    await bridge.server.loop.settle()
    let shell = try await WireClient.connect(to: bridge)
    try await host(shell, "native")
    #expect(try await show(shell) == "native://shop")
  }
}
