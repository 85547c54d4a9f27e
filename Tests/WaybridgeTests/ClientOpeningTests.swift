import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// What becomes of pages whose opening takes its time.
@Suite(.timeLimit(.minutes(1)))
struct ClientOpeningTests {
  private let server = ScriptedServer()

  /// Says nothing of where it runs; each opening waits to be let go, whatever becomes of its task.
  private struct SlowShell: PageHost {
    let calls = Mailbox<String>()
    let release = Mailbox<Void>()

    func open(_ page: BridgeClient.Page) async throws {
      calls.put("open \(page.id)")
      try await Task { try await release.take() }.value
    }

    func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
      calls.put("close \(page.id) \(reason)")
    }
  }

  private let shell = SlowShell()

  private func open() async throws -> BridgeClient {
    try await server.open(
      .init(name: "shell", version: "1", hosts: [.pages(scheme: "native", shell)]))
  }

  private func ask(_ id: Value, _ method: String, _ params: Value) async throws {
    try await server.send(["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
  }

  private func openPage(_ id: String) async throws {
    try await ask(
      .string("open \(id)"), "page.open",
      ["page": ["id": .string(id), "uri": "native://a", "style": "push"]])
  }

  private func closePage(_ id: String) async throws {
    try await ask(
      .string("close \(id)"), "page.close", ["page": .string(id), "reason": "dismissed"])
  }

  private func cancel(_ id: String) async throws {
    try await server.send(
      ["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": .string(id)]])
  }

  private func expect(_ calls: String...) async throws {
    for call in calls { #expect(try await shell.calls.take() == call) }
  }

  @Test func anOpeningThatIsWithdrawnHoldsNobodyUp() async throws {
    let client = try await open()
    try await openPage("p1")
    try await expect("open p1")
    try await cancel("open p1")
    try await openPage("p2")
    try await expect("open p2")
    // The first agrees all the same, and is closed again.
    for _ in 0..<2 { shell.release.put(()) }
    var answers: Set<Value> = []
    for _ in 0..<2 {
      let answer = try await server.next()
      answers.insert([answer["id"] ?? nil, answer["error"]?["code"] ?? nil])
    }
    #expect(answers == [["open p1", -32800], ["open p2", nil]])
    try await expect("close p1 cancelled")
    await client.close()
  }

  @Test func aPageThatClosesWhileItOpensIsClosedOnceItIsOpen() async throws {
    let client = try await open()
    try await openPage("p1")
    try await expect("open p1")
    try await closePage("p1")
    // Others go on.
    try await openPage("p2")
    try await expect("open p2")
    for _ in 0..<2 { shell.release.put(()) }
    try await expect("close p1 dismissed")
    await client.close()
  }

  @Test func afterTheEndWhatIsShownAndWhatStillOpensIsClosed() async throws {
    let client = try await open()
    try await openPage("p1")
    try await expect("open p1")
    shell.release.put(())
    _ = try await server.next()
    try await openPage("p2")
    try await expect("open p2")
    try await server.close(.drain)
    _ = await client.ended()
    shell.release.put(())
    let calls = [try await shell.calls.take(), try await shell.calls.take()]
    #expect(Set(calls) == ["close p1 failed", "close p2 cancelled"])
    await client.close()
  }
}
