import TestSupport
import Testing
import WayNavigation
import WayRouting
import WaySession
import WayValues

/// Methods of pages with Swift handlers, and calls of page methods from Swift.
@Suite(.timeLimit(.minutes(1)))
struct PageMethodTests {
  private let router = Router()

  /// Opens a page with a Swift handler. Returns its client.
  private func openPage(
    _ run: (@Sendable (Page, String, Call) async throws -> Value)?
  ) async throws -> (client: WireClient, page: Value) {
    try router.page(
      "native://sdk/:id", PageHandler(open: { _, _ in }, close: { _, _, _ in }, call: run))
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call("open", "router.open", ["uri": "native://sdk/7"])
    let page = try await client.nextMessage()["params"]?["value"]?["opened"]?["page"]
    return (client, try #require(page))
  }

  @Test func handlerReceivesPageMethodAndParams() async throws {
    let (client, page) = try await openPage { page, method, call in
      call.reportProgress("half")
      return [
        .string(page.id), .string(method), .object(call.params), .string(call.uri.text),
        .string(call.navigator.session), .bool(call.deadline != nil),
      ]
    }
    try await client.call(
      1, "page.call",
      ["page": page, "method": "pay", "params": ["sum": 3], "deadlineMs": 60_000])
    #expect(try await client.nextMessage()["params"] == ["id": 1, "value": "half"])
    let result = try await client.response(1)["result"]?.array
    #expect(result?.prefix(4) == [page, "pay", ["sum": 3], "native://sdk/7"])
    #expect(result?.dropFirst(4).first?.string?.hasPrefix("s-") == true)
    #expect(result?.last == true)
  }

  @Test(
    arguments: [
      (CallError(code: 7, message: "own"), 7), (CallError(code: 2404, message: "no"), -32603),
    ] as [(CallError, Int64)])
  func forwardsOnlyApplicationErrors(error: CallError, code: Int64) async throws {
    let (client, page) = try await openPage { _, _, _ in throw error }
    try await client.call(1, "page.call", ["page": page, "method": "x"])
    #expect(try await client.response(1)["error"]?["code"]?.integer == code)
  }

  @Test func failsForPageWithoutMethodsAndFreesID() async throws {
    let (client, page) = try await openPage(nil)
    for _ in 0..<2 {
      try await client.call(1, "page.call", ["page": page, "method": "x"])
      let error = try await client.response(1)["error"]
      #expect(error?["code"] == 2502)
      #expect(error?["data"]?["host"]?["code"] == -32601)
    }
  }

  @Test func rejectsParametersThatPageCannotDecode() async throws {
    struct Address: Decodable {
      let id: Int
    }
    let read: @Sendable (Page, Call) throws -> Void = { page, _ in
      _ = try page.decode(Address.self)
    }
    try router.page("native://read/:id", PageHandler(open: read, close: { _, _, _ in }))
    try router.page(
      "native://own",
      PageHandler(
        open: { _, _ in throw CallError(code: 2422, message: "own") }, close: { _, _, _ in }))
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call(1, "router.open", ["uri": "native://read/x"])
    let error = try await client.response(1)["error"]
    #expect(error?["code"] == 2422)
    #expect(error?["data"]?["errors"]?.array?.map { $0["path"] } == ["$.id"])
    try await client.call(2, "router.open", ["uri": "native://own"])
    #expect(try await client.response(2)["error"]?["code"] == 2502)
    try await client.call(3, "router.open", ["uri": "native://read/7"])
    #expect(try await client.nextMessage()["params"]?["value"]?["opened"] != nil)
  }

  @Test func cancellationReachesHandler() async throws {
    let started = Mailbox<Void>()
    let cancelled = Mailbox<Void>()
    let (client, page) = try await openPage { _, _, _ in
      let (never, end) = AsyncStream.makeStream(of: Void.self)
      await withTaskCancellationHandler {
        started.put(())
        for await _ in never {}
      } onCancel: {
        end.finish()
      }
      cancelled.put(())
      return .null
    }
    try await client.call(1, "page.call", ["page": page, "method": "x"])
    try await started.receive()
    try await client.notify("$/cancelRequest", ["id": 1])
    #expect(try await client.response(1)["error"]?["code"] == -32800)
    try await cancelled.receive()
  }

  @Test func taskCallsPageMethod() async throws {
    try router.task("action://title") { call in
      try await call.navigator.call(
        page: call.params["page"]?.string ?? "", "title", params: ["short": true])
    }
    let bridge = InMemoryBridge(router)
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    try await shell.call(1, "navigation.adopt", ["uri": "native://home"])
    let page = try await shell.response(1)["result"]?["id"] ?? .null
    try await shell.call(
      2, "router.invoke", ["uri": "action://title", "params": ["page": page]])
    let request = try await shell.nextMessage()
    #expect(request["params"]?["page"] == page)
    #expect(request["params"]?["method"] == "title")
    #expect(request["params"]?["params"] == ["short": true])
    try await shell.respond(request, "Tea")
    #expect(try await shell.response(2)["result"] == "Tea")
    try await shell.call(3, "router.invoke", ["uri": "action://title"])
    #expect(try await shell.response(3)["error"]?["data"]?["kind"] == "notOnStack")
  }

  @Test func appCallsPageMethod() async throws {
    let bridge = InMemoryBridge(router)
    let (shell, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    try await shell.call(1, "navigation.adopt", ["uri": "native://home"])
    let page = try #require(try await shell.response(1)["result"]?["id"]?.string)
    let session = try #require(opened["session"]?.string)
    let call = Task {
      try await bridge.sessionServer.dispatch.call(
        page: page, in: session, "title", ["short": true], timeout: .seconds(3))
    }
    let request = try await shell.nextMessage()
    #expect(request["method"] == "page.call")
    try await shell.respond(request, "Tea")
    #expect(try await call.value == "Tea")
    let late = Task {
      try await bridge.sessionServer.dispatch.call(
        page: page, in: session, "x", [:], timeout: .seconds(3))
    }
    _ = try await shell.nextMessage()
    await bridge.server.loop.advance(by: .seconds(3))
    let error = await #expect(throws: CallError.self) { try await late.value }
    #expect(error?.code == 2408)
    for (page, session) in [("p99", session), (page, "s-none")] {
      let error = await #expect(throws: CallError.self) {
        try await bridge.sessionServer.dispatch.call(
          page: page, in: session, "x", [:], timeout: .seconds(3))
      }
      #expect(error?.code == 2404)
    }
  }
}
