import TestSupport
import Testing
import WayRPC
import WayRouting
import WayValues

@testable import WayAgents

struct AgentPropertyTests {
  private static let samples = MCPRequestTests.rejected.map { row in
    "\(row.0)\n\n\(row.1.replacing("META", with: TestPost.meta))"
  }

  @Test("no head and no body makes reading fail otherwise than with an error that can be written")
  func readsAnything() throws {
    var source = FuzzSource(
      seed: 34, samples: Self.samples,
      pieces: [
        "\n", "\n\n", "mcp-name: =?base64?", "?=", "\"_meta\":{", "null", "1e999", "\u{0}", "ÿ",
      ])
    var accepted = 0
    for _ in 0..<20_000 {
      let text = String(decoding: source.next(), as: UTF8.self)
      let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
      switch TestPost(String(parts[0]), parts.count > 1 ? String(parts[1]) : "").read() {
      case .success: accepted += 1
      case .failure(let rejection):
        let written = try JSON.parse(rejection.body.span.bytes, maxDepth: JSON.maxStoredDepth)
        #expect([200, 400, 404].contains(rejection.status))
        #expect(written["error"]?["code"]?.integer == Int64(rejection.error.code))
        #expect(written["id"].map { $0.string != nil || $0.integer != nil } ?? true)
      }
    }
    #expect(accepted > 0)
  }

  @Test("any arguments become a call or an error, and any value a result that is JSON")
  func handlesAnyValue() throws {
    let tool = try AgentToolTests.tool([
      "name": "show", "pattern": "action://show/:id(/part/:part)/*", "kind": "task", "agents": [:],
      "result": ["type": "string"],
    ])
    let request = try TestPost.stateless("tools/call", #""name":"show","#, name: "show").request()
    let context = MCPResponseContext(request, from: MCPImplementation(name: "s", version: "1"))
    var random = SeededRandom(seed: 7)
    var progress = MCPProgress(.string("p"))
    var calls = 0
    for _ in 0..<5_000 {
      let value = Self.value(depth: 4, &random)
      let arguments =
        value.object ?? ["id": value, "*": Self.value(depth: 2, &random), "session": value]
      if let call = try? tool.call(MCPToolCall(name: "show", arguments: arguments, key: nil)) {
        calls += 1
        #expect(call.uri.text.hasPrefix("action://show/"))
      }
      #expect(context.result(.success(value), of: tool).value != nil)
      let error = CallError(
        code: Int(truncatingIfNeeded: random.next()), message: value.brief, data: value)
      #expect(context.result(.failure(error), of: tool).value != nil)
      if let message = progress.notification(of: value) { #expect(message.value != nil) }
    }
    #expect(calls > 0)
  }

  private static func value(depth: Int, _ random: inout SeededRandom) -> Value {
    switch random.next() % (depth > 0 ? 9 : 6) {
    case 0: return .null
    case 1: return .bool(random.next() % 2 == 0)
    case 2: return .integer(Int64(truncatingIfNeeded: random.next()))
    case 3: return Value(Double(bitPattern: random.next()))
    case 4:
      return ["", "a", "..", "/", "a b", "ü%2F", "\u{0}\n", "e\u{301}"].randomElement(
        using: &random
      )
      .map(Value.string) ?? .null
    case 5: return "7"
    case 6: return .array((0..<random.next() % 4).map { _ in value(depth: depth - 1, &random) })
    default:
      let names = ["id", "part", "*", "session", "progress", "message", "opened", "rule", "errors"]
      return .object(
        ValueObject(
          (0..<random.next() % 5).map { _ in
            (names.randomElement(using: &random) ?? "id", value(depth: depth - 1, &random))
          }))
    }
  }
}
