import Foundation
import TestSupport
import Testing
import WaySockets
import WayTransport

@testable import Waybridge

/// The access rules of a configuration.
@Suite(.timeLimit(.minutes(1)))
struct AccessConfigurationTests {
  private func startError(_ change: (inout BridgeConfiguration) -> Void) async -> String? {
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

  @Test func rejectsInvalidAccessSettingsAtStartup() async {
    #expect(
      await startError { $0.network.allowedOrigins = ["null", "https://a.example/"] }
        == "an allowed origin must be \(OriginPattern.expectedFormat), not \"https://a.example/\"")
    #expect(
      await startError { $0.network.allowedHosts = ["http://a"] }
        == "an allowed host must be \(AllowedHost.expectedFormat), not \"http://a\"")
    #expect(
      await startError { $0.network.trustedProxies = ["a"] }
        == "a trusted proxy must be \(TrustedProxy.expectedFormat), not \"a\"")
    #expect(
      await startError { $0.network.prefix = "app" }
        == "the prefix must be \(SocketServerConfiguration.prefixFormat), not \"app\"")
    #expect(
      await startError { $0.network.handshakeHeaders = ["a b"] }
        == "\"a b\" is not a name of a header field")
    #expect(await startError { $0.web.contentSecurityPolicy = "a\n" } != nil)
    #expect(await startError { $0.network.unixPath = "/nowhere/at/all/socket" } != nil)
    #expect(await startError { _ in } == nil)
  }

  @Test func expectedFormatIsReportedForInvalidSettings() {
    let cases: [(ConfigurationAccessSyntax, right: [String], wrong: [String])] = [
      (.origin, ["null", "https://*.a.example"], ["", "a"]), (.host, ["a:1"], ["", "a:*"]),
      (.proxy, ["unix", "::1"], ["", "a"]), (.prefix, ["", "/a"], ["/", "a"]),
    ]
    for (form, right, wrong) in cases {
      for text in right { #expect(form.unmetRequirement(of: text) == nil, "\(text)") }
      for text in wrong { #expect(form.unmetRequirement(of: text) != nil, "\(text)") }
    }
  }

  @Test func bridgeOnAUnixSocketReportsItsPath() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = BridgeConfiguration()
    configuration.network.unixPath = folder.path + "/ö-1"
    let bridge = try await RunningBridge(router: Router(), configuration: configuration)
    let shown = folder.path.replacingOccurrences(of: "/", with: "%2F") + "%2F%C3%B6-1"
    #expect("\(bridge.address)" == "http+unix://\(shown)")
    #expect(bridge.address.unixPath == configuration.network.unixPath)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/ö-1"))
    let server = BridgeServer(router: Router(), configuration: configuration)
    #expect("\(server)" == "BridgeServer(\(folder.path)/ö-1)")
    await bridge.stop()
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/ö-1"))
  }

  @Test func metricsRequireALocalClientOrAToken() async throws {
    let loop = try SocketLoop.start()
    let configuration = BridgeConfiguration(
      port: 0,
      identify: { handshake in
        guard handshake.token == "T" else { throw CallError(code: 1, message: "no") }
        return Identity()
      })
    let bridge = try await RunningBridge(router: Router(), configuration: configuration)
    let server = SocketServer(
      configuration: SocketServerConfiguration(), endpoints: [], loop: loop)
    let metrics = BridgeMetrics(
      sessionServer: bridge.sessionServer, socketServer: server,
      lagProbes: [LoopLagMetrics(loop: loop)])
    func status(
      _ post: BridgeResponder.RPCEndpoint?, isLocal: Bool, token: String? = nil
    ) async -> Int? {
      let responder = BridgeResponder.make(
        webEntries: nil, embedded: [:], metrics: metrics, on: loop, post: post)
      let request = HTTPRequest(
        // An authorized client gets 405 for DELETE. The metrics themselves are read on the loop.
        method: "DELETE", path: "/metrics", handshake: Handshake(token: token), isLocal: isLocal)
      switch responder(request) {
      case .respond(let response): return response.status
      case .respondLater(let work, _):
        let statuses = Mailbox<Int>()
        _ = work { statuses.put($0.status) }
        return await statuses.next(within: .seconds(10))
      case .readBody, .streamBody, nil: return nil
      }
    }
    let post = BridgeResponder.RPCEndpoint(
      sessionServer: bridge.sessionServer, maxMessage: 1000, allowsAnonymous: false)
    #expect(await status(nil, isLocal: true) == 405)
    #expect(await status(nil, isLocal: false, token: "T") == 403)
    #expect(await status(post, isLocal: false) == 403)
    #expect(await status(post, isLocal: false, token: "x") == 401)
    #expect(await status(post, isLocal: false, token: "T") == 405)
    await loop.shutdown()
    await bridge.stop()
  }
}
