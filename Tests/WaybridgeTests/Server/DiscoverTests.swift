import Foundation
import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// The description of the methods compared with the server's behavior.
@Suite(.timeLimit(.minutes(1)))
struct DiscoverTests {
  @Test func rpcDiscoverReturnsTheOpenRPCDocument() async throws {
    let server = try await LiveServer()
    let client = try await BridgeClient.connect(to: server.url)
    let document = try await client.request("rpc.discover")
    #expect(document["openrpc"]?.string != nil)
    #expect(document == (try ProjectFiles.json("protocol/openrpc.json")))
    await client.close()
    await server.stop()
  }

  @Test func serverImplementsEveryDescribedMethod() async throws {
    let server = try await LiveServer()
    for method in try describedMethods() {
      // Each on its own connection, because `session.close` ends it.
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

  @Test func everyServerMethodIsDescribed() throws {
    #expect(Set(BridgeServer.methods) == Set(try describedMethods()))
  }

  /// Each error code of the registry that a method returns in a transcript is described.
  @Test func everyErrorInTranscriptsIsDescribed() throws {
    let document = try ProjectFiles.json("protocol/openrpc.json")
    var described: [String: Set<Int>] = [:]
    for method in document["methods"]?.array ?? [] {
      let errors = try #require(method["errors"]?.array, "\(method["name"] ?? nil)")
      described[method["name"]?.string ?? ""] = Set(
        try errors.map { error in
          let kind = try #require(error["$ref"]?.string?.split(separator: "/").last)
          let code = document["components"]?["errors"]?[String(kind)]?["code"]?.integer
          return Int(try #require(code))
        })
    }
    var count = 0
    for transcript in try ProjectFiles.transcripts() {
      for (method, code) in transcript.errorResponses where ErrorCode(rawValue: code) != nil {
        guard let codes = described[method] else { continue }
        count += 1
        #expect(codes.contains(code), "\(transcript.name): \(method) returns \(code)")
      }
    }
    #expect(count > 100)
  }

  private func describedMethods() throws -> [String] {
    let methods = try ProjectFiles.json("protocol/openrpc.json")["methods"]?.array ?? []
    let names = methods.compactMap { $0["name"]?.string }
    #expect(names.count > 10)
    return names
  }
}

extension Transcript {
  /// The error codes in responses to its clients, each with the method that returns it.
  fileprivate var errorResponses: [(method: String, code: Int)] {
    var methods: [Value: String] = [:]
    var refusals: [(method: String, code: Int)] = []
    for step in steps {
      if let client = step["send"], let sent = step["message"] {
        for request in sent.array ?? [sent] {
          guard let id = request["id"], let method = request["method"]?.string else { continue }
          methods[[client, id]] = method
        }
      }
      guard let client = step["expect"] else { continue }
      for message in step["any"]?.array ?? step["message"].map({ [$0] }) ?? [] {
        for response in message.array ?? [message] {
          guard let id = response["id"], let code = response["error"]?["code"]?.integer,
            let method = methods[[client, id]]
          else { continue }
          refusals.append((method, Int(code)))
        }
      }
    }
    return refusals
  }
}
