import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTable
import WayTransport
import WayValues

@testable import WaySession

/// The methods `admin.…` of inspectors.
@Suite(.timeLimit(.minutes(1)))
struct InspectorTests {
  private let router = Router()
  private let table: LiveTable
  private let bridge: InMemoryBridge

  init() throws {
    table = try LiveTable(
      RouteTable(parsing: [
        "version": "1",
        "routes": [
          ["name": "list", "pattern": "native://list/:id", "kind": "page"],
          ["name": "share", "pattern": "action://share", "kind": "task"],
          ["name": "scan", "pattern": "action://scan", "kind": "task"],
          ["name": "fax", "pattern": "fax://send", "kind": "task"],
        ],
      ]), for: router)
    try router.handle("share", with: .task { call in .object(call.params) })
    router.intercept("login", on: .routes(["list"])) { (_: Call) async throws -> Interception in
      .next
    }
    bridge = InMemoryBridge(
      router, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([
        Policy.Rule("anna", .allow, ["*"], subjects: ["anna"]),
        Policy.Rule("everybody", .allow, ["router.*", "navigation.*", "page.*", "host.*"]),
      ]), table: table)
  }

  private func open(
    _ name: String = "shop", token: String? = nil, _ members: ValueObject = [:]
  ) async throws -> (client: WireClient, opened: Value) {
    var members = members
    members["client"] = ["name": .string(name), "version": "1"]
    return try await WireClient.open(bridge, members, from: Handshake(token: token))
  }

  private func openInspector(_ filter: ValueObject = [:]) async throws -> WireClient {
    let client = try await open("inspector", token: "anna").client
    _ = try await client.callResult("admin.watch", filter)
    return client
  }

  /// Returns the records of the next batch.
  private func nextBatch(_ client: WireClient, dropped: Int64 = 0) async throws -> [Value] {
    try await bridge.server.advance(by: .milliseconds(200))
    let message = try await client.nextMessage()
    #expect(message["method"] == "admin.records")
    #expect(message["params"]?["dropped"]?.integer == dropped)
    return message["params"]?["records"]?.array ?? []
  }

