import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// Edits of the stack by clients, pushes and Swift code.
@Suite(.timeLimit(.minutes(1)))
struct StackEditTests {
  private let router = Router()
  private let bridge: InMemoryBridge

  init() { bridge = InMemoryBridge(router) }

  private func openShell() async throws -> WireClient {
    let (shell, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    for name in ["a", "b"] {
      _ = try await shell.request("navigation.adopt", ["uri": "native://\(name)"])
    }
    return shell
  }

  private func stack(_ shell: WireClient) async throws -> [Value?] {
    let pages = try await shell.request("navigation.stack")["result"]?["pages"]?.array
    return pages?.map { $0["uri"] } ?? []
  }

  @Test func interceptorHoldsEditWithoutBlockingOthers() async throws {
    let (release, continuation) = AsyncStream<Void>.makeStream()
    router.intercept("gate", on: .all(except: ["native://a", "native://b"]), timeout: .seconds(5)) {
      _ in
      for await _ in release { break }
      return .next
    }
    let shell = try await openShell()
    try await shell.call(
      1, "navigation.edit",
      ["remove": ["page": "native://a"], "open": [["uri": "native://held"]]])
    try await shell.call(2, "navigation.back", ["count": 0])
    #expect(try await shell.response(2)["result"] != nil)
    continuation.yield()
    _ = try await shell.acceptPageOpen()
    #expect(try await shell.response(1)["result"]?["opened"]?.array?.count == 1)
    #expect(try await stack(shell) == ["native://held", "native://b"])
  }

  @Test func navigatorEditsStack() async throws {
    try router.task("action://tidy") { call in
      let change = try await call.navigator.edit(
        removing: .from("native://b"),
        opening: [AddedPage("native://c"), AddedPage("native://d", ["n": 1], style: .present)])
      return .array(change.opened.map(Value.string))
    }
    let shell = try await openShell()
    try await shell.call(1, "router.invoke", ["uri": "action://tidy"])
    let first = try await shell.acceptPageOpen()
    let second = try await shell.acceptPageOpen()
    let opened = try await shell.response(1)["result"]
    #expect(opened == [first["id"] ?? .null, second["id"] ?? .null])
    #expect(second["style"] == "present")
  }

  @Test func deadlineEndsEditAndLeavesStack() async throws {
    let shell = try await openShell()
    try await shell.call(
      1, "navigation.edit", ["open": [["uri": "native://c"]], "deadlineMs": 20])
    let request = try await shell.nextRequest("page.open")
    try await bridge.server.advance(by: .milliseconds(20))
    #expect(try await shell.response(1)["error"]?["code"] == 2408)
    try await shell.respond(request, .null)
    #expect(try await stack(shell) == ["native://a", "native://b"])
  }
}
