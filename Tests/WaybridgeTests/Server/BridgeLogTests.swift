import Logging
import TestSupport
import Testing
import WaySockets
import WayTransport
import WaybridgeClient

@testable import Waybridge

/// The lines that an app's logger receives.
@Suite(.timeLimit(.minutes(1)))
struct BridgeLogTests {
  private let lines = Mailbox<RecordedLine>()

  private func withBridge(
    _ level: Logger.Level, limits: Limits = Limits(),
    _ body: (RunningBridge, BridgeClient) async throws -> Void
  ) async throws {
    var configuration = BridgeConfiguration(
      port: 0, limits: limits, enablesConformanceMethods: true, logger: lines.logger(level))
    configuration.loops = 1
    let bridge = try await RunningBridge(router: Router(), configuration: configuration)
    let client = try await BridgeClient.connect(to: "ws://127.0.0.1:\(bridge.address.port)/bridge")
    try await body(bridge, client)
    await client.close()
    await bridge.stop()
  }

  @Test func logsTheLifecycleOfASession() async throws {
    try await withBridge(.info) { bridge, client in
      #expect(try await lines.receive().text == "info listening address=\(bridge.address) loops=1")
      _ = try await client.request("$/ping")
      await client.close()
      let opened = try await lines.receive()
      #expect(opened.text.hasPrefix("info session opened session=s-"))
      let joined = try await lines.receive()
      #expect(joined.text.hasPrefix("info client joined address=127.0.0.1 client=c-"))
      let left = try await lines.receive()
      #expect(left.text.hasPrefix("info client left address=127.0.0.1 client=c-"))
      #expect(left.metadata["code"] == "1000")
      for name in ["client", "session"] { #expect(left.metadata[name] == joined.metadata[name]) }
      let closed = try await lines.receive()
      #expect(closed.text.hasPrefix("info session closed"))
      #expect(closed.metadata == opened.metadata)
    }
    #expect(try await lines.receive().text == "info draining")
    #expect(try await lines.receive().text == "info stopped")
  }

  @Test func warningsAboutANetworkAreCountedTogether() {
    let time = Locked<Int64>(0)
    let throttle = LogThrottle(now: { time.withLock { $0 } })
    for number in 0..<12 {
      let decision = throttle.decide("token rejected", from: "2001:db8::\(number)")
      #expect(decision.passes == (number < 10))
    }
    #expect(throttle.decide("token rejected", from: "2001:db8:0:1::1").passes)
    time.withLock { $0 = 1_000 }
    let counts = throttle.decide("token rejected", from: "unix").suppressedCounts
    #expect(counts.map(\.key) == ["2001:db8::/64"])
    #expect(counts.map(\.count) == [2])
  }

  @Test func stoppingLogsTheEndOfEachSessionOnce() async throws {
    try await withBridge(.info) { bridge, client in
      _ = try await client.request("$/ping")
      await bridge.stop()
    }
    var messages: [String] = []
    while messages.last != "stopped" { messages.append(try await lines.receive().message) }
    #expect(
      messages == [
        "listening", "session opened", "client joined", "draining", "client left",
        "session closed", "stopped",
      ])
  }

  private func nextLine(_ message: String) async throws -> RecordedLine {
    while true {
      let line = try await lines.receive()
      if line.message == message { return line }
    }
  }

  @Test func logsEveryCallAtDebugLevel() async throws {
    try await withBridge(.debug) { _, client in
      _ = try await client.request(
        "router.invoke", ["uri": "action://echo?token=secret", "params": ["a": "secret"]])
      let call = try await nextLine("call")
      #expect(call.level == .debug)
      #expect(call.metadata["method"] == "router.invoke")
      #expect(call.metadata["uri"] == "action://echo")
      #expect(call.metadata["code"] == "0")
      #expect(
        Set(call.metadata.keys)
          == ["session", "client", "address", "id", "method", "uri", "code", "ms"])
      #expect(!call.text.contains("secret"))
      _ = try? await client.request("no\nsuch \u{1B}[31mmethod")
      let rejected = try await nextLine("call")
      #expect(rejected.metadata["method"] == #"no\u{a}such \u{1b}[31mmethod"#)
      #expect(rejected.metadata["code"] == "-32601")
    }
  }

  @Test func omitsCallsAboveDebugLevel() async throws {
    try await withBridge(.info) { _, client in _ = try await client.request("$/ping") }
    while let line = try? await lines.receive(within: 0) { #expect(line.message != "call") }
  }

  @Test func logsRejectionsAsWarnings() async throws {
    var limits = Limits()
    limits.hello = .milliseconds(1)
    try await withBridge(.warning, limits: limits) { bridge, _ in
      let url = "ws://127.0.0.1:\(bridge.address.port)"
      await #expect(throws: (any Error).self) { try await BridgeClient.connect(to: url + "/no") }
      let request = try await lines.receive()
      #expect(request.text.hasPrefix("warning request rejected"))
      #expect(request.metadata["status"] == "404")
      let loop = try SocketLoop.start()
      try await SocketClient.connect(url: url + "/bridge", subprotocol: "waybridge.v1", on: loop) {
        SilentReceiver(channel: $0)
      }
      let connection = try await lines.receive()
      #expect(connection.text.hasPrefix("warning connection rejected"))
      #expect(connection.metadata["code"] == "4101")
      await loop.shutdown()
    }
  }

  @Test(arguments: [
    ("plain ü 汉", "plain ü 汉"), ("a\r\nb", #"a\u{d}\u{a}b"#), ("\u{202E}", #"\u{202e}"#),
    ("\u{2028}\u{85}\u{0}", #"\u{2028}\u{85}\u{0}"#),
    (String(repeating: "x", count: 300), String(repeating: "x", count: 256) + "…"),
  ])
  func escapesUnprintableTextOfClients(_ text: String, _ printable: String) {
    #expect(text.printable == printable)
  }
}

private final class SilentReceiver: MessageReceiver {
  private let channel: any MessageChannel

  init(channel: any MessageChannel) {
    self.channel = channel
  }

  func receive(_ message: RawSpan, as kind: MessageKind) {}
  func closed(_ code: UInt16?) {}
}