  @Test func rejectsInspectionWithoutRule() async throws {
    let client = try await open().client
    for method in [
      "admin.watch", "admin.unwatch", "admin.sessions", "admin.session", "admin.routes",
      "admin.refusals", "admin.versions", "admin.explain",
    ] {
      #expect(
        try await client.callStatus(method, ["session": "s", "uri": "a:b"]) == "default",
        "\(method)")
    }
  }

  @Test func recordPairsRequestWithResponse() async throws {
    let caller = try await open().client
    let inspector = try await openInspector(["messages": true])
    #expect(try await caller.invoke("action://share", ["a": 1])["result"] == ["a": 1])
    #expect(try await caller.invoke("action://nowhere")["error"]?["code"] == 2404)
    let records = try await nextBatch(inspector)
    #expect(records.count == 2)
    let call = records[0]
    #expect(call["type"] == "call" && call["method"] == "router.invoke" && call["name"] == "shop")
    #expect(call["uri"] == "action://share" && call["route"] == "share" && call["host"] == "server")
    #expect(
      call["code"] == 0 && call["params"]?["params"] == ["a": 1] && call["result"] == ["a": 1])
    #expect(call["resultBytes"] == 7 && call["ms"]?.double != nil && call["state"] == nil)
    #expect(records[1]["code"] == 2404 && records[1]["result"]?["code"] == 2404)
    #expect(records[1]["route"] == nil && records[1]["host"] == nil)
  }

  @Test func reportsPendingCallAtStartAndEnd() async throws {
    let (host, opened) = try await open(
      "phone", ["hosts": [["scheme": "native", "kind": "page"]]])
    let inspector = try await openInspector()
    try await host.call("a", "router.open", ["uri": "native://list/7"])
    let request = try await host.nextMessage()
    #expect(request["method"] == "page.open")
    let first = try await nextBatch(inspector)
    let waits = try #require(first.first { $0["type"] == "call" })
    #expect(waits["state"] == "waits" && waits["ms"] == nil && waits["params"] == nil)
    #expect(waits["host"] == opened["client"] && waits["route"] == "list")
    #expect(first.contains { $0["type"] == "interceptors" && $0["names"] == ["login"] })
    #expect(first.contains { $0["type"] == "page" && $0["event"] == "asked" })

    try await host.respond(request, .null)
    #expect(try await host.nextMessage()["method"] == "$/progress")
    let second = try await nextBatch(inspector)
    let requestRecord = try #require(second.first { $0["type"] == "ask" })
    #expect(
      requestRecord["method"] == "page.open" && requestRecord["uri"] == "native://list/7"
        && requestRecord["code"] == 0)
    let page = try #require(second.first { $0["type"] == "page" && $0["event"] == "opened" })

    let detail = try await inspector.callResult(
      "admin.session", ["session": opened["session"] ?? nil])
    #expect(detail["stack"]?["pages"]?.array?.first?["uri"] == "native://list/7")
    #expect(detail["calls"]?.array?.first?["waitsFor"] == "page")
    #expect(detail["clients"]?.array?.first?["hosts"]?.array?.count == 1)
    #expect(detail["records"]?.array?.count == first.count + second.count)
    let brief = try await inspector.callResult(
      "admin.session", ["session": opened["session"] ?? nil, "records": false])
    #expect(brief["records"] == nil && brief["stack"] == detail["stack"])

    try await host.call("b", "navigation.finish", ["page": page["page"] ?? nil])
    // Both responses, and `page.close`.
    for _ in 0..<3 { _ = try await host.nextMessage() }
    let last = try await nextBatch(inspector)
    let ended = try #require(last.first { $0["method"] == "router.open" })
    #expect(ended["call"] == waits["call"] && ended["state"] == nil)
    #expect(ended["outcome"] == "finished" && ended["page"] == page["page"])
    #expect(last.contains { $0["event"] == "closed" && $0["outcome"] == "finished" })
  }

  @Test func sendsNoRecordsAfterUnwatch() async throws {
    let caller = try await open().client
    let inspector = try await openInspector()
    #expect(bridge.loopSessions.inspector.isActive)
    #expect(try await inspector.callResult("admin.unwatch") == .null)
    #expect(!bridge.loopSessions.inspector.isActive)
    _ = try await caller.invoke("action://share")
    try await bridge.server.advance(by: .milliseconds(500))
    #expect(
      try await inspector.callResult("router.canOpen", ["uri": "action://share"])["canOpen"] == true
    )
    _ = try await inspector.callResult("admin.watch")
    #expect(bridge.loopSessions.inspector.isActive)
    try await inspector.close()
    try await bridge.server.advance(by: .seconds(200))
    #expect(!bridge.loopSessions.inspector.isActive)
  }

  @Test func filtersRecordsBySession() async throws {
    let (one, opened) = try await open()
    let other = try await open().client
    let inspector = try await openInspector(["session": opened["session"] ?? nil])
    _ = try await other.invoke("action://share", ["n": 1])
    _ = try await one.invoke("action://share", ["n": 2])
    let records = try await nextBatch(inspector)
    #expect(records.map { $0["session"] } == [opened["session"]])
    #expect(records[0]["params"] == nil)
  }

  @Test func truncatesMessagesAtLimit() async throws {
    let caller = try await open().client
    let inspector = try await openInspector(["messages": true, "limit": 50])
    let long = String(repeating: "é", count: 100)
    _ = try await caller.invoke("action://share", ["long": .string(long)])
    let record = try #require(try await nextBatch(inspector).first)
    #expect(record["params"] == nil && record["result"] == nil)
    let cut = try #require(record["resultCut"]?.string)
    #expect(cut.hasPrefix("{\"long\":\"éé") && (49...50).contains(cut.utf8.count))
    #expect(record["resultBytes"] == 211)
    #expect(try await inspector.callStatus("admin.watch", ["limit": 5]) == "-32602")
  }

  @Test func countsDroppedRecords() async throws {
    let caller = try await open().client
    let inspector = try await openInspector()
    for _ in 0..<520 { _ = try await caller.invoke("action://share") }
    #expect(try await nextBatch(inspector, dropped: 20).count == 500)
    let routes = try await inspector.callResult("admin.routes")["routes"]?.array ?? []
    #expect(routes.first { $0["name"] == "share" }?["calls"] == 520)
  }

  @Test func countsDroppedRecordsOnlyForMatchingFilter() async throws {
    let (one, opened) = try await open()
    let other = try await open().client
    let inspector = try await openInspector(["session": opened["session"] ?? nil])
    for _ in 0..<502 { _ = try await one.invoke("action://share") }
    for _ in 0..<5 { _ = try await other.invoke("action://share") }
    #expect(try await nextBatch(inspector, dropped: 2).count == 500)
  }

  @Test func truncatesDeeplyNestedMessages() async throws {
    let caller = try await open().client
    let inspector = try await openInspector(["messages": true])
    let deep = (0..<119).reduce(Value.array([])) { value, _ in .array([value]) }
    for levels in [deep, .array([deep]), .array([.array([.array([deep])])])] {
      _ = try await caller.request(
        "router.invoke", ["uri": "action://share", "params": ["a": levels]])
    }
    let records = try await nextBatch(inspector)
    #expect(records.count == 3)
    for record in records {
      #expect(record["params"] == nil && record["paramsCut"]?.string?.hasSuffix("]}}") == true)
    }
  }

  @Test func recordsNothingOfCallsFromBeforeAnotherWatch() async throws {
    let (host, _) = try await open(
      "phone", ["hosts": [["patterns": ["action://scan"], "kind": "task"]]])
    let inspector = try await openInspector()
    _ = try await host.invoke("action://share")
    _ = try await nextBatch(inspector)
    _ = try await inspector.callResult("admin.unwatch")
    // The trace of the first call is not that of the second one.
    try await host.call("a", "router.invoke", ["uri": "action://scan"])
    let request = try await host.nextRequest("task.run")
    _ = try await inspector.callResult("admin.watch")
    try await host.respond(request, "scanned")
    _ = try await host.response("a")
    _ = try await host.invoke("action://share")
    let calls = try await nextBatch(inspector).filter {
      $0["type"] == "call" && $0["method"] == "router.invoke"
    }
    #expect(calls.map { $0["uri"] } == ["action://share"])
  }

  /// Replays order the calls and requests of a recording by these times.
  @Test func callBeginsBeforeItsRequestAndEndsAfterIt() async throws {
    let bridge = InMemoryBridge(
      Router(),
      rules: try CompiledPolicy([Policy.Rule("everybody", .allow, ["*"])]),
      loop: MemoryLoop(readingTime: .milliseconds(1)))
    let (host, _) = try await WireClient.open(
      bridge, ["hosts": [["patterns": ["action://scan"], "kind": "task"]]])
    let (inspector, _) = try await WireClient.open(bridge)
    _ = try await inspector.callResult("admin.watch", [:])
    try await host.call("a", "router.invoke", ["uri": "action://scan"])
    try await host.respond(try await host.nextRequest("task.run"), "scanned")
    _ = try await host.response("a")
    try await bridge.server.advance(by: .milliseconds(200))
    let records =
      try await inspector.nextRequest("admin.records")["params"]?["records"]?.array ?? []
    func times(of type: String) throws -> ClosedRange<Double> {
      let record = try #require(records.first { $0["type"]?.string == type && $0["ms"] != nil })
      let start = try #require(record["at"]?.double)
      return start...(start + (record["ms"]?.double ?? 0))
    }
    let call = try times(of: "call")
    let request = try times(of: "ask")
    #expect(call.lowerBound < request.lowerBound && request.upperBound < call.upperBound)
  }

  @Test func secondWatchReplacesFirst() async throws {
    let (host, _) = try await open(
      "phone", ["hosts": [["patterns": ["action://scan"], "kind": "task"]]])
    let inspector = try await openInspector()
    try await host.call("a", "router.invoke", ["uri": "action://scan"])
    let request = try await host.nextRequest("task.run")
    // A call in progress remains in the records.
    _ = try await inspector.callResult("admin.watch", ["messages": true])
    try await host.respond(request, "scanned")
    _ = try await host.response("a")
    let requestRecord = try #require(try await nextBatch(inspector).first { $0["type"] == "ask" })
    #expect(requestRecord["method"] == "task.run" && requestRecord["result"] == "scanned")

    // The end of the previous call does not end the new one.
    try await inspector.call("end", "admin.unwatch", [:])
    try await inspector.call("begin", "admin.watch", [:])
    _ = try await inspector.response("end")
    _ = try await inspector.response("begin")
    try await bridge.server.advance(by: .milliseconds(1))
    #expect(bridge.loopSessions.inspector.isActive)
  }

  @Test func reportsUnansweredRequestWhenHostLeaves() async throws {
    let (host, _) = try await open(
      "phone", ["hosts": [["patterns": ["action://scan"], "kind": "task"]]])
    let inspector = try await openInspector()
    try await host.call("a", "router.invoke", ["uri": "action://scan"])
    _ = try await host.nextRequest("task.run")
    try await host.close()
    try await bridge.server.advance(by: .seconds(1))
    let requestRecords = try await nextBatch(inspector).filter { $0["type"] == "ask" }
    #expect(requestRecords.count == 1 && requestRecords.first?["code"] == 2504, "\(requestRecords)")
  }

  @Test func sendsNoRecordsAfterPermissionIsRevoked() async throws {
    let caller = try await open().client
    let inspector = try await openInspector()
    try await bridge.sessionServer.applyPolicy(
      try CompiledPolicy([Policy.Rule("everybody", .allow, ["router.*", "$/ping"])]))
    _ = try await caller.invoke("action://share")
    try await bridge.server.advance(by: .milliseconds(500))
    #expect(try await inspector.hasNoPendingMessages())
    #expect(!bridge.loopSessions.inspector.isActive)
  }

  @Test func redactsTokens() async throws {
    let (caller, _) = try await open(token: "bob")
    let inspector = try await openInspector(["messages": true])
    _ = try await caller.request("session.renew", ["token": "bob"])
    let record = try #require(try await nextBatch(inspector).first)
    #expect(record["method"] == "session.renew" && record["params"]?["token"] == "…")
  }

  @Test func listsRoutesWithHandlersAndLatency() async throws {
    let (host, opened) = try await open(
      "phone",
      [
        "hosts": [
          ["scheme": "native", "kind": "page"], ["patterns": ["action://scan"], "kind": "task"],
        ]
      ])
    let inspector = try await openInspector()
    _ = try await host.invoke("action://share")
    _ = try await host.invoke("action://nowhere")
    let result = try await inspector.callResult("admin.routes")
    let routes = Dictionary(
      uniqueKeysWithValues: (result["routes"]?.array ?? []).map { ($0["name"]?.string ?? "", $0) })
    #expect(routes["share"]?["served"] == ["by": "server"] && routes["share"]?["calls"] == 1)
    #expect(routes["share"]?["errors"] == 0 && routes["share"]?["p99"]?.double != nil)
    #expect(routes["list"]?["served"]?["by"] == "clients" && routes["list"]?["calls"] == nil)
    #expect(
      routes["scan"]?["served"]?["clients"]
        == [["session": opened["session"] ?? nil, "client": opened["client"] ?? nil]])
    #expect(routes["fax"]?["served"] == ["by": "nobody"])
    #expect(result["undeclared"]?["calls"] == 1 && result["undeclared"]?["errors"] == 1)
    #expect(result["since"]?.integer == InMemoryBridge.startTime)
  }

  @Test func paginatesSessions() async throws {
    let inspector = try await open("inspector", token: "anna").client
    for _ in 0..<4 { _ = try await open() }
    var seen: [String] = []
    var after: Value?
    repeat {
      var params: ValueObject = ["limit": 2]
      params["after"] = after
      let result = try await inspector.callResult("admin.sessions", params)
      #expect(result["total"] == 5)
      seen += (result["sessions"]?.array ?? []).compactMap { $0["session"]?.string }
      after = result["next"]
    } while after != nil
    #expect(seen.count == 5 && seen == seen.sorted() && Set(seen).count == 5)
    #expect(try await inspector.callStatus("admin.session", ["session": "s-none"]) == "2404")
  }

  @Test func listsRejectedConnections() async throws {
    let inspector = try await open("inspector", token: "anna").client
    let late = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    try await bridge.server.advance(by: .seconds(6))
    #expect(try await late.nextCloseCode() == 4101)
    let result = try await inspector.callResult("admin.refusals")
    #expect(result["count"] == 1)
    let rejection = try #require(result["refusals"]?.array?.first)
    #expect(rejection["door"] == "connection" && rejection["code"] == 4101)
    #expect(rejection["reason"] == "No session.open within 5000 ms")
  }

  @Test func plainClientHasToIdentifyItselfInTime() async throws {
    let silent = try await WireClient.connect(to: bridge)
    let active = try await WireClient.connect(to: bridge, from: Handshake(token: "anna"))
    #expect(try await active.callStatus("$/ping") == "ok")
    try await bridge.server.advance(by: .seconds(6))
    #expect(try await silent.nextCloseCode() == 4101)
    #expect(try await active.callStatus("$/ping") == "ok")
  }

  @Test func listsVersionsWithChanges() async throws {
    let inspector = try await open("inspector", token: "anna").client
    _ = try await inspector.callResult(
      "table.update",
      ["operations": [["op": "redirect", "from": "action://old", "to": "action://share"]]])
    try await bridge.sessionServer.applyPolicy(
      try CompiledPolicy([Policy.Rule("anna", .allow, ["*"], subjects: ["anna"])]))
    let result = try await inspector.callResult("admin.versions")
    #expect(result["table"]?["version"] == "1+1")
    let earlier = try #require(result["table"]?["versions"]?.array?.first)
    #expect(earlier["version"] == "1" && earlier["changes"]?["redirects"] == ["action://old"])
    let policy = try #require(result["policy"])
    #expect(policy["rules"]?.array?.count == 1)
    #expect(policy["versions"]?.array?.first?["changes"]?["removed"] == ["everybody"])
    // A rollback that would deny this user the next rollback is rejected.
    let first = try #require(policy["versions"]?.array?.first?["hash"]?.string)
    let back = try await inspector.callResult(
      "policy.rollback", ["to": .string(first), "expect": policy["hash"] ?? nil])
    #expect(back == ["hash": .string(first), "previous": policy["hash"] ?? nil])
    let again = try await inspector.callResult("admin.versions")["policy"]
    #expect(again?["hash"]?.string == first && again?["rules"]?.array?.count == 2)
    try await bridge.sessionServer.applyPolicy(
      try CompiledPolicy([Policy.Rule("bob", .allow, ["*"], subjects: ["bob"])]))
    let bob = try await open("inspector", token: "bob").client
    let rejection = try await bob.request("policy.rollback", ["to": .string(first)])["error"]
    #expect(rejection?["code"] == 2409 && rejection?["data"]?["kind"] == "lockedOut")
    try await bridge.sessionServer.applyPolicy(
      try CompiledPolicy([Policy.Rule("anna", .allow, ["*"], subjects: ["anna"])]))
    _ = try await inspector.callResult("table.rollback", ["to": "1"])
    #expect(try await inspector.callResult("admin.versions")["table"]?["versions"] == [])
  }

  @Test func explainsURIForAnotherCaller() async throws {
    let (_, opened) = try await open("phone", ["hosts": [["scheme": "native", "kind": "page"]]])
    let inspector = try await open("inspector", token: "anna").client
    let bare = try await inspector.callResult("admin.explain", ["uri": "native://list/7"])
    #expect(bare["canOpen"] == true && bare["host"] == .null && bare["policy"] == .null)
    let here = try await inspector.callResult(
      "admin.explain",
      [
        "uri": "native://list/7",
        "as": ["session": opened["session"] ?? nil, "token": ["sub": "bob"]],
      ])
    #expect(here["canOpen"] == true && here["host"] == opened["client"])
    try await bridge.sessionServer.applyPolicy(
      try CompiledPolicy([
        Policy.Rule("anna", .allow, ["*"], subjects: ["anna"]),
        Policy.Rule("no bob", .deny, ["router.*"], subjects: ["bob"]),
      ]))
    let denied = try await inspector.callResult(
      "admin.explain", ["uri": "native://list/7", "as": ["token": ["sub": "bob"]]])
    #expect(denied["canOpen"] == false && denied["policy"] == "no bob")
    #expect(
      try await inspector.callStatus("admin.explain", ["uri": "a:b", "as": ["who": 1]]) == "-32602")
  }
}
