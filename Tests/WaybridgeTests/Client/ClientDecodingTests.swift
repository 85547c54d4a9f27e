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

  /// Keeps what its page is bound to.
  private struct Shell: PageHost {
    let shown = Mailbox<Profile>()

    func open(_ page: BridgeClient.Page) async throws { shown.put(try page.decode()) }
    func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {}
  }

  @Test(
    arguments: [
      (["id": 7, "tab": "posts"], nil), (["id": "7", "more": true], nil),
      (["tab": "posts"], "$.id: is missing"), (["id": [], "tab": "posts"], "$.id: has to be"),
    ] as [(ValueObject, String?)])
  func parametersAreReadIntoAType(params: ValueObject, fault: String?) async throws {
    let server = ScriptedServer()
    let shell = Shell()
    let client = try await server.open(
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
      let answer = try await server.next()
      if let fault {
        #expect(answer["error"]?["code"] == 2502)
        #expect(answer["error"]?["message"]?.string?.hasPrefix(fault) == true)
      } else {
        #expect(answer["error"] == nil)
      }
    }
    if fault == nil {
      #expect(try await shell.shown.take() == Profile(id: 7, tab: params["tab"]?.string))
    }
    await client.close()
  }
}
