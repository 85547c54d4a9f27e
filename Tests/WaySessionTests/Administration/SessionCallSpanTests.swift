import InMemoryTracing
import TestSupport
import Testing
import Tracing
import WayRouting
import WayTable
import WayValues

@testable import WaySession

/// The span of each call if the app has a tracer.
@Suite(.timeLimit(.minutes(1)))
struct SessionCallSpanTests {
  private let tracer = InMemoryTracer()
  private let router = Router()

  @Test func nestedCallHasChildSpan() async throws {
    try router.task("action://inner") { _ in 1 }
    try router.task("action://outer") { call in
      try await call.navigator.invoke("action://inner")
    }
    let (client, opened) = try await WireClient.open(InMemoryBridge(router, tracer: tracer))
    #expect(try await client.callStatus("router.invoke", ["uri": "action://outer?pin=1"]) == "ok")
    let spans = tracer.finishedSpans
    #expect(
      spans.map(\.operationName) == [
        "router.invoke action://inner", "router.invoke action://outer",
      ])
    let (inner, outer) = (try #require(spans.first), try #require(spans.last))
    #expect(inner.parentSpanID == outer.spanID)
    #expect(outer.parentSpanID == nil)
    #expect(outer.kind == .server)
    #expect(outer.attributes.get("waybridge.client") == .string(opened["client"]?.string ?? ""))
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test func selectTabEndsItsSpan() async throws {
    try RouteTable(parsing: try ProjectFiles.json("protocol/routes/demo.json")).apply(to: router)
    let (shell, _) = try await WireClient.open(
      InMemoryBridge(router, tracer: tracer), ["hosts": [["scheme": "native", "kind": "page"]]])
    // Twice: the first call opens the page, the second finds it open.
    for id in 1...2 as ClosedRange<Int64> {
      try await shell.call(
        .integer(id), "router.invoke", ["uri": "navigation:selectTab?index=0"])
      if id == 1 { try await shell.respond(try await shell.nextRequest("page.open"), nil) }
      #expect(try await shell.response(.integer(id))["result"] != nil)
      #expect(tracer.activeSpans.isEmpty)
      #expect(tracer.finishedSpans.count == Int(id))
    }
  }

  @Test func recordsErrorStatusInSpan() async throws {
    let (client, _) = try await WireClient.open(InMemoryBridge(router, tracer: tracer))
    #expect(try await client.callStatus("router.invoke", ["uri": "action://none"]) == "2404")
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.status?.code == .error)
    #expect(span.attributes.get("rpc.jsonrpc.error_code") == .int64(2404))
  }

  @Test func propagatesTraceContextToHost() async throws {
    let (shell, _) = try await WireClient.open(
      InMemoryBridge(router, tracer: tracer), ["hosts": [["scheme": "action", "kind": "task"]]])
    let exts: Value = [
      InMemoryTracer.traceIDKey: "t", InMemoryTracer.spanIDKey: "s", "animated": true,
    ]
    try await shell.call(1, "router.invoke", ["uri": "action://x", "exts": exts])
    let run = try await shell.nextMessage()
    let span = try #require(tracer.activeSpans.first)
    #expect(run["params"]?["exts"]?["animated"] == true)
    #expect(run["params"]?["exts"]?[InMemoryTracer.spanIDKey] == .string(span.spanID))
    #expect(span.traceID == "t")
    try await shell.respond(run, 1)
    _ = try await shell.response(1)
    #expect(tracer.activeSpans.isEmpty)
  }
}
