import Synchronization
import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// The caller as tasks, interceptors, pages, hooks and hosts receive it.
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

  private static func describe(_ caller: Caller) -> String {
    [
      caller.identity.user ?? "-",
      caller.identity.groups.sorted().map(\.text).joined(separator: ","),
      caller.identity.claims["agent"]?.string ?? "-", caller.client?.name ?? "-",
      caller.origin ?? "-", caller.address ?? "-",
    ].joined(separator: " ")
  }
  private let annaDescription = "anna staff Shop/1 shop https://shop.test 192.0.2.7"

  private func open(
    _ bridge: InMemoryBridge, _ members: ValueObject = [:]
  ) async throws -> (client: WireClient, opened: Value) {
    var members = members
    members["client"] = ["name": "shop", "version": "1"]
    return try await WireClient.open(bridge, members, from: handshake)
  }

  @Test func tasksInterceptorsAndHooksReceiveCaller() async throws {
    let records = Mailbox<String>()
    router.intercept("watch") { call in
      records.put("interceptor " + Self.describe(call.caller))
      return .next
    }
    router.addHook("count") { notice, caller in
      if case .didRun = notice { records.put("hook " + Self.describe(caller)) }
    }
    try router.task("action://now") { call in .string(Self.describe(call.caller)) }
    try router.task("action://nested") { call in
      try await call.navigator.invoke("action://now")
    }
    let (client, _) = try await open(InMemoryBridge(router, identify: identify))
    for uri in ["action://now", "action://nested"] {
      let response = try await client.request("router.invoke", ["uri": .string(uri)])
      #expect(response["result"] == .string(annaDescription), "\(uri)")
    }
    for _ in 0..<3 {
      #expect(
        await records.next(within: .seconds(5)) { $0.hasPrefix("interceptor") } == "interceptor "
          + annaDescription)
      #expect(
        await records.next(within: .seconds(5)) { $0.hasPrefix("hook") } == "hook "
          + annaDescription)
    }
  }

  @Test func pageHandlerReceivesOpener() async throws {
    let records = Mailbox<String>()
    try router.page(
      "native://swift",
      PageHandler(
        open: { _, call in records.put(Self.describe(call.caller)) }, close: { _, _, _ in }))
    let (client, _) = try await open(InMemoryBridge(router, identify: identify))
    try await client.call(1, "router.open", ["uri": "native://swift"])
    #expect(await records.next(within: .seconds(5)) == annaDescription)
  }

  @Test func hostRequestsContainCaller() async throws {
    let bridge = InMemoryBridge(router, identify: identify)
    let hosts: Value = [
      ["scheme": "native", "kind": "page"], ["scheme": "action", "kind": "task"],
    ]
    let (client, opened) = try await open(bridge, ["hosts": hosts])
    let expected: Value = [
      "session": opened["session"] ?? .null,
      "client": ["id": opened["client"] ?? .null, "name": "shop", "version": "1"],
      "user": "anna", "groups": ["staff"], "origin": "https://shop.test",
    ]
    try await client.call(1, "router.invoke", ["uri": "action://hosted"])
    let run = try await client.nextMessage()
    #expect(run["params"]?["caller"] == expected)
    try await client.respond(run, 1)
    try await client.call(2, "router.open", ["uri": "native://hosted"])
    var request = try await client.nextMessage()
    while request["method"] != "page.open" { request = try await client.nextMessage() }
    #expect(request["params"]?["caller"] == expected)
  }

  @Test func appCallsHaveNoClient() async throws {
    try router.task("action://now") { call in .string(call.caller.client == nil ? "app" : "client")
    }
    let bridge = InMemoryBridge(router)
    let (_, opened) = try await WireClient.open(bridge)
    let results = try await bridge.sessionServer.dispatch.open(
      "action://now", [:], exts: [:], style: .push,
      in: .session(opened["session"]?.string ?? ""), timeout: .seconds(1))
    #expect(try await results.first?.result.get().outcome().data == "app")
  }
}
