import Foundation
import TestSupport
import Testing
import Waybridge
import WaybridgeClient

@Suite(.timeLimit(.minutes(1)))
struct BridgeServerTests {
  @Test func routerCanBeReusedAfterItsBridgeStopped() async throws {
    let router = Router()
    try router.task("action://own") { _ in "kept" }
    for _ in 0..<2 {
      let bridge = try await RunningBridge(
        router: router, configuration: BridgeConfiguration(port: 0, enablesConformanceMethods: true)
      )
      let client = try await BridgeClient.connect(
        to: "ws://127.0.0.1:\(bridge.address.port)/bridge")
      #expect(try await client.request("router.invoke", ["uri": "action://own"]) == "kept")
      #expect(try await client.request("router.invoke", ["uri": "action://echo"]) == [:])
      await client.close()
      await bridge.stop()
    }
    let names = router.snapshot().routes.map(\.name)
    #expect(names.prefix(2) == ["action://own", "action://echo"])
    #expect(names.count == Set(names).count)
  }

  @Test func descriptionIsShort() {
    let server = BridgeServer(router: Router(), configuration: BridgeConfiguration(port: 8081))
    #expect("\(server)" == "BridgeServer(127.0.0.1:8081)")
  }

  @Test func cancellingTheTaskEndsTheServer() async throws {
    let listening = Mailbox<BridgeServerAddress>()
    let server = BridgeServer(
      router: Router(), configuration: BridgeConfiguration(port: 0),
      onListening: { listening.put($0) })
    let run = Task { try await server.run() }
    let address = try await listening.receive()
    let client = try await BridgeClient.connect(to: "ws://127.0.0.1:\(address.port)/bridge")
    run.cancel()
    try await run.value
    await #expect(throws: CallError.self) { try await client.request("$/ping") }
    await client.close()
  }

  @Test func acceptsNoClientBeforeStartupCompletes() async throws {
    let router = Router()
    try router.task("action://secret") { _ in "told" }
    let log = Mailbox<String>()
    try router.atStart(.ready) { router in
      // Takes longer than the server needs to start listening.
      for _ in 0..<3 {
        let other = try await RunningBridge(
          router: Router(), configuration: BridgeConfiguration(port: 0))
        await other.stop()
      }
      router.intercept("guard") { _ in .refuse("not yet") }
      log.put("ready")
    }
    let served = try await BridgeServerFixture(
      router, BridgeConfiguration(port: 0), onListening: { log.put("listening") })
    #expect(try await [log.receive(), log.receive()] == ["ready", "listening"])
    let peer = try await RawClient.connect(to: served, subprotocol: nil)
    try await peer.send([
      "jsonrpc": "2.0", "id": 1, "method": "router.invoke", "params": ["uri": "action://secret"],
    ])
    #expect(try await peer.nextMessage()["error"]?["code"] == 2423)
    await served.stop()
  }

  @Test func deepLinksDeliveredBeforeStartupAreQueued() async throws {
    let router = Router()
    try router.page("native://a/:n")
    try router.setActions(["third": "native://a/3"])
    var configuration = BridgeConfiguration(port: 0)
    configuration.limits.maxLinks = 3
    let served = try await BridgeServerFixture(
      router, configuration,
      before: { server in
        for number in 1...2 { try await server.deliver(DeepLink("native://a/\(number)")) }
        let unknown = await #expect(throws: CallError.self) {
          try await server.deliver(action: "fourth", url: nil)
        }
        #expect(unknown?.code == 2404)
        try await server.deliver(action: "third", url: "https://h.example/x?q=1", params: ["p": 2])
        for (link, code) in [("native://a/4", 2429), ("nowhere", -32602)] {
          let error = await #expect(throws: CallError.self) {
            try await server.deliver(DeepLink(link))
          }
          #expect(error?.code == code)
        }
      })
    let shell = try await RawClient.connect(to: served, subprotocol: "waybridge.v1")
    _ = try await shell.request("session.open", ["hosts": [["scheme": "native", "kind": "page"]]])
    for path: Value in ["native://a/1", "native://a/2", "native://a/3?q=1"] {
      let open = try await shell.nextMessage()
      let page = open["params"]?["page"]
      #expect(page?["uri"] == path)
      #expect(path != "native://a/3?q=1" || page?["params"] == ["q": "1", "n": "3", "p": 2])
      try await shell.respond(open, .null)
    }
    await served.stop()
  }

  @Test func onlyConformanceModeUsesTheDescriptorLimitForConnections() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #expect(
      try BridgeConfiguration(enablesConformanceMethods: true).socketConfiguration()
        .limits.maxConnections
        == Int(clamping: limit.rlim_cur))
    #expect(try BridgeConfiguration().socketConfiguration().limits.maxConnections == 10_000)
  }

  @Test func limitsApplyToRequestHeads() throws {
    var configuration = BridgeConfiguration()
    #expect(try configuration.socketConfiguration().limits.maxHead == 32 << 10)
    configuration.limits.maxHead = 5000
    #expect(try configuration.socketConfiguration().limits.maxHead == 5000)
    configuration.limits.maxHead = 0
    #expect(try configuration.socketConfiguration().limits.maxHead == 1)
  }
}
