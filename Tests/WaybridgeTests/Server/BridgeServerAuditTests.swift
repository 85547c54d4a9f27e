import Logging
import TestSupport
import Testing
import WaybridgeClient

@testable import Waybridge

/// The audit records that an app receives, and their lines in its log.
@Suite(.timeLimit(.minutes(1)))
struct BridgeServerAuditTests {
  private let records = Mailbox<AuditRecord>()
  private let lines = Mailbox<RecordedLine>()

  private func configuration(_ level: Logger.Level) -> BridgeConfiguration {
    var configuration = BridgeConfiguration(
      port: 0, logger: lines.logger(level), identify: { Identity(user: $0.token) })
    configuration.onAudit = { [records] in records.put($0) }
    configuration.loops = 1
    return configuration
  }

  private func serve(
    _ configuration: BridgeConfiguration,
    _ body: (BridgeServer, BridgeServerAddress) async throws -> Void
  ) async throws {
    let listening = Mailbox<BridgeServerAddress>()
    let server = BridgeServer(
      router: Router(), configuration: configuration, onListening: { listening.put($0) })
    let run = Task { try await server.run() }
    try await body(server, try await listening.receive())
    run.cancel()
    try await run.value
  }

  @Test func appAndLogReceiveTheSameRecord() async throws {
    try await serve(configuration(.notice)) { server, address in
      let client = try await BridgeClient.connect(
        to: "ws://127.0.0.1:\(address.port)/bridge",
        session: .init(name: "shell", version: "1", token: "ada"))
      await #expect(throws: CallError.self) { try await client.request("session.list") }
      let record = try await records.receive()
      #expect(record.action == AuditRecord.refusal)
      #expect(record.client?.user == "ada")
      #expect(record.client?.address == "127.0.0.1")
      let line = try await lines.receive()
      #expect((line.level, line.message) == (.notice, "audit"))
      #expect(
        line.metadata == [
          "event": "audit", "action": "refuse", "method": "session.list", "result": "refused",
          "code": "2403", "rule": "default",
          "reason":
            "session.list is an administrative method; it needs a policy with a rule that allows it",
          "session": record.client?.session, "client": record.client?.id, "name": "shell",
          "user": "ada", "address": "127.0.0.1",
        ])
      await client.close()
    }
  }

  @Test func numberOfSuppressedRecordsIsRecordedWhenTheServerStops() async throws {
    try await serve(configuration(.warning)) { server, address in
      let client = try await BridgeClient.connect(
        to: "ws://127.0.0.1:\(address.port)/bridge",
        session: .init(name: "shell", version: "1", token: "ada"))
      for _ in 0..<12 {
        await #expect(throws: CallError.self) { try await client.request("session.list") }
      }
      await client.close()
    }
    var count = 0
    while count < 12 {
      let record = try await records.receive()
      switch record.result {
      case .refused: count += 1
      case .suppressed(let number, let rule):
        #expect((rule, record.method, record.client?.user) == ("default", "session.list", "ada"))
        count += number
      default: Issue.record("\(record)")
      }
    }
    #expect(count == 12)
  }

  @Test(
    arguments: [
      (.file, nil, "a://b?c", AuditRecord.AuditResult.done, "file"),
      (.fetch, "not JSON", "a://b", .failed(code: nil), "fetch"),
    ] as [(FileReload.ReloadSource, String?, String, AuditRecord.AuditResult, String)])
  func recordOfAReloadNamesItsSource(
    _ source: FileReload.ReloadSource, _ rejection: String?, _ target: String,
    _ result: AuditRecord.AuditResult, _ cause: String
  ) {
    let record = AuditRecord(
      FileReload(.keys, path: "a://b?c", source: source, rejection: rejection))
    #expect((record.action, record.target, record.cause) == ("keys.reload", target, cause))
    #expect(record.result == result)
  }

  @Test func listsInALineAreArraysOfLimitedLength() {
    var record = AuditRecord(action: "session.end")
    record.removedClients = (0..<100).map { "c-\($0)" }
    record.result = .incomplete(failedServers: ["b", "c\n"])
    let fields = LogFields(record).metadata
    #expect(fields["clients"] == .array((0..<64).map { .string("c-\($0)") }))
    #expect(fields["clientCount"] == .stringConvertible(100))
    #expect(fields["failedServers"] == .array(["b", "c\\u{a}"]))
    #expect(LogFields(AuditRecord(action: "session.end")).metadata["clients"] == nil)
  }

  @Test func changeOfThePolicyByTheAppIsRecorded() async throws {
    try await serve(configuration(.warning)) { server, _ in
      try await server.setPolicy(Policy(rules: [Policy.Rule("all", .allow, ["*"])]))
      let record = try await records.receive()
      #expect((record.action, record.cause, record.client) == ("policy.reload", "code", nil))
      #expect(record.version?.count == 16)
    }
    while let line = try? await lines.receive(within: 0) { #expect(line.message != "audit") }
  }
}
