import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// A shell's pages and tasks bind their parameters to types.
@Suite(.timeLimit(.minutes(1)))
struct ClientDecodingTests {
  private struct Profile: Codable, Hashable {
    let id: Int
    let tab: String?
  }

  /// Records the decoded parameters of its page.
  private struct DecodingPageHost: PageHost {
    let shown = Mailbox<Profile>()

    func open(_ page: BridgeClient.HostedPage) async throws { shown.put(try page.decode()) }
    func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
      async
    {}
  }

  @Test(
    arguments: [
      (["id": 7, "tab": "posts"], nil), (["id": "7", "more": true], nil),
      (["tab": "posts"], "$.id: is missing"), (["id": [], "tab": "posts"], "$.id: has to be"),
    ] as [(ValueObject, String?)])
  func decodesParametersOrReportsTheInvalidOne(params: ValueObject, fault: String?) async throws {
    let server = ScriptedServer()
    let shell = DecodingPageHost()
    let client = try await server.openClient(
      .init(
        name: "shell", version: "1",
        hosts: [
          .pages(scheme: "native", shell),
          .task("action://profile") { call in
            let profile: Profile = try call.decode()
            return .integer(Int64(profile.id))
          },
        ]))
    for (method, members) in [
      ("page.open", ["page": ["id": "p", "uri": "native://profile", "params": .object(params)]]),
      ("task.run", ["uri": "action://profile", "params": .object(params), "exts": [:]]),
    ] as [(Value, Value)] {
      try await server.send(["jsonrpc": "2.0", "id": 1, "method": method, "params": members])
      let response = try await server.next()
      if let fault {
        #expect(response["error"]?["code"] == 2502)
        #expect(response["error"]?["message"]?.string?.hasPrefix(fault) == true)
      } else {
        #expect(response["error"] == nil)
      }
    }
    if fault == nil {
      #expect(try await shell.shown.receive() == Profile(id: 7, tab: params["tab"]?.string))
    }
    await client.close()
  }
}
