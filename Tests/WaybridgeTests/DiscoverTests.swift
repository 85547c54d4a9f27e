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

  @Test func everyMethodOfTheServerIsDescribed() throws {
    #expect(Set(BridgeServer.methods) == Set(try described()))
  }

  private func described() throws -> [String] {
    let methods = try ProjectFiles.json("protocol/openrpc.json")["methods"]?.list ?? []
    let names = methods.compactMap { $0["name"]?.string }
    #expect(names.count > 10)
    return names
  }
}
