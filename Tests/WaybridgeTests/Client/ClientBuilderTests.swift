import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// A call that the Swift client builds step by step sends the same messages as a direct call.
@Suite(.timeLimit(.minutes(1)))
struct ClientBuilderTests {
  private let server = ScriptedServer()

  struct ClientCallPair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let plain: @Sendable (BridgeClient) async throws -> Void
    let built: @Sendable (BridgeClient) async throws -> Void
  }

  private static let pairs: [ClientCallPair] = [
    ClientCallPair(
      testDescription: "open with nothing but the URI",
      plain: { _ = try await $0.open("native://a") },
      built: { _ = try await $0.build("native://a").open() }),
    ClientCallPair(
      testDescription: "open with everything",
      plain: {
        _ = try await $0.open(
          "native://a", ["id": 2, "x": [1]], exts: ["animated": false], style: .present, from: "p1",
          timeout: .seconds(3))
      },
      built: {
        _ = try await $0.build("native://a").with("id", 2).with(["x": [1]])
          .exts("animated", false).style(.present).from("p1").timeout(.seconds(3)).open()
      }),
    ClientCallPair(
      testDescription: "invoke with everything",
      plain: {
        _ = try await $0.invoke("action://a", ["id": 2], exts: ["x": 1], timeout: .seconds(3))
      },
      built: {
        _ = try await $0.build("action://a").with("id", 2).exts(["x": 1]).timeout(.seconds(3))
          .style(.root).from("p1").invoke()
      }),
  ]

  @Test(arguments: pairs)
  func builtCallSendsTheRequestOfThePlainCall(_ pair: ClientCallPair) async throws {
    let client = try await server.openClient()
    var sent: [[Value?]] = []
    for call in [pair.plain, pair.built] {
      let calling = Task { try await call(client) }
      let request = try await server.next()
      sent.append([request["method"], request["params"]])
      try await server.respond(request, ["outcome": "finished", "code": 0])
      try await calling.value
    }
    #expect(sent.first == sent.last)
    await client.close()
  }

  @Test func builtCallReportsShownPageAndProgress() async throws {
    let client = try await server.openClient()
    let received = Mailbox<Value>()
    let opening = Task {
      try await client.build("native://a").open {
        received.put(.string($0))
      } onProgress: {
        received.put($0)
      }
    }
    let request = try await server.next()
    for value in [["opened": ["page": "p1"]], 0.5] as [Value] {
      try await server.send([
        "jsonrpc": "2.0", "method": "$/progress",
        "params": ["id": request["id"] ?? nil, "value": value],
      ])
    }
    #expect(try await received.receive() == "p1")
    #expect(try await received.receive() == 0.5)
    try await server.respond(request, ["outcome": "finished", "code": 3, "data": [1]])
    #expect(try await opening.value == .finished(code: 3, data: [1]))
    let error = await #expect(throws: CallError.self) {
      try await client.build("action://a").timeout(.zero).invoke()
    }
    #expect(error?.code == -32602)
    await client.close()
  }
}
