import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// The Swift client's messages to a restarted server, one by one.
@Suite(.timeLimit(.minutes(1)))
struct ClientPageSyncTests {
  private let server = ScriptedServer()
  private let shell = RejectingPageHost()

  /// Shows all pages but `native://no`.
  private final class RejectingPageHost: PageHost {
    let calls = Mailbox<String>()

    func open(_ page: BridgeClient.HostedPage) async throws {
      calls.put("open \(page.uri)")
      if page.uri == "native://no" { throw CallError(.hostFailed, "no") }
    }

    func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
      async
    {
      calls.put("close \(page.uri) \(reason)")
    }
  }

  private static func pageOpenParams(_ id: String, _ uri: String) -> Value {
    [
      "page": ["id": .string(id), "uri": .string(uri), "style": "push"],
      "host": ["scheme": .string(String(uri.prefix { $0 != ":" })), "kind": "page"],
    ]
  }

  /// Returns a client that shows `p1` and `p2`, and has sent the responses to their requests.
  private func openClient() async throws -> BridgeClient {
    let client = try await server.openClient(
      .init(name: "test", version: "1", hosts: [.pages(scheme: "native", shell)]), canResume: true)
    for number: Int64 in 1...2 {
      try await server.send([
        "jsonrpc": "2.0", "seq": .integer(number), "id": .integer(number), "method": "page.open",
        "params": Self.pageOpenParams("p\(number)", "native://\(number)"),
      ])
      #expect(try await server.next()["result"] == .null)
      #expect(try await shell.calls.receive() == "open native://\(number)")
    }
    return client
  }

  /// Resumes with a restarted server. Returns the params of the client's `session.resume`.
  private func restartServer(received: Int64 = 2) async throws -> Value {
    try await server.close(.noPong)
    async let next = server.next()
    // After a short connection the client waits before it reconnects.
    await server.loop.advance(by: .seconds(2))
    let resumeRequest = try await next
    #expect(resumeRequest["method"] == "session.resume")
    try await server.respond(
      resumeRequest,
      [
        "resumed": true, "restarted": true, "received": .integer(received),
        "sent": resumeRequest["params"]?["received"] ?? 0, "session": "s", "client": "c",
        "token": "t2",
        "epoch": "e", "capabilities": ["resume"], "pending": [],
      ])
    return resumeRequest["params"] ?? .null
  }

  private func respond(_ request: Value, seq: Int64, _ result: Value) async throws {
    try await server.send([
      "jsonrpc": "2.0", "seq": .integer(seq), "id": request["id"] ?? nil, "result": result,
    ])
  }

  @Test func waitingMessagesAreNotCountedAsSent() async throws {
    let client = try await openClient()
    try await client.notify("sent")
    _ = try await server.next()
    try await server.close(.noPong)
    let resumeRequest = try await server.next()
    #expect(resumeRequest["params"]?["sent"] == 3)
    #expect(resumeRequest["params"]?["received"] == 2)
    try await client.notify("waits")
    await server.loop.settle()
    #expect(try await restartServer()["sent"] == 3)
    #expect(try await server.next()["seq"] == 3)
    #expect(try await server.next() == ["jsonrpc": "2.0", "seq": 4, "method": "waits"])
    #expect(try await server.next()["method"] == "page.sync")
    await client.close()
  }

  @Test func closesRemovedPagesAndShowsMissingOnes() async throws {
    let client = try await openClient()
    #expect(try await restartServer()["sent"] == 2)
    let syncRequest = try await server.next()
    #expect(syncRequest["method"] == "page.sync")
    #expect(syncRequest["seq"] == 3)
    #expect(syncRequest["params"] == ["pages": ["p1", "p2"]])
    try await respond(
      syncRequest, seq: 3,
      [
        "closed": ["p2", "p9"],
        "open": [
          Self.pageOpenParams("p0", "native://0"), Self.pageOpenParams("p1", "native://1"),
          Self.pageOpenParams("p3", "native://no"), Self.pageOpenParams("p4", "other://4"),
          Self.pageOpenParams("p5", "native://5"),
        ],
      ])
    var calls: [String] = []
    for _ in 0..<4 { calls.append(try await shell.calls.receive()) }
    #expect(calls.contains("close native://2 failed"))
    #expect(
      calls.filter { $0.hasPrefix("open") }
        == ["open native://0", "open native://no", "open native://5"])
    let nextSyncRequest = try await server.next()
    #expect(nextSyncRequest["method"] == "page.sync")
    #expect(nextSyncRequest["params"]?["pages"] == ["p1", "p0", "p5"])
    #expect(nextSyncRequest["params"]?["failed"] == ["p3", "p4"])
    // The client does not repeat this forever if a server requests the page again.
    try await respond(
      nextSyncRequest, seq: 4, ["closed": [], "open": [Self.pageOpenParams("p3", "native://no")]])
    // A page that was shown again closes like any other.
    try await server.send([
      "jsonrpc": "2.0", "seq": 5, "id": 9, "method": "page.close",
      "params": ["page": "p5", "reason": "finished"],
    ])
    #expect(try await shell.calls.receive() == "close native://5 finished")
    #expect(try await server.next()["id"] == 9)
    await client.close()
  }

  @Test func pageClosedBeforeItOpensIsNotShown() async throws {
    let client = try await openClient()
    _ = try await restartServer()
    let syncRequest = try await server.next()
    try await respond(
      syncRequest, seq: 3, ["closed": [], "open": [Self.pageOpenParams("p3", "native://3")]])
    try await server.send([
      "jsonrpc": "2.0", "seq": 4, "id": 9, "method": "page.close",
      "params": ["page": "p3", "reason": "dismissed"],
    ])
    while try await server.next()["id"] != 9 {}
    await server.loop.settle()
    var isShown = false
    while let call = await shell.calls.next(within: .milliseconds(50)) {
      if call == "open native://3" { isShown = true }
      if call.hasPrefix("close native://3") { isShown = false }
    }
    #expect(!isShown)
    await client.close()
  }

  @Test func pageSyncIsNotReportedAsALostCall() async throws {
    let client = try await openClient()
    _ = try await restartServer()
    #expect(try await server.next()["method"] == "page.sync")
    let states = await client.connectionStates()
    try await server.close(.noPong)
    async let resumeRequest = server.next()
    await server.loop.advance(by: .seconds(2))
    try await server.respond(
      try await resumeRequest,
      [
        "resumed": false, "reason": "unknown", "session": "s2", "client": "c2", "token": "t",
        "capabilities": ["resume"],
      ])
    for await state in states {
      guard case .sessionReplaced(let lost) = state else { continue }
      #expect(lost.calls.isEmpty)
      #expect(lost.pages.map(\.id) == ["p2", "p1"])
      break
    }
    // The ids may belong to other pages by now.
    try await client.notify("next")
    #expect(try await server.next()["method"] == "next")
    await client.close()
  }

  @Test func clientWithoutPagesSkipsPageSync() async throws {
    let client = try await server.openClient(.init(name: "test", version: "1"), canResume: true)
    _ = try await restartServer(received: 0)
    try await client.notify("next")
    #expect(try await server.next()["method"] == "next")
    await client.close()
  }
}
