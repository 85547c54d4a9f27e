import TestSupport
import Testing
import WayRouting
import WaySession
import WayTransport
import Waybridge

/// Interactions of several loops.
@Suite(.timeLimit(.minutes(1)))
struct SessionLoopTests {
  @Test func distributesSessionsOverLoopsAndKeepsTheirClientsTogether() async throws {
    try await MultiLoopFixture.run { bridge in
      let clients = try await bridge.openClients()
      #expect(await bridge.sessionCounts == [2, 2, 2])
      for (client, opened) in clients {
        // These connect to other loops, and move to that of their session.
        var hosts: [WireClient] = []
        for _ in 0..<MultiLoopFixture.loopCount {
          let (host, joined) = try await WireClient.open(
            on: bridge, ["hosts": [["scheme": "native", "kind": "page"]]], joining: opened)
          #expect(joined["session"] == opened["session"])
          hosts.append(host)
        }
        try await client.call(1, "router.open", ["uri": "native://a"])
        let page = try await hosts[hosts.count - 1].acceptPageOpen()
        _ = try await hosts[0].request(
          "navigation.finish", ["page": page["id"] ?? .null, "result": ["data": "done"]])
        #expect(try await client.response(1)["result"]?["data"] == "done")
        for host in hosts { try await host.close() }
      }
      #expect(await bridge.sessionCounts == [2, 2, 2])
    }
  }

  @Test func keepsMessageOrderWhenAConnectionChangesLoops() async throws {
    let router = Router()
    try router.task("action://add") { call in .object(call.params) }
    try await MultiLoopFixture.run(router) { bridge in
      for (_, opened) in try await bridge.openClients() {
        let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
        let large = Value.string(String(repeating: "x", count: 100_000))
        try await client.call(
          "hello", "session.open",
          [
            "join": [
              "session": opened["session"] ?? .null, "token": opened["joinToken"] ?? .null,
            ]
          ])
        for number in 0..<50 {
          try await client.call(
            .integer(Int64(number)), "router.invoke",
            ["uri": "action://add", "params": ["n": .integer(Int64(number)), "large": large]])
        }
        #expect(try await client.response("hello")["error"] == nil)
        for number in 0..<50 {
          let response = try await client.nextMessage()
          #expect(response["id"] == .integer(Int64(number)))
          #expect(response["result"]?["n"] == .integer(Int64(number)))
        }
      }
    }
  }

  @Test func rejectedJoinOnAnotherLoopCanBeRetried() async throws {
    try await MultiLoopFixture.run { bridge in
      for (_, opened) in try await bridge.openClients(MultiLoopFixture.loopCount) {
        let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
        for _ in 0..<3 {
          let wrong: Value = ["session": opened["session"] ?? .null, "joinToken": "wrong"]
          #expect(try await client.open(joining: wrong)["error"]?["code"] == 2401)
        }
        #expect(try await client.open(joining: opened)["result"]?["session"] == opened["session"])
      }
    }
  }

  @Test func clientThatCannotResumeJoinsItsSessionOnAnotherLoop() async throws {
    try await MultiLoopFixture.run { bridge in
      for (_, opened) in try await bridge.openClients(MultiLoopFixture.loopCount) {
        let join: Value = [
          "session": opened["session"] ?? .null, "token": opened["joinToken"] ?? .null,
        ]
        let (left, joined) = try await WireClient.open(on: bridge, joining: opened)
        try await left.close()
        let client = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
        let resumed = try await client.request(
          "session.resume",
          [
            "client": joined["client"] ?? .null, "token": joined["token"] ?? .null,
            "epoch": joined["epoch"] ?? .null, "received": 0,
            "open": ["protocol": ["1.0"], "join": join],
          ])["result"]
        #expect(resumed?["resumed"] == false)
        #expect(resumed?["session"] == opened["session"])
      }
    }
  }

  @Test func limitsTokenAttemptsAcrossLoops() async throws {
    try await MultiLoopFixture.run { bridge in
      let sessions = try await bridge.openClients(MultiLoopFixture.loopCount).map(\.opened)
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
      #expect(try await client.response("hello")["error"]?["code"] == 2401)
      #expect(try await client.nextCloseCode() == 4029)
    }
  }

  @Test func plainClientKeepsItsSessionUntilAJoinSucceeds() async throws {
    try await MultiLoopFixture.run { bridge in
      for (_, opened) in try await bridge.openClients(MultiLoopFixture.loopCount) {
        let client = try await WireClient.connect(to: bridge)
        _ = try await client.request(
          "host.register", ["hosts": [["scheme": "native", "kind": "page"]]])
        let wrong: Value = ["session": opened["session"] ?? .null, "joinToken": "wrong"]
        #expect(try await client.open(joining: wrong)["error"]?["code"] == 2401)
        // Its own session is unchanged.
        #expect(
          try await client.request("router.canOpen", ["uri": "native://a"])["result"]?["canOpen"]
            == true)
        #expect(try await client.open(joining: opened)["result"]?["session"] == opened["session"])
        #expect(
          try await client.request("router.canOpen", ["uri": "native://a"])["result"]?["canOpen"]
            == false)
      }
      #expect(await bridge.sessionCounts == [1, 1, 1])
    }
  }

  @Test func resumesOnTheLoopOfItsSession() async throws {
    try await MultiLoopFixture.run { bridge in
      for (client, opened) in try await bridge.openClients() {
        var (last, token) = (client, opened["token"])
        for _ in 0..<MultiLoopFixture.loopCount {
          let again = try await WireClient.connect(to: bridge, subprotocol: "waybridge.v1")
          let response = try await again.resume(opened, ["token": token ?? .null])
          #expect(response["resumed"] == true)
          #expect(response["session"] == opened["session"])
          #expect(try await last.nextCloseCode() == 4009)
          (last, token) = (again, response["token"])
        }
      }
    }
  }
}
