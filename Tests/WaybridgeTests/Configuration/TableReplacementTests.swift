import TestSupport
import Testing
import WayTable
import Waybridge
import WaybridgeClient

/// Tables that are replaced during clients' calls, over sockets.
@Suite(.timeLimit(.minutes(2)))
struct TableReplacementTests {
  /// Returns a table that resolves a call through two redirects, both of which contain its version.
  private static func document(_ version: Int) -> Value {
    [
      "version": .string("\(version)"),
      "routes": [["name": "end", "pattern": "action://end", "kind": "task"]],
      "redirects": [
        ["from": "action://first", "to": .string("action://second?first=\(version)")],
        ["from": "action://second", "to": .string("action://end?second=\(version)")],
      ],
    ]
  }

  @Test func callsSeeOneTableVersionDuringReplacement() async throws {
    let router = Router()
    let table = try LiveTable(RouteTable(parsing: Self.document(0)), for: router)
    try router.handle("end", with: .task { call in .object(call.params) })
    var configuration = BridgeConfiguration(port: 0)
    configuration.sessions.table = table
    // However fast the calls are.
    configuration.limits.maxRate = 0
    let running = try await RunningBridge(router: router, configuration: configuration)
    let url = "ws://127.0.0.1:\(running.address.port)/bridge"
    let seen = try await withThrowingTaskGroup(of: Set<String>.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let client = try await BridgeClient.connect(to: url)
          var seen: Set<String> = []
          while await table.stamp.version != "200" {
            let params = try await client.invoke("action://first")
            #expect(params["first"] == params["second"])
            seen.insert(params["first"]?.string ?? "")
          }
          await client.close()
          return seen
        }
      }
      for version in 1...200 {
        try await table.replace(with: Self.document(version))
        // Lets the callers run in between.
        _ = try await Self.version(at: url)
      }
      return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    #expect(seen.count > 10)
    #expect(try await Self.version(at: url) == "200")
    await running.stop()
  }

  /// Returns the version that a new session receives.
  private static func version(at url: String) async throws -> String {
    let client = try await BridgeClient.connect(
      to: url, session: .init(name: "test", version: "1"))
    let version = await client.session?.table.version ?? ""
    await client.close()
    return version
  }
}
