import Foundation
import TestSupport
import Testing
import WaySockets
import WayTransport

@testable import Waybridge

/// Who comes in, as a configuration says it.
@Suite(.timeLimit(.minutes(1)))
struct AccessConfigurationTests {
  private func refusal(_ change: (inout BridgeConfiguration) -> Void) async -> String? {
    var configuration = BridgeConfiguration(port: 0)
    change(&configuration)
    do {
      let bridge = try await RunningBridge(router: Router(), configuration: configuration)
      await bridge.stop()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func whatIsNoDoorIsSaidAtTheStart() async {
    #expect(
      await refusal { $0.allowedOrigins = ["null", "https://a.example/"] }
        == "an allowed origin must be \(OriginPattern.form), not \"https://a.example/\"")
    #expect(
      await refusal { $0.allowedHosts = ["http://a"] }
        == "an allowed host must be \(AllowedHost.form), not \"http://a\"")
    #expect(
      await refusal { $0.trustedProxies = ["a"] }
        == "a trusted proxy must be \(TrustedProxy.form), not \"a\"")
    #expect(
      await refusal { $0.prefix = "app" }
        == "the prefix must be \(SocketServerConfiguration.prefixForm), not \"app\"")
    #expect(
      await refusal { $0.handshakeHeaders = ["a b"] } == "\"a b\" is no name of a header field")
    #expect(await refusal { $0.contentSecurityPolicy = "a\n" } != nil)
    #expect(await refusal { $0.unixPath = "/nowhere/at/all/socket" } != nil)
    #expect(await refusal { _ in } == nil)
  }

  @Test func formsSayWhatATextMustBe() {
    let cases: [(ConfigurationAccessSyntax, right: [String], wrong: [String])] = [
      (.origin, ["null", "https://*.a.example"], ["", "a"]), (.host, ["a:1"], ["", "a:*"]),
      (.proxy, ["unix", "::1"], ["", "a"]), (.prefix, ["", "/a"], ["/", "a"]),
    ]
    for (form, right, wrong) in cases {
      for text in right { #expect(form.expected(of: text) == nil, "\(text)") }
      for text in wrong { #expect(form.expected(of: text) != nil, "\(text)") }
    }
  }

  @Test func aBridgeAtAUnixSocketTellsItsPath() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = BridgeConfiguration()
    configuration.unixPath = folder.path + "/ö-1"
    let bridge = try await RunningBridge(router: Router(), configuration: configuration)
    let shown = folder.path.replacingOccurrences(of: "/", with: "%2F") + "%2F%C3%B6-1"
    #expect("\(bridge.address)" == "http+unix://\(shown)")
    #expect(bridge.address.unixPath == configuration.unixPath)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/ö-1"))
    let server = BridgeServer(router: Router(), configuration: configuration)
    #expect("\(server)" == "BridgeServer(\(folder.path)/ö-1)")
    await bridge.stop()
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/ö-1"))
  }

  @Test func metricsAreToldToThisMachineAndToWhoHasAToken() async throws {
    let loop = try SocketLoop.start()
    let configuration = BridgeConfiguration(
      port: 0,
      identify: { handshake in
        guard handshake.token == "T" else { throw CallError(code: 1, message: "no") }
        return Identity()
      })
    let bridge = try await RunningBridge(router: Router(), configuration: configuration)
    let server = SocketServer(
      configuration: SocketServerConfiguration(port: 0), endpoints: [], loop: loop)
    let metrics = BridgeMetrics(
      group: bridge.group, server: server, lags: [LagProbe(loop: loop)])
    func status(
      _ post: BridgeResponder.Post?, isLocal: Bool, token: String? = nil
    ) async -> Int? {
      let responder = BridgeResponder.make(
        webEntries: nil, embedded: [:], metrics: metrics, on: loop, post: post)
      let request = HTTPRequest(
        // Who is let in is told that they are read in another way: what they are is known on the loop.
        method: "DELETE", path: "/metrics", handshake: Handshake(token: token), isLocal: isLocal)
      switch responder(request) {
      case .answer(let response): return response.status
      case .later(let work, _):
        let answered = Mailbox<Int>()
        _ = work { answered.put($0.status) }
        return await answered.next(within: .seconds(10))
      case .body, nil: return nil
      }
    }
    let post = BridgeResponder.Post(group: bridge.group, maxMessage: 1000, isOpen: false)
    #expect(await status(nil, isLocal: true) == 405)
    #expect(await status(nil, isLocal: false, token: "T") == 403)
    #expect(await status(post, isLocal: false) == 403)
    #expect(await status(post, isLocal: false, token: "x") == 401)
    #expect(await status(post, isLocal: false, token: "T") == 405)
    await loop.shutdown()
    await bridge.stop()
  }
}
