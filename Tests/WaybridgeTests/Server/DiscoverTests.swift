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

  /// What a method answers in a transcript with a code of the registry, it is said to.
  @Test func everyErrorOfATranscriptIsDescribed() throws {
    let document = try ProjectFiles.json("protocol/openrpc.json")
    var described: [String: Set<Int>] = [:]
    for method in document["methods"]?.list ?? [] {
      let errors = try #require(method["errors"]?.list, "\(method["name"] ?? nil)")
      described[method["name"]?.string ?? ""] = Set(
        try errors.map { error in
          let kind = try #require(error["$ref"]?.string?.split(separator: "/").last)
          let code = document["components"]?["errors"]?[String(kind)]?["code"]?.integer
          return Int(try #require(code))
        })
    }
    var count = 0
    for transcript in try ProjectFiles.transcripts() {
      for (method, code) in transcript.refusals where ErrorCode(rawValue: code) != nil {
        guard let codes = described[method] else { continue }
        count += 1
        #expect(codes.contains(code), "\(transcript.name): \(method) answers \(code)")
      }
    }
    #expect(count > 100)
  }

  private func described() throws -> [String] {
    let methods = try ProjectFiles.json("protocol/openrpc.json")["methods"]?.list ?? []
    let names = methods.compactMap { $0["name"]?.string }
    #expect(names.count > 10)
    return names
  }
}

extension Transcript {
  /// The codes of errors that its clients get, each with the method that answers it.
  fileprivate var refusals: [(method: String, code: Int)] {
    var methods: [Value: String] = [:]
    var refusals: [(method: String, code: Int)] = []
    for step in steps {
      if let client = step["send"], let sent = step["message"] {
        for request in sent.list ?? [sent] {
          guard let id = request["id"], let method = request["method"]?.string else { continue }
          methods[[client, id]] = method
        }
      }
      guard let client = step["expect"] else { continue }
      for message in step["any"]?.list ?? step["message"].map({ [$0] }) ?? [] {
        for answer in message.list ?? [message] {
          guard let id = answer["id"], let code = answer["error"]?["code"]?.integer,
            let method = methods[[client, id]]
          else { continue }
          refusals.append((method, Int(code)))
        }
      }
    }
    return refusals
  }
}
