import Synchronization
import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient

/// What the Swift client answers to a server.
@Suite(.timeLimit(.minutes(1)))
struct ClientHandlerTests {
  private let server = ScriptedServer()

  private func ask(
    _ id: Value, _ method: String, _ params: Value
  ) async throws {
    try await server.send(["jsonrpc": "2.0", "id": id, "method": .string(method), "params": params])
  }

  private func openPage(_ id: String, _ uri: String = "native://a") async throws {
    try await ask(
      .string(id), "page.open",
      ["page": ["id": .string(id), "uri": .string(uri), "style": "push", "opener": "p0"]])
  }

  /// Tells what it is called with, and shows what it is asked for.
  private actor Shell: PageHost {
    nonisolated let calls = Mailbox<String>()

    func open(_ page: BridgeClient.Page) async throws {
      calls.put("open \(page.id)")
      if page.uri.hasSuffix("/refused") { throw CallError(code: 7, message: "no") }
      if page.uri.hasSuffix("/broken") { throw CallError(code: 2404, message: "not mine") }
    }

    func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
      calls.put("close \(page.id) \(reason)")
    }

    func resume(_ page: BridgeClient.Page) async {
      calls.put("resume \(page.id)")
    }

    func call(
      _ call: BridgeClient.MethodCall, of page: BridgeClient.Page
    ) async throws -> Value {
      guard call.method == "scroll" else { throw call.unknown }
      call.progress("half")
      return ["page": .string(page.id), "to": call.params["to"] ?? .null]
    }
  }

  private func options(_ hosts: BridgeClient.Host...) -> BridgeClient.SessionOptions {
    BridgeClient.SessionOptions(name: "shell", version: "1", hosts: hosts)
  }

  /// As ``Shell``, but says nothing of where it runs.
  private struct PlainShell: PageHost {
    let shell = Shell()

    func open(_ page: BridgeClient.Page) async throws {
      shell.calls.put("open \(page.id)")
    }

    func close(_ page: BridgeClient.Page, reason: Outcome.Kind, exts: ValueObject) async {
      shell.calls.put("close \(page.id) \(reason)")
    }

    func resume(_ page: BridgeClient.Page) async {
      shell.calls.put("resume \(page.id)")
    }
  }

  @Test(arguments: [true, false])
  func hostsAreBegunInTheOrderOfTheRequests(isActor: Bool) async throws {
    let plain = PlainShell()
    let shell = plain.shell
    let client = try await server.open(
      options(.pages(scheme: "native", isActor ? shell : plain)))
    try await openPage("root")
    _ = try await server.next()
    #expect(try await shell.calls.take() == "open root")
    for round in 0..<50 {
      try await openPage("p\(round)")
      #expect(try await server.next()["result"] == .null)
      try await ask(1, "page.close", ["page": .string("p\(round)"), "reason": "finished"])
      try await server.send(
        ["jsonrpc": "2.0", "method": "page.resume", "params": ["page": "root"]])
      try await openPage("q\(round)")
      for call in ["open p\(round)", "close p\(round) finished", "resume root", "open q\(round)"] {
        #expect(try await shell.calls.take() == call)
      }
      for _ in 0..<2 { _ = try await server.next() }
    }
    await client.close()
  }

  @Test func aLostConnectionClosesWhatIsShownTopmostFirst() async throws {
    let shell = Shell()
    let client = try await server.open(options(.pages(scheme: "native", shell)))
    for page in ["p1", "p2"] {
      try await openPage(page)
      _ = try await server.next()
      #expect(try await shell.calls.take() == "open \(page)")
    }
    try await server.close(.slowConsumer)
    #expect(try await shell.calls.take() == "close p2 failed")
    #expect(try await shell.calls.take() == "close p1 failed")
    #expect(await client.ended().code == 4201)
    await client.close()
  }

  @Test(arguments: [
    ("native://a/refused", 7, "no"), ("native://a/broken", 2502, "not mine (code 2404)"),
    ("flutter://a", 2504, "This client does not show flutter://a"),
    ("no uri", 2504, "This client does not show no uri"),
  ])
  func aPageThatDoesNotOpenIsAnError(uri: String, code: Int64, message: String) async throws {
    let client = try await server.open(options(.pages(scheme: "native", Shell())))
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
  func wrongParamsAreNamed(method: String, params: Value) async throws {
    let client = try await server.open(options(.pages(scheme: "native", Shell())))
    try await ask(1, method, params)
    #expect(try await server.next()["error"]?["code"] == -32602)
    await client.close()
  }

  @Test func methodsOfAPageAreCalledWithProgress() async throws {
    let client = try await server.open(options(.pages(scheme: "native", Shell())))
    try await openPage("p1")
    _ = try await server.next()
    try await ask(5, "page.call", ["page": "p1", "method": "scroll", "params": ["to": 3]])
    #expect(
      try await server.next()
        == ["jsonrpc": "2.0", "method": "$/progress", "params": ["id": 5, "value": "half"]])
    #expect(try await server.next()["result"] == ["page": "p1", "to": 3])
    try await ask(6, "page.call", ["page": "p1", "method": "fly"])
    #expect(try await server.next()["error"]?["code"] == -32601)
    try await ask(7, "page.call", ["page": "p2", "method": "scroll"])
    #expect(try await server.next()["error"]?["data"]?["kind"] == "notOnStack")
    await client.close()
  }

  @Test func theServerCallsMethodsByName() async throws {
    var options = BridgeClient.SessionOptions(
      name: "page", version: "1", join: .init(session: "s", token: "j"), page: "own")
    let notified = Mailbox<Value>()
    options.methods = [
      "sum": { call in
        .integer((call.params.list ?? []).compactMap(\.integer).reduce(0, +))
      },
      "note": { call in
        notified.put(call.params)
        return nil
      },
    ]
    let client = try await server.open(options)
    try await ask(1, "sum", [1, 2, 3])
    #expect(try await server.next()["result"] == 6)
    try await ask(2, "page.call", ["page": "own", "method": "sum", "params": [4]])
    #expect(try await server.next()["result"] == 4)
    try await server.send(["jsonrpc": "2.0", "method": "note", "params": ["a": 1]])
    #expect(try await notified.take() == ["a": 1])
    try await ask(3, "other", [:])
    #expect(try await server.next()["error"]?["code"] == -32601)
    try await client.setMethod("other") { _ in "there" }
    try await ask(4, "other", [:])
    #expect(try await server.next()["result"] == "there")
    try await client.setMethod("other", nil)
    try await ask(5, "other", [:])
    #expect(try await server.next()["error"]?["code"] == -32601)
    await client.close()
  }

  @Test(arguments: ["page.open", "event", "$/progress", "rpc.discover"])
  func namesOfTheProtocolAreNoMethods(name: String) async throws {
    let client = try await server.open()
    let error = await #expect(throws: CallError.self) {
      try await client.setMethod(name) { _ in nil }
    }
    #expect(error?.code == -32602)
    #expect(error?.message.contains(name) == true)
    await client.close()
  }

  @Test func aCancelledTaskIsCancelledInSwift() async throws {
    let running = Mailbox<Void>()
    let client = try await server.open(
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
    try await ask("x", "task.run", ["uri": "action://wait"])
    try await running.take()
    try await server.send(
      ["jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": "x"]])
    #expect(try await server.next()["error"]?["code"] == -32800)
    await client.close()
  }

  @Test func anAnswerThatIsTooLargeIsAnError() async throws {
    let text = String(repeating: "x", count: 1000)
    let client = try await server.open(
      options(.task("action://long") { _ in .string(text) }), maxMessage: 500)
    try await ask(1, "task.run", ["uri": "action://long"])
    #expect(try await server.next()["error"]?["code"] == 2413)
    await client.close()
  }

  @Test func anIdThatIsInUseIsRefusedAndTheCallGoesOn() async throws {
    let release = Mailbox<Void>()
    let client = try await server.open(
      options(
        .task("action://wait") { _ in
          try await release.take()
          return "done"
        }))
    try await ask(1, "task.run", ["uri": "action://wait"])
    try await ask(1, "task.run", ["uri": "action://wait"])
    #expect(try await server.next()["error"]?["code"] == 2409)
    release.put(())
    #expect(try await server.next()["result"] == "done")
    await client.close()
  }
}
