import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Calls that wait for the outcome of a page, which do not count as calls in flight.
@Suite(.timeLimit(.minutes(1)))
struct PageWaitTests {
  /// Opens a page at the client itself, and waits until it is shown.
  private func open(_ client: WireClient, _ id: Value, _ params: Value) async throws {
    try await client.call(id, "router.open", params)
    _ = try await client.acceptPageOpen()
    _ = try await client.nextRequest("$/progress")
  }

  @Test func fullStackLeavesSlotsForOtherCalls() async throws {
    let bridge = InMemoryBridge(Router())
    let (host, opened) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    let (caller, _) = try await WireClient.open(bridge, joining: opened)
    let last = Int64(NavigationStack.maxPages) - 1
    for id in 0...last {
      try await caller.call(.integer(id), "router.open", ["uri": "native://x"])
      _ = try await host.acceptPageOpen()
      _ = try await caller.nextRequest("$/progress")
    }
    try await caller.call("full", "router.open", ["uri": "native://x"])
    #expect(try await caller.response("full")["error"]?["data"]?["kind"] == "stackFull")
    // An id stays in use until its call has its response.
    for method in ["router.open", "navigation.stack"] {
      try await caller.call(7, method, method == "router.open" ? ["uri": "native://x"] : [:])
      #expect(try await caller.response(7)["error"]?["data"]?["kind"] == "duplicateID", "\(method)")
    }
    try await caller.call("back", "navigation.back", [:])
    #expect(try await caller.response(.integer(last))["result"]?["outcome"] == "dismissed")
    #expect(try await caller.response("back")["result"]?["closed"]?.array?.count == 1)
    // A cancellation closes the page, and frees the id.
    try await caller.notify("$/cancelRequest", ["id": 200])
    #expect(try await caller.response(200)["result"]?["outcome"] == "cancelled")
    try await caller.call(200, "router.open", ["uri": "native://x"])
    _ = try await host.acceptPageOpen()
    _ = try await caller.nextRequest("$/progress")
  }

  @Test(arguments: ["request", "notification", "key", "repeated key"])
  func shownPageReleasesSlot(of kind: String) async throws {
    var limits = Limits()
    limits.maxInFlight = 2
    let client = try await WireClient.connect(
      to: InMemoryBridge(Router(), limits: limits), hosting: ["native"])
    for id in 1...5 as ClosedRange<Int64> {
      switch kind {
      case "request": try await open(client, .integer(id), ["uri": "native://x"])
      case "notification":
        try await client.notify("router.open", ["uri": "native://x"])
        _ = try await client.acceptPageOpen()
        // The server processes the host's response before the next request.
        _ = try await client.request("$/ping")
      case "key":
        try await open(client, .integer(id), ["uri": "native://x", "key": .string("k\(id)")])
      default:
        let params: Value = ["uri": "native://x", "key": "k"]
        if id == 1 {
          try await open(client, 1, params)
        } else {
          try await client.call(.integer(id), "router.open", params)
          _ = try await client.nextRequest("$/progress")
        }
      }
    }
    let stack = try await client.request("navigation.stack")["result"]
    #expect(stack?["pages"]?.array?.count == (kind == "repeated key" ? 1 : 5))
    let back = try await client.request("navigation.back", ["root": true])
    #expect(back["result"]?["closed"]?.array?.count == (kind == "repeated key" ? 0 : 4))
  }

  @Test func limitsCallsThatWaitForOnePage() async throws {
    let client = try await WireClient.connect(to: InMemoryBridge(Router()), hosting: ["native"])
    try await open(client, 0, ["uri": "native://x"])
    let again: Value = ["uri": "native://x", "style": "popTo"]
    for id in 1..<Int64(ClientCalls.maxPageWaits) {
      try await client.call(.integer(id), "router.open", again)
      _ = try await client.nextRequest("$/progress")
    }
    for params: Value in [again, ["uri": "native://x", "style": "popTo", "key": "k"]] {
      try await client.call("more", "router.open", params)
      let error = try await client.response("more")["error"]
      #expect(error?["code"] == 2429)
      #expect(error?["data"]?["limit"] == .integer(Int64(ClientCalls.maxPageWaits)))
    }
    let stack = try await client.request("navigation.back", [:])
    let page = try #require(stack["result"]?["page"])
    let finished = try await client.request("navigation.finish", ["page": page])
    #expect(finished["result"]?["closed"] == [page])
    try await open(client, 0, ["uri": "native://x"])
  }
}
