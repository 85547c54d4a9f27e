import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import Waybridge

/// What several loops have to do with each other.
@Suite(.timeLimit(.minutes(1)))
struct SessionLoopTests {
  @Test func sessionsAreOnAllLoopsAndTheirClientsOnOne() async throws {
    try await MultiLoopFixture.with { bridge in
      let clients = try await bridge.clients()
      #expect(await bridge.sessions == [2, 2, 2])
      for (client, hello) in clients {
        // These come to other loops, and go to that of their session.
        var hosts: [WireClient] = []
        for _ in 0..<MultiLoopFixture.loops {
          let (host, joined) = try await WireClient.open(
            on: bridge, ["hosts": [["scheme": "native", "kind": "page"]]], joining: hello)
          #expect(joined["session"] == hello["session"])
          hosts.append(host)
        }
        try await client.call(1, "router.open", ["uri": "native://a"])
        let page = try await hosts[hosts.count - 1].show()
        _ = try await hosts[0].ask(
          "navigation.finish", ["page": page["id"] ?? .null, "result": ["data": "done"]])
        #expect(try await client.answer(1)["result"]?["data"] == "done")
        for host in hosts { try await host.close() }
      }
      #expect(await bridge.sessions == [2, 2, 2])
    }
  }

  @Test func whatIsSentTogetherWithTheHelloComesAfterIt() async throws {
    let router = Router()
    try router.task("action://add") { call in .object(call.params) }
    try await MultiLoopFixture.with(router) { bridge in
      for (_, hello) in try await bridge.clients() {
        let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
        let large = Value.string(String(repeating: "x", count: 100_000))
        try await client.call(
          "hello", "session.open",
          [
            "join": [
              "session": hello["session"] ?? .null, "token": hello["joinToken"] ?? .null,
            ]
          ])
        for number in 0..<50 {
          try await client.call(
            .integer(Int64(number)), "router.invoke",
            ["uri": "action://add", "params": ["n": .integer(Int64(number)), "large": large]])
        }
        #expect(try await client.answer("hello")["error"] == nil)
        for number in 0..<50 {
          let answer = try await client.message()
          #expect(answer["id"] == .integer(Int64(number)))
          #expect(answer["result"]?["n"] == .integer(Int64(number)))
        }
      }
    }
  }

  @Test func whoIsRefusedElsewhereMayTryAgain() async throws {
    try await MultiLoopFixture.with { bridge in
      for (_, hello) in try await bridge.clients(MultiLoopFixture.loops) {
        let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
        for _ in 0..<3 {
          let wrong: Value = ["session": hello["session"] ?? .null, "joinToken": "wrong"]
          #expect(try await client.open(joining: wrong)["error"]?["code"] == 2401)
        }
        #expect(try await client.open(joining: hello)["result"]?["session"] == hello["session"])
      }
    }
  }

  @Test func tokensCannotBeTriedWithoutEndByMoving() async throws {
    try await MultiLoopFixture.with { bridge in
      let sessions = try await bridge.clients(MultiLoopFixture.loops).map(\.hello)
      let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
      for number in 0..<9 {
        let wrong: Value = [
          "session": sessions[number % sessions.count]["session"] ?? .null, "joinToken": "wrong",
        ]
        #expect(try await client.open(joining: wrong)["error"]?["code"] == 2401)
      }
      try await client.call(
        "hello", "session.open",
        ["join": ["session": sessions[0]["session"] ?? .null, "token": "wrong"]])
      #expect(try await client.answer("hello")["error"]?["code"] == 2401)
      #expect(try await client.end() == 4029)
    }
  }

  @Test func aPlainClientLeavesItsSessionOnlyForOneThatTakesIt() async throws {
    try await MultiLoopFixture.with { bridge in
      for (_, hello) in try await bridge.clients(MultiLoopFixture.loops) {
        let client = try await WireClient.connect(to: bridge)
        _ = try await client.ask(
          "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
        let wrong: Value = ["session": hello["session"] ?? .null, "joinToken": "wrong"]
        #expect(try await client.open(joining: wrong)["error"]?["code"] == 2401)
        // Its own session is as it was.
        #expect(
          try await client.ask("router.canOpen", ["uri": "native://a"])["result"]?["canOpen"]
            == true)
        #expect(try await client.open(joining: hello)["result"]?["session"] == hello["session"])
        #expect(
          try await client.ask("router.canOpen", ["uri": "native://a"])["result"]?["canOpen"]
            == false)
      }
      #expect(await bridge.sessions == [1, 1, 1])
    }
  }

  @Test func whoResumesGoesOnWhereItsSessionIs() async throws {
    try await MultiLoopFixture.with { bridge in
      for (client, hello) in try await bridge.clients() {
        var (last, token) = (client, hello["token"])
        for _ in 0..<MultiLoopFixture.loops {
          let again = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
          let answer = try await again.resume(hello, ["token": token ?? .null])
          #expect(answer["resumed"] == true)
          #expect(answer["session"] == hello["session"])
          #expect(try await last.end() == 4009)
          (last, token) = (again, answer["token"])
        }
      }
    }
  }
}
