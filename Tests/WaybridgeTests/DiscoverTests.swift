import Foundation
import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// The description of the methods beside what the server does.
@Suite(.timeLimit(.minutes(1)))
struct DiscoverTests {
  @Test func rpcDiscoverAnswersTheDocumentOfTheProtocol() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    let document = try await client.request("rpc.discover")
    #expect(document["openrpc"]?.string != nil)
    #expect(document == (try ProjectFiles.json("protocol/openrpc.json")))
    await client.close()
    await server.stop()
  }

  @Test func theServerHasEveryDescribedMethod() async throws {
    let server = try await LiveServer()
    for method in try described() {
      // Each on a connection of its own, since session.close ends it.
      let client = try await BridgeClient.connect(to: server.url)
      do {
        _ = try await client.request(method)
      } catch {
        #expect(error.code != -32601, "\(method)")
      }
      await client.close()
    }
    await server.stop()
  }

  /// The methods are the cases of one switch, which nothing but its text can list.
  @Test func everyMethodOfTheServerIsDescribed() throws {
    let source = try String(
      contentsOf: ProjectFiles.url("Sources/WaySession/Session+Methods.swift"), encoding: .utf8)
    let body = source.split(separator: "switch request.method {").dropFirst().first?
      .split(separator: "default:").first
    let methods = try #require(body).matches(of: /case "(?<name>[^"]+)":/).map { String($0.name) }
    #expect(methods.count > 10)
    let described = Set(try described())
    for method in methods { #expect(described.contains(method), "\(method)") }
  }

  private func described() throws -> [String] {
    let methods = try ProjectFiles.json("protocol/openrpc.json")["methods"]?.list ?? []
    let names = methods.compactMap { $0["name"]?.string }
    #expect(names.count > 10)
    return names
  }
}
