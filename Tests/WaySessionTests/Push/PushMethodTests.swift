import Synchronization
import TestSupport
import Testing
import WayRPC
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// `session.list` and `session.push`, over a connection and by HTTP.
@Suite(.timeLimit(.minutes(1)))
struct PushMethodTests {
  private let router = Router()

  private func bridge() throws -> InMemoryBridge {
    try router.task("action://who") { call in .string(call.caller.identity.user ?? "nobody") }
    return InMemoryBridge(
      router,
      identify: { handshake in
        guard let token = handshake.token else { throw CallError(code: 1, message: "no token") }
        return Identity(user: token)
      },
      rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
  }

  private func open(_ bridge: InMemoryBridge, _ user: String) async throws -> (
    client: WireClient, opened: Value
  ) {
    try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]], from: Handshake(token: user))
  }

  /// Posts a body. Returns the status and the response as JSON.
  private func post(
    _ bridge: InMemoryBridge, _ body: String, token: String? = "backend"
  ) async throws -> (status: Int, response: Value?) {
    let responses = Mailbox<HTTPResponse>()
    bridge.server.loop.execute {
      _ = bridge.sessionServer.post(
        Array(body.utf8), Handshake(token: token), on: bridge.loopSessions.loop
      ) { responses.put($0) }
    }
    let response = try #require(await responses.next(within: .seconds(5)))
    return (response.status, response.body.isEmpty ? nil : try JSON.parse(response.body.span.bytes))
  }

  @Test func backendCallsMethodsByHTTP() async throws {
    let bridge = try bridge()
    let (status, response) = try await post(
      bridge, #"{"jsonrpc":"2.0","id":1,"method":"router.invoke","params":{"uri":"action://who"}}"#)
    #expect(status == 200)
    #expect(response == ["jsonrpc": "2.0", "id": 1, "result": "backend"])
    let (_, batch) = try await post(
      bridge,
      #"[{"jsonrpc":"2.0","id":1,"method":"$/ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b","method":"nope"}]"#
    )
    #expect(batch?.array?.count == 2)
    #expect(batch?.array?.last?["error"]?["code"] == -32601)
    await bridge.server.loop.settle()
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }

  /// Each reading of the loop's clock takes longer than a client's share of a turn, so that the
  /// response precedes the end of the batch.
  @Test func clientOfLongBatchLeavesWhenItHasEnded() async throws {
    let router = Router()
    let performedCount = Atomic(0)
    try router.task("action://count") { _ in
      .integer(Int64(performedCount.add(1, ordering: .relaxed).newValue))
    }
    let bridge = InMemoryBridge(
      router, identify: { Identity(user: $0.token) },
      loop: MemoryLoop(readingTime: .milliseconds(25)))
    let notification =
      #"{"jsonrpc":"2.0","method":"router.invoke","params":{"uri":"action://count"}}"#
    let body = "[" + Array(repeating: notification, count: 5).joined(separator: ",") + "]"
    #expect(try await post(bridge, body).status == 204)
    await bridge.server.loop.settle()
    #expect(performedCount.load(ordering: .relaxed) == 5)
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }

  @Test(
    arguments: [
      (
        #"{"jsonrpc":"2.0","method":"router.invoke","params":{"uri":"action://who"}}"#, "t", 204,
        nil
      ),
      ("{", "t", 200, -32700), ("[]", "t", 200, -32600), ("{}", "t", 200, -32600),
      (#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#, nil, 401, 2401),
    ] as [(String, String?, Int, Int64?)])
  func respondsToEveryBody(body: String, token: String?, status: Int, code: Int64?) async throws {
    let bridge = try bridge()
    let result = try await post(bridge, body, token: token)
    #expect(result.status == status)
    #expect(result.response?["error"]?["code"]?.integer == code)
    await bridge.server.loop.settle()
    #expect(await bridge.sessionServer.totals().sessions == 0)
  }

  @Test func limitsRateOfHTTPCalls() async throws {
    let router = Router()
    var limits = Limits()
    limits.maxRate = 1
    limits.maxBurst = 2
    let bridge = InMemoryBridge(router, limits: limits)
    let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
    #expect(try await post(bridge, "[\(ping),\(ping.replacing("1,", with: "2,"))]").status == 200)
    let rejected = try await post(bridge, ping)
    #expect(rejected.status == 429)
    #expect(rejected.response?["error"]?["data"]?["retryAfterMs"] != nil)
  }

  @Test func disconnectCancelsHTTPCall() async throws {
    let cancelled = Mailbox<Bool>()
    let started = Mailbox<Bool>()
    try router.task("action://slow") { _ in
      started.put(true)
      try? await Task.sleep(for: .seconds(3600))
      cancelled.put(Task.isCancelled)
      return 1
    }
    let bridge = try bridge()
    let works = Mailbox<any ScheduledWork>()
    let body =
      #"{"jsonrpc":"2.0","id":1,"method":"router.invoke","params":{"uri":"action://slow"}}"#
    bridge.server.loop.execute {
      works.put(
        bridge.sessionServer.post(
          Array(body.utf8), Handshake(token: "a"), on: bridge.loopSessions.loop
        ) { _ in })
    }
    let work = try #require(await works.next(within: .seconds(5)))
    #expect(await started.next(within: .seconds(5)) == true)
    bridge.server.loop.execute { work.cancel() }
    #expect(await cancelled.next(within: .seconds(5)) == true)
  }

  @Test func pushesPageAndReturnsOutcome() async throws {
    let bridge = try bridge()
    let (anna, opened) = try await open(bridge, "anna")
    let (backend, _) = try await open(bridge, "backend")
    let push: Value = [
      "to": ["user": "anna"], "method": "router.open",
      "params": ["uri": "native://offer", "params": ["n": 1]],
    ]
    try await backend.call(1, "session.push", push)
    let request = try await anna.nextMessage()
    #expect(request["params"]?["caller"]?["user"] == "backend")
    try await anna.respond(request, .null)
    let page = request["params"]?["page"]?["id"] ?? .null
    _ = try await anna.request("navigation.finish", ["page": page, "result": ["data": "yes"]])
    let result = try await backend.response(1)["result"]
    #expect(result?["delivered"] == 1 && result?["waiting"] == 0 && result?["failed"] == 0)
    let entries = result?["results"]?.array ?? []
    #expect(entries.count == 1)
    #expect(entries.first?["session"] == opened["session"])
    #expect(entries.first?["user"] == "anna")
    #expect(entries.first?["state"] == "delivered")
    #expect(entries.first?["result"]?["data"] == "yes")
  }

  @Test func pageStaysOpenAfterPushTimeout() async throws {
    let bridge = try bridge()
    let (anna, _) = try await open(bridge, "anna")
    let (backend, _) = try await open(bridge, "backend")
    let push: Value = [
      "to": ["user": "anna"], "method": "router.open", "deadlineMs": 1000,
      "params": ["uri": "native://offer"],
    ]
    try await backend.call(1, "session.push", push)
    let request = try await anna.nextMessage()
    try await anna.respond(request, .null)
    // The wait for the outcome starts asynchronously.
    let clock = Task {
      while !Task.isCancelled { try await bridge.server.advance(by: .milliseconds(100)) }
    }
    let result = try await backend.response(1)["result"]
    clock.cancel()
    #expect(result?["failed"] == 1)
    let error = result?["results"]?.array?.first?["error"]
    #expect(error?["code"] == 2408)
    #expect(error?["data"]?["page"] == request["params"]?["page"]?["id"])
    #expect(try await anna.request("navigation.stack")["result"]?["pages"]?.array?.count == 1)
  }

  @Test func pushesMethodsEventsAndDeepLinks() async throws {
    let bridge = try bridge()
    let (anna, opened) = try await open(bridge, "anna")
    try await anna.subscribe("news")
    let (backend, _) = try await open(bridge, "backend")
    let to: Value = ["session": opened["session"] ?? .null]
    try await backend.call(1, "session.push", ["to": to, "method": "cart", "params": ["n": 2]])
    let request = try await anna.nextMessage()
    #expect(request["method"] == "cart")
    try await anna.respond(request, ["ok": true])
    let entry = try await backend.response(1)["result"]?["results"]?.array?.first
    #expect(entry?["client"] == opened["client"])
    #expect(entry?["result"] == ["ok": true])
    let event: Value = [
      "to": to, "method": "event", "params": ["topic": "news", "data": 5],
    ]
    #expect(
      try await backend.request("session.push", event)["result"]
        == ["delivered": 1, "waiting": 0, "nobody": 0, "failed": 0])
    #expect(try await anna.nextEvent()["data"] == 5)
    let link: Value = [
      "to": ["user": "anna"], "method": "router.deliver", "params": ["uri": "native://link"],
    ]
    #expect(
      try await backend.request("session.push", link)["result"]
        == [
          "delivered": 1, "waiting": 0, "nobody": 0, "failed": 0,
          "results": [
            ["session": opened["session"] ?? .null, "user": "anna", "state": "delivered"]
          ],
        ])
    #expect(try await anna.nextMessage()["params"]?["page"]?["uri"] == "native://link")
  }

  @Test(
    arguments: [
      (["to": ["nobody": "x"], "method": "cart"], "-32602"),
      (["to": ["all": false], "method": "cart"], "-32602"),
      (["method": "cart"], "-32602"),
      (["to": ["all": true]], "-32602"),
      (["to": ["all": true], "method": "session.close"], "-32602"),
      (
        ["to": ["all": true], "method": "page.call", "params": ["page": "p", "method": "x"]],
        "-32602"
      ),
      (["to": ["all": true], "method": "router.open"], "-32602"),
      (["to": ["all": true], "method": "event", "params": ["topic": "page.x"]], "-32602"),
      (["to": ["all": true], "method": "router.deliver", "params": ["uri": "x"]], "-32602"),
      (["to": ["all": true], "method": "router.deliver", "params": ["action": "x"]], "2404"),
      (["to": ["all": true], "method": "cart", "key": ""], "-32602"),
      (
        [
          "to": ["all": true], "method": "router.deliver", "key": "a",
          "params": ["uri": "native://a", "key": "b"],
        ], "-32602"
      ),
    ] as [(Value, String)])
  func rejectsInvalidPush(params: Value, verdict: String) async throws {
    let (client, _) = try await open(try bridge(), "anna")
    #expect(try await client.callStatus("session.push", params) == verdict)
  }

  /// Returns the session, the state and the result of each entry.
  private func entries(_ response: Value) -> [Value] { response["result"]?["results"]?.array ?? [] }

  @Test func countsMissingSessionsAndSubscribers() async throws {
    let bridge = try bridge()
    let (anna, _) = try await open(bridge, "anna")
    let (backend, _) = try await open(bridge, "backend")
    let event: Value = ["topic": "news", "data": 1]
    let pushes: [(Value, Int64)] = [
      (["to": ["user": "ben"], "method": "cart"], 1),
      (["to": ["user": "ben"], "method": "router.invoke", "params": ["uri": "action://who"]], 1),
      (["to": ["user": "ben"], "method": "event", "params": event], 1),
      (["to": ["user": "anna"], "method": "event", "params": event], 1),
      (["to": ["all": true], "method": "event", "params": event], 2),
    ]
    for (push, count) in pushes {
      let result = try await backend.request("session.push", push)["result"]
      let expected: Value = [
        "delivered": 0, "waiting": 0, "nobody": .integer(count), "failed": 0,
      ]
      #expect(result == expected)
    }
    #expect(try await anna.hasNoPendingMessages())
  }

  @Test func absentClientCountsAsWaitingAtOnce() async throws {
    let bridge = try bridge()
    let members: ValueObject = [
      "token": "anna",
      "hosts": [
        ["scheme": "native", "kind": "page"], ["patterns": ["action://hosted"], "kind": "task"],
      ],
    ]
    let anna = try await SequencedClient(bridge, members)
    try await anna.call("news", "events.subscribe", ["topics": ["news"]])
    _ = try await anna.wire.response("news")
    try await anna.disconnect()
    let (backend, _) = try await open(bridge, "backend")
    let pushes: [(method: String, params: Value, hasEntry: Bool)] = [
      ("cart", ["n": 1], true), ("router.open", ["uri": "native://offer"], true),
      ("router.invoke", ["uri": "action://hosted"], true),
      ("router.deliver", ["uri": "native://link"], true),
      ("event", ["topic": "news", "data": 1], false),
    ]
    for push in pushes {
      let response = try await backend.request(
        "session.push",
        ["to": ["user": "anna"], "method": .string(push.method), "params": push.params])
      #expect(response["result"]?["waiting"] == 1, "\(push.method): \(response)")
      #expect(response["result"]?["delivered"] == 0 && response["result"]?["failed"] == 0)
      let entry = entries(response).first
      #expect(entry.map { $0["state"] == "waiting" } == (push.hasEntry ? true : nil))
    }
    // What waits arrives when the client is back.
    #expect(try await anna.resume(after: 1)["resumed"] == true)
    var methods: [String] = []
    while methods.count < 5 {
      let message = try await anna.wire.nextMessage()
      if let method = message["method"]?.string, method != "$/ack" { methods.append(method) }
      if message["method"] == "page.open" { try await anna.respond(message, .null) }
    }
    #expect(methods.sorted() == ["cart", "event", "page.open", "page.open", "task.run"])
  }

  @Test func largeResultsAreLeftOutAndNeverAnError() async throws {
    var limits = Limits()
    limits.maxAnswer = 20_000
    try router.task("action://large") { _ in .string(String(repeating: "x", count: 3000)) }
    try router.task("action://deep") { _ in
      (1...125).reduce(Value.null) { value, _ in .array([value]) }
    }
    let bridge = InMemoryBridge(
      router, limits: limits, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
    for _ in 1...20 { _ = try await open(bridge, "anna") }
    let (backend, _) = try await open(bridge, "backend")
    for uri in ["action://large", "action://deep"] {
      let response = try await backend.request(
        "session.push",
        ["to": ["user": "anna"], "method": "router.invoke", "params": ["uri": .string(uri)]])
      #expect(response["result"]?["delivered"] == 20, "\(response)")
      #expect(response["result"]?["failed"] == 0)
      let entries = entries(response)
      #expect(entries.contains { $0["cut"] == true && $0["result"] == nil })
      #expect(entries.allSatisfy { $0["state"] == "delivered" })
    }
  }

  @Test func keyedPushRunsOnce() async throws {
    let runs = Locked(0)
    let (started, release) = (Mailbox<Bool>(), Mailbox<Bool>())
    try router.task("action://count") { _ in
      let count = runs.withLock { count in
        count += 1
        return count
      }
      started.put(true)
      _ = await release.next(within: .seconds(60))
      return .integer(Int64(count))
    }
    let bridge = try bridge()
    let (_, opened) = try await open(bridge, "anna")
    let (backend, _) = try await open(bridge, "backend")
    let audiences: [Value] = [["user": "anna"], ["session": opened["session"] ?? .null]]
    for (index, to) in audiences.enumerated() {
      let push: Value = [
        "to": to, "method": "router.invoke", "key": .string("k\(index)"),
        "params": ["uri": "action://count"],
      ]
      // The second one arrives while the first one runs, and the third one after that.
      try await backend.call(1, "session.push", push)
      #expect(await started.next(within: .seconds(60)) == true)
      try await backend.call(2, "session.push", push)
      try await backend.call(3, "$/ping", [:])
      _ = try await backend.response(3)
      release.put(true)
      var responses = [try await backend.nextMessage(), try await backend.nextMessage()]
      responses.append(try await backend.request("session.push", push))
      for response in responses {
        #expect(entries(response).first?["result"] == .integer(Int64(index + 1)), "\(response)")
      }
      let other: Value = [
        "to": to, "method": "router.invoke", "key": .string("k\(index)"),
        "params": ["uri": "action://who"],
      ]
      let conflict = try await backend.request("session.push", other)
      let error = conflict["error"] ?? entries(conflict).first?["error"]
      #expect(error?["code"] == 2409)
    }
    #expect(runs.withLock { $0 } == 2)
  }

  @Test func keyedPushesOfEveryMethodHaveOneEffect() async throws {
    let bridge = try bridge()
    let (anna, opened) = try await open(bridge, "anna")
    try await anna.subscribe("news")
    let (backend, _) = try await open(bridge, "backend")
    let pushes: [(method: String, params: Value)] = [
      ("cart", ["n": 1]), ("event", ["topic": "news", "data": 1]),
      ("router.deliver", ["uri": "native://a"]), ("router.open", ["uri": "native://b"]),
    ]
    let audiences: [Value] = [["user": "anna"], ["session": opened["session"] ?? .null]]
    for (index, to) in audiences.enumerated() {
      for (method, params) in pushes {
        let push: Value = [
          "to": to, "method": .string(method), "params": params,
          "key": .string("\(method) \(index)"), "deadlineMs": 1000,
        ]
        try await backend.call(1, "session.push", push)
        let message = try await anna.nextMessage()
        if message["id"] != nil { try await anna.respond(message, .null) }
        if method == "router.open" {
          _ = try await anna.request(
            "navigation.finish",
            ["page": message["params"]?["page"]?["id"] ?? .null, "result": ["data": 1]])
        }
        let first = try await backend.response(1)["result"]
        #expect(first?["delivered"] == 1, "\(method)")
        #expect(try await backend.request("session.push", push)["result"] == first)
        #expect(try await anna.hasNoPendingMessages(), "\(method)")
      }
    }
  }

  /// Posts a deep link as a user. Returns the response.
  private func postLink(
    _ bridge: InMemoryBridge, _ params: Value, token: String? = "anna"
  ) async throws -> Value? {
    let request: Value = [
      "jsonrpc": "2.0", "id": 1, "method": "router.deliver", "params": params,
    ]
    return try await post(bridge, try JSON.text(request), token: token).response
  }

  @Test func postedLinkIsForSessionsOfTheUser() async throws {
    let bridge = try bridge()
    let link: Value = ["uri": "native://link", "key": "k"]
    let waiting: Value = ["sessions": 0, "waiting": 1]
    for _ in 1...2 { #expect(try await postLink(bridge, link)?["result"] == waiting) }
    let (ben, _) = try await open(bridge, "ben")
    #expect(try await ben.hasNoPendingMessages())
    let (anna, _) = try await open(bridge, "anna")
    #expect(try await anna.acceptPageOpen()["uri"] == "native://link")
    let second: Value = ["uri": "native://second"]
    #expect(try await postLink(bridge, second)?["result"] == ["sessions": 1, "waiting": 0])
    #expect(try await anna.acceptPageOpen()["uri"] == "native://second")
    #expect(try await anna.hasNoPendingMessages())
    #expect(try await ben.hasNoPendingMessages())
  }

  @Test func postedLinkNeedsAUserAndAValidURI() async throws {
    let groups = InMemoryBridge(router, identify: { _ in Identity(groups: ["staff"]) })
    let response = try await postLink(groups, ["uri": "native://link"])
    #expect(response?["error"]?["code"] == -32600)
    #expect(response?["error"]?["data"]?["kind"] == "noUser")
    #expect(try await postLink(try bridge(), ["uri": "x"])?["error"]?["code"] == -32602)
  }

  @Test func sessionsOfHTTPRequestsGetNoPushes() async throws {
    let bridge = try bridge()
    let push =
      #"{"jsonrpc":"2.0","id":1,"method":"session.push","params":{"to":{"all":true},"method":"cart"}}"#
    let (_, response) = try await post(bridge, push)
    #expect(response?["result"]?["nobody"] == 1)
    let list = #"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#
    #expect(try await post(bridge, list).response?["result"] == [])
  }

  @Test func listsSessionsInPages() async throws {
    let bridge = try bridge()
    var expected: [String] = []
    for _ in 1...5 {
      let (_, opened) = try await open(bridge, "anna")
      expected.append(opened["session"]?.string ?? "")
    }
    let (backend, opened) = try await open(bridge, "backend")
    expected.append(opened["session"]?.string ?? "")
    var listed: [String] = []
    while true {
      var params: ValueObject = ["limit": 2]
      params["after"] = listed.last.map(Value.string)
      let page = try await backend.request("session.list", .object(params))["result"]?.array ?? []
      #expect(page.count <= 2)
      if page.isEmpty { break }
      listed += page.compactMap { $0["session"]?.string }
    }
    #expect(listed == expected.sorted())
    #expect(try await backend.callStatus("session.list", ["limit": 0]) == "-32602")
  }

  @Test func listedPagesFitIntoResponse() async throws {
    var limits = Limits()
    limits.maxAnswer = 4096
    let bridge = InMemoryBridge(
      router, limits: limits, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([Policy.Rule("all", .allow, ["*"])]))
    let (anna, opened) = try await open(bridge, "anna")
    for number in 1...30 {
      let uri = "native://\(String(repeating: "x", count: 100))/\(number)"
      _ = try await anna.request("navigation.adopt", ["uri": .string(uri)])
    }
    for _ in 1...30 { _ = try await open(bridge, "ben") }
    let page = try await anna.request("session.list", [:])["result"]?.array ?? []
    #expect((1..<31).contains(page.count))
    let first = await bridge.sessionServer.sessionList(
      SessionListQuery(after: nil, limit: 1000, maxBytes: .max)
    ).entries.first { $0["session"] == opened["session"] }
    #expect(first?["pages"]?.array?.count == 30 && first?["cut"] == nil)
    let cut = await bridge.sessionServer.sessionList(
      SessionListQuery(after: nil, limit: 1000, maxBytes: 2048))
    #expect(cut.hasMore)
    #expect(cut.entries.allSatisfy { $0["session"] != opened["session"] || $0["cut"] == true })
  }

  @Test func listsSessionsWithoutSecrets() async throws {
    let bridge = try bridge()
    let (client, opened) = try await open(bridge, "anna")
    let listed = try await client.request("session.list")["result"]?.array ?? []
    #expect(listed.count == 1)
    #expect(listed.first?["session"] == opened["session"])
    #expect(listed.first?["user"] == "anna")
    #expect(listed.first?["clients"]?.array?.first?["id"] == opened["client"])
    // The result contains no secret.
    #expect(!"\(listed)".contains(opened["token"]?.string ?? "?"))
    #expect(!"\(listed)".contains(opened["joinToken"]?.string ?? "?"))
  }
}
