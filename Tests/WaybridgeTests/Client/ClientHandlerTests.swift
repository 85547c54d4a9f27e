import Synchronization
import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// Responses of the Swift client to the server's requests.
@Suite(.timeLimit(.minutes(1)))
struct ClientHandlerTests {
  private let server = ScriptedServer()

  private func sendRequest(
    _ id: Value, _ method: String, _ params: Value
  ) async throws {
    try await server.send(["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
  }

  private func openPage(_ id: String, _ uri: String = "native://a") async throws {
    try await sendRequest(
      .string(id), "page.open",
      ["page": ["id": .string(id), "uri": .string(uri), "style": "push", "opener": "p0"]])
  }

  /// Records its calls and shows the requested pages.
  private actor ActorPageHost: PageHost {
    nonisolated let calls = Mailbox<String>()

    func open(_ page: BridgeClient.HostedPage) async throws {
      calls.put("open \(page.id)")
      if page.uri.hasSuffix("/refused") { throw CallError(code: 7, message: "no") }
      if page.uri.hasSuffix("/broken") { throw CallError(code: 2404, message: "not mine") }
    }

    func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
      async
    {
      calls.put("close \(page.id) \(reason)")
    }

    func resume(_ page: BridgeClient.HostedPage) async {
      calls.put("resume \(page.id)")
    }

    func call(
      _ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage
    ) async throws -> Value {
      guard call.method == "scroll" else { throw call.methodNotFoundError }
      call.reportProgress("half")
      return ["page": .string(page.id), "to": call.params["to"] ?? .null]
    }
  }

  private func options(_ hosts: BridgeClient.Host...) -> BridgeClient.SessionOptions {
    BridgeClient.SessionOptions(name: "shell", version: "1", hosts: hosts)
  }

  /// Like ``ActorPageHost``, but without a declared isolation.
  private struct NonisolatedPageHost: PageHost {
    let shell = ActorPageHost()

    func open(_ page: BridgeClient.HostedPage) async throws {
      shell.calls.put("open \(page.id)")
    }

    func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
      async
    {
      shell.calls.put("close \(page.id) \(reason)")
    }

    func resume(_ page: BridgeClient.HostedPage) async {
      shell.calls.put("resume \(page.id)")
    }
  }

  @Test(arguments: [true, false])
  func hostsAreCalledInTheOrderOfRequests(isActor: Bool) async throws {
    let plain = NonisolatedPageHost()
    let shell = plain.shell
    let client = try await server.openClient(
      options(.pages(scheme: "native", isActor ? shell : plain)))
    try await openPage("root")
    _ = try await server.next()
    #expect(try await shell.calls.receive() == "open root")
    for round in 0..<50 {
      try await openPage("p\(round)")
      #expect(try await server.next()["result"] == .null)
      try await sendRequest(1, "page.close", ["page": .string("p\(round)"), "reason": "finished"])
      try await server.send(
        ["jsonrpc": "2.0", "method": "page.resume", "params": ["page": "root"]])
      try await openPage("q\(round)")
      for call in ["open p\(round)", "close p\(round) finished", "resume root", "open q\(round)"] {
        #expect(try await shell.calls.receive() == call)
      }
      for _ in 0..<2 { _ = try await server.next() }
    }
    await client.close()
  }

  /// Records the pages that its methods get.
  private struct RecordingPages: PageHost {
    let pages = Mailbox<BridgeClient.HostedPage>()
    let updates = Mailbox<BridgeClient.HostedPage>()

    func open(_ page: BridgeClient.HostedPage) async throws { pages.put(page) }

    func close(_ page: BridgeClient.HostedPage, reason: Outcome.OutcomeKind, exts: ValueObject)
      async
    {
      pages.put(page)
    }

    func resume(_ page: BridgeClient.HostedPage) async { pages.put(page) }

    func update(_ page: BridgeClient.HostedPage) async { updates.put(page) }

    func call(
      _ call: BridgeClient.MethodCall, of page: BridgeClient.HostedPage
    ) async throws -> Value {
      pages.put(page)
      return nil
    }
  }

  @Test func openPageGetsTheParametersThatACallDelivers() async throws {
    let host = RecordingPages()
    let client = try await server.openClient(options(.pages(scheme: "native", host)))
    func page(_ uri: String, _ params: ValueObject, _ exts: ValueObject) -> BridgeClient.HostedPage
    {
      .init(id: "p", uri: uri, route: "a", params: params, exts: exts, opener: "p0")
    }
    try await sendRequest(
      1, "page.open",
      [
        "page": [
          "id": "p", "uri": "native://a/1", "route": "a", "params": ["id": 1],
          "exts": ["animated": true], "style": "push", "opener": "p0",
        ]
      ])
    #expect(try await host.pages.receive() == page("native://a/1", ["id": 1], ["animated": true]))
    for (isUpdate, params, expected) in [
      (false, ["page": "p"], page("native://a/1", ["id": 1], ["animated": true])),
      (
        true, ["page": "p", "uri": "native://a/2", "params": ["id": 2], "exts": [:]],
        page("native://a/2", ["id": 2], [:])
      ),
      (true, ["page": "p", "params": ["id": 3]], page("native://a/2", ["id": 3], [:])),
      (false, ["page": "p", "params": nil], page("native://a/2", ["id": 3], [:])),
    ] as [(Bool, Value, BridgeClient.HostedPage)] {
      try await server.send(["jsonrpc": "2.0", "method": "page.resume", "params": params])
      #expect(try await host.pages.receive() == expected)
      // The update comes first.
      #expect(await host.updates.next(within: .zero) == (isUpdate ? expected : nil))
    }
    try await sendRequest(2, "page.call", ["page": "p", "method": "m"])
    #expect(try await host.pages.receive().params == ["id": 3])
    try await sendRequest(3, "page.close", ["page": "p", "reason": "finished"])
    #expect(try await host.pages.receive().uri == "native://a/2")
    await client.close()
  }

  @Test func lostConnectionClosesPagesTopmostFirst() async throws {
    let shell = ActorPageHost()
    let client = try await server.openClient(options(.pages(scheme: "native", shell)))
    for page in ["p1", "p2"] {
      try await openPage(page)
      _ = try await server.next()
      #expect(try await shell.calls.receive() == "open \(page)")
    }
    try await server.close(.slowConsumer)
    #expect(try await shell.calls.receive() == "close p2 failed")
    #expect(try await shell.calls.receive() == "close p1 failed")
    #expect(await client.waitUntilEnded().code == 4201)
    await client.close()
  }

  @Test(arguments: [
    ("native://a/refused", 7, "no"), ("native://a/broken", 2502, "not mine (code 2404)"),
    ("flutter://a", 2504, "This client does not show flutter://a"),
    ("no uri", 2504, "This client does not show no uri"),
  ])
  func failedPageOpenIsAnError(uri: String, code: Int64, message: String) async throws {
    let client = try await server.openClient(options(.pages(scheme: "native", ActorPageHost())))
    try await openPage("p", uri)
    let error = try await server.next()["error"]
    #expect(error?["code"] == .integer(code))
    #expect(error?["message"] == .string(message))
    await client.close()
  }

  @Test(
    arguments: [
      ("page.open", ["page": ["id": "p"]]), ("page.open", [:]), ("page.close", ["page": 7]),
      ("page.call", ["page": "p"]), ("task.run", ["params": [:]]),
    ] as [(String, Value)])
  func rejectsInvalidParams(method: String, params: Value) async throws {
    let client = try await server.openClient(options(.pages(scheme: "native", ActorPageHost())))
    try await sendRequest(1, method, params)
    #expect(try await server.next()["error"]?["code"] == -32602)
    await client.close()
  }

  @Test func pageMethodsReportProgress() async throws {
    let client = try await server.openClient(options(.pages(scheme: "native", ActorPageHost())))
    try await openPage("p1")
    _ = try await server.next()
    try await sendRequest(5, "page.call", ["page": "p1", "method": "scroll", "params": ["to": 3]])
    #expect(
      try await server.next()
        == ["jsonrpc": "2.0", "method": "$/progress", "params": ["id": 5, "value": "half"]])
    #expect(try await server.next()["result"] == ["page": "p1", "to": 3])
    try await sendRequest(6, "page.call", ["page": "p1", "method": "fly"])
    #expect(try await server.next()["error"]?["code"] == -32601)
    try await sendRequest(7, "page.call", ["page": "p2", "method": "scroll"])
    #expect(try await server.next()["error"]?["data"]?["kind"] == "notOnStack")
    await client.close()
  }

  @Test func serverCallsRegisteredMethods() async throws {
    var options = BridgeClient.SessionOptions(
      name: "page", version: "1", join: .init(session: "s", token: "j"), page: "own")
    let notified = Mailbox<Value>()
    options.methods = [
      "sum": { call in
        .integer((call.params.array ?? []).compactMap(\.integer).reduce(0, +))
      },
      "note": { call in
        notified.put(call.params)
        return nil
      },
    ]
    let client = try await server.openClient(options)
    try await sendRequest(1, "sum", [1, 2, 3])
    #expect(try await server.next()["result"] == 6)
    try await sendRequest(2, "page.call", ["page": "own", "method": "sum", "params": [4]])
    #expect(try await server.next()["result"] == 4)
    try await server.send(["jsonrpc": "2.0", "method": "note", "params": ["a": 1]])
    #expect(try await notified.receive() == ["a": 1])
    try await sendRequest(3, "other", [:])
    #expect(try await server.next()["error"]?["code"] == -32601)
    try await client.setMethod("other") { _ in "there" }
    try await sendRequest(4, "other", [:])
    #expect(try await server.next()["result"] == "there")
    try await client.setMethod("other", nil)
    try await sendRequest(5, "other", [:])
    #expect(try await server.next()["error"]?["code"] == -32601)
    await client.close()
  }

  @Test(arguments: ["page.open", "event", "$/progress", "rpc.discover"])
  func rejectsReservedMethodNames(name: String) async throws {
    let client = try await server.openClient()
    let error = await #expect(throws: CallError.self) {
      try await client.setMethod(name) { _ in nil }
    }
    #expect(error?.code == -32602)
    #expect(error?.message.contains(name) == true)
    await client.close()
  }

