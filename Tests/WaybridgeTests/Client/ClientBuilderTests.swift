import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// A call of the Swift client that is built step by step sends what the plain call sends.
@Suite(.timeLimit(.minutes(1)))
struct ClientBuilderTests {
  private let server = ScriptedServer()

  struct Pair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let plain: @Sendable (BridgeClient) async throws -> Void
    let built: @Sendable (BridgeClient) async throws -> Void
  }

  private static let pairs: [Pair] = [
    Pair(
      testDescription: "open with nothing but the URI",
      plain: { _ = try await $0.open("native://a") },
      built: { _ = try await $0.build("native://a").open() }),
    Pair(
      testDescription: "open with everything",
      plain: {
        _ = try await $0.open(
          "native://a", ["id": 2, "x": [1]], exts: ["animated": false], style: .present, from: "p1",
          deadline: .seconds(3))
      },
      built: {
        _ = try await $0.build("native://a").with("id", 2).with(["x": [1]])
          .exts("animated", false).style(.present).from("p1").deadline(.seconds(3)).open()
      }),
    Pair(
      testDescription: "invoke with everything",
      plain: {
        _ = try await $0.invoke("action://a", ["id": 2], exts: ["x": 1], deadline: .seconds(3))
      },
      built: {
        _ = try await $0.build("action://a").with("id", 2).exts(["x": 1]).deadline(.seconds(3))
          .style(.root).from("p1").invoke()
      }),
  ]

  @Test(arguments: pairs)
  func whatIsBuiltIsSentAsThePlainCall(_ pair: Pair) async throws {
    let client = try await server.open()
    var sent: [[Value?]] = []
    for call in [pair.plain, pair.built] {
      let calling = Task { try await call(client) }
      let request = try await server.next()
      sent.append([request["method"], request["params"]])
      try await server.answer(request, ["outcome": "finished", "code": 0])
      try await calling.value
    }
    #expect(sent.first == sent.last)
    await client.close()
  }

  @Test func whatIsBuiltTellsThatThePageIsShownAndOfProgress() async throws {
    let client = try await server.open()
    let told = Mailbox<Value>()
    let opening = Task {
      try await client.build("native://a").open {
        told.put(.string($0))
      } onProgress: {
        told.put($0)
      }
    }
    let request = try await server.next()
    for value in [["opened": ["page": "p1"]], 0.5] as [Value] {
      try await server.send([
        "jsonrpc": "2.0", "method": "$/progress",
        "params": ["id": request["id"] ?? nil, "value": value],
      ])
    }
    #expect(try await told.take() == "p1")
    #expect(try await told.take() == 0.5)
    try await server.answer(request, ["outcome": "finished", "code": 3, "data": [1]])
    #expect(try await opening.value == .finished(code: 3, data: [1]))
    let error = await #expect(throws: CallError.self) {
      try await client.build("action://a").deadline(.zero).invoke()
    }
    #expect(error?.code == -32602)
    await client.close()
  }
}
