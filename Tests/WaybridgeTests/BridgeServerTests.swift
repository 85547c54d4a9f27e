import Foundation
import TestSupport
import Testing
import Waybridge
import WaybridgeClient

@Suite(.timeLimit(.minutes(1)))
struct BridgeServerTests {
  @Test func aRouterServesAgainAfterItsBridgeHasEnded() async throws {
    let router = Router()
    try router.task("action://own") { _ in "kept" }
    for _ in 0..<2 {
      let bridge = try await RunningBridge(
        router: router, configuration: BridgeConfiguration(port: 0, conformance: true))
      let client = try await BridgeClient.connect(
        to: "ws://127.0.0.1:\(bridge.address.port)/bridge")
      #expect(try await client.request("router.invoke", ["uri": "action://own"]) == "kept")
      #expect(try await client.request("router.invoke", ["uri": "action://echo"]) == [:])
      await client.close()
      await bridge.stop()
    }
    #expect(router.snapshot().routes.map(\.name) == ["action://own", "action://echo"])
  }

  @Test func cancellingTheTaskEndsTheServer() async throws {
    let listening = Mailbox<BoundAddress>()
    let server = BridgeServer(
      router: Router(), configuration: BridgeConfiguration(port: 0),
      onListening: { listening.put($0) })
    let run = Task { try await server.run() }
    let address = try await listening.take()
    let client = try await BridgeClient.connect(to: "ws://127.0.0.1:\(address.port)/bridge")
    run.cancel()
    try await run.value
    await #expect(throws: CallError.self) { try await client.request("$/ping") }
    await client.close()
  }

  @Test func onlyConformanceTakesAsManyConnectionsAsThereAreDescriptors() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #expect(
      BridgeConfiguration(conformance: true).sockets.maximumConnections
        == Int(clamping: limit.rlim_cur))
    #expect(BridgeConfiguration().sockets.maximumConnections == 10_000)
  }
}
