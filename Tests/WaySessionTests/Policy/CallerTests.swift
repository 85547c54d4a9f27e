import Synchronization
import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Who calls, as tasks, interceptors, pages, hooks and hosts are told it.
@Suite(.timeLimit(.minutes(1)))
struct CallerTests {
  private let router = Router()
  private let identify: IdentityResolver = { handshake in
    Identity(
      user: handshake.token, groups: ["staff"],
      claims: ["agent": .string(handshake.headers.first?.value ?? "")])
  }
  private let handshake = Handshake(
    origin: "https://shop.test", address: "192.0.2.7", token: "anna",
    headers: [("user-agent", "Shop/1")])

  private static func told(_ caller: Caller) -> String {
    [
      caller.identity.user ?? "-", caller.identity.groups.sorted().joined(separator: ","),
      caller.identity.claims["agent"]?.string ?? "-", caller.client?.name ?? "-",
      caller.origin ?? "-", caller.address ?? "-",
    ].joined(separator: " ")
  }
  private let anna = "anna staff Shop/1 shop https://shop.test 192.0.2.7"

  private func open(
    _ bridge: InMemoryBridge, _ hello: ValueObject = [:]
  ) async throws -> (client: WireClient, hello: Value) {
    var hello = hello
    hello["client"] = ["name": "shop", "version": "1"]
    return try await WireClient.open(bridge, hello, from: handshake)
  }

  @Test func tasksInterceptorsAndHooksKnowWhoCalls() async throws {
    let heard = Mailbox<String>()
    router.intercept("watch") { call in
      heard.put("interceptor " + Self.told(call.caller))
      return .next
    }
    router.hook("count") { notice, caller in
      if case .didRun = notice { heard.put("hook " + Self.told(caller)) }
    }
    try router.task("action://now") { call in .string(Self.told(call.caller)) }
    try router.task("action://nested") { call in
      try await call.navigator.invoke("action://now")
    }
    let (client, _) = try await open(InMemoryBridge(router, identify: identify))
    for uri in ["action://now", "action://nested"] {
      let answer = try await client.ask("router.invoke", ["uri": .string(uri)])
      #expect(answer["result"] == .string(anna), "\(uri)")
    }
    for _ in 0..<3 {
      #expect(
        await heard.next(within: .seconds(5)) { $0.hasPrefix("interceptor") } == "interceptor "
          + anna)
      #expect(await heard.next(within: .seconds(5)) { $0.hasPrefix("hook") } == "hook " + anna)
    }
  }

  @Test func aSwiftPageKnowsWhoOpenedIt() async throws {
    let heard = Mailbox<String>()
    try router.page(
      "native://swift",
      PageHandler(
        open: { _, call in heard.put(Self.told(call.caller)) }, close: { _, _, _ in }))
    let (client, _) = try await open(InMemoryBridge(router, identify: identify))
    try await client.call(1, "router.open", ["uri": "native://swift"])
    #expect(await heard.next(within: .seconds(5)) == anna)
  }

  @Test func hostsAreToldWhoCalls() async throws {
    let bridge = InMemoryBridge(router, identify: identify)
    let hosts: Value = [
      ["scheme": "native", "kind": "page"], ["scheme": "action", "kind": "task"],
    ]
    let (client, hello) = try await open(bridge, ["hosts": hosts])
    let expected: Value = [
      "session": hello["session"] ?? .null,
      "client": ["id": hello["client"] ?? .null, "name": "shop", "version": "1"],
      "user": "anna", "groups": ["staff"], "origin": "https://shop.test",
    ]
    try await client.call(1, "router.invoke", ["uri": "action://hosted"])
    let run = try await client.message()
    #expect(run["params"]?["caller"] == expected)
    try await client.reply(run, 1)
    try await client.call(2, "router.open", ["uri": "native://hosted"])
    var asked = try await client.message()
    while asked["method"] != "page.open" { asked = try await client.message() }
    #expect(asked["params"]?["caller"] == expected)
  }

  @Test func theAppCallsAsItself() async throws {
    try router.task("action://now") { call in .string(call.caller.client == nil ? "app" : "client")
    }
    let bridge = InMemoryBridge(router)
    let (_, hello) = try await WireClient.open(bridge)
    let opened = try await bridge.hub.allServers.open(
      "action://now", [:], exts: [:], style: .push,
      in: .session(hello["session"]?.string ?? ""), timeout: .seconds(1))
    #expect(try await opened.first?.result.get().outcome().data == "app")
  }
}