  @Test func cancelRequestCancelsTheTaskHandler() async throws {
    let running = Mailbox<Void>()
    let client = try await server.openClient(
      options(
        .task("action://wait") { _ in
          let (never, end) = AsyncStream.makeStream(of: Void.self)
          await withTaskCancellationHandler {
            running.put(())
            for await _ in never {}
          } onCancel: {
            end.finish()
          }
          throw CallError(code: 5, message: "gave up")
        }))
    try await sendRequest("x", "task.run", ["uri": "action://wait"])
    try await running.receive()
    try await server.send(
      ["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": "x"]])
    #expect(try await server.next()["error"]?["code"] == -32800)
    await client.close()
  }

  @Test func resultThatIsTooLargeIsAnError() async throws {
    let text = String(repeating: "x", count: 1000)
    let client = try await server.openClient(
      options(.task("action://long") { _ in .string(text) }), maxMessage: 500)
    try await sendRequest(1, "task.run", ["uri": "action://long"])
    #expect(try await server.next()["error"]?["code"] == 2413)
    await client.close()
  }

  @Test func rejectsADuplicateRequestIDAndKeepsTheFirst() async throws {
    let release = Mailbox<Void>()
    let client = try await server.openClient(
      options(
        .task("action://wait") { _ in
          try await release.receive()
          return "done"
        }))
    try await sendRequest(1, "task.run", ["uri": "action://wait"])
    try await sendRequest(1, "task.run", ["uri": "action://wait"])
    #expect(try await server.next()["error"]?["code"] == 2409)
    release.put(())
    #expect(try await server.next()["result"] == "done")
    await client.close()
  }
}
