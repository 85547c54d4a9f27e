import TestSupport
import Testing
import WayRouting
import WayTransport
import WayValues

@testable import WaySession

/// A page that the policy hides from another user in the session. The other user learns nothing of
/// it, and does not close it.
@Suite(.timeLimit(.minutes(1)))
struct HiddenPageTests {
  private let bridge: InMemoryBridge
  private let shell: WireClient
  private let other: WireClient
  private let opened: Value
  private let openPage: Value
  /// The topmost page.
  private let hiddenPage: Value

  init() async throws {
    let router = Router()
    for name in ["open", "secret"] { try router.page("native://\(name)") }
    bridge = InMemoryBridge(
      router, identify: { Identity(user: $0.token) },
      rules: try CompiledPolicy([
        Policy.Rule("all", .allow, ["*"]),
        Policy.Rule("secrets", .deny, ["*"], subjects: ["other"], routes: ["native://secret"]),
      ]))
    (shell, opened) = try await WireClient.open(
      bridge, ["token": "shell", "hosts": [["scheme": "native", "kind": "page"]]])
    (other, _) = try await WireClient.open(bridge, ["token": "other"], joining: opened)
    func adopt(_ uri: Value, _ shell: WireClient) async throws -> Value {
      try await shell.request("navigation.adopt", ["uri": uri])["result"]?["id"] ?? .null
    }
    openPage = try await adopt("native://open?a=1", shell)
    hiddenPage = try await adopt("native://secret?pin=1", shell)
  }

  @Test(arguments: ["navigation.finish", "page.call"])
  func failureDoesNotRevealURI(method: String) async throws {
    try await other.subscribe("route.failed")
    var params: ValueObject = ["page": hiddenPage]
    if method == "page.call" { params["method"] = "m" }
    let failure = try await failedEvent(of: method, .object(params))
    #expect(failure["code"] == 2403)
    #expect(failure["uri"] == nil)
    // What the client has said itself is no secret.
    let own = try await failedEvent(of: "router.open", ["uri": "native://secret?mine=1"])
    #expect(own["uri"] == "native://secret?mine=1")
  }

  /// Makes a call that fails with 2403. Returns the data of its event.
  private func failedEvent(of method: String, _ params: Value) async throws -> Value {
    try await other.call("call", method, params)
    let messages = [try await other.nextMessage(), try await other.nextMessage()]
    #expect(messages.contains { $0["id"] == "call" && $0["error"]?["code"] == 2403 })
    let event = try #require(messages.first { $0["method"] == "event" })
    return event["params"]?["data"] ?? .null
  }

  @Test(arguments: ["root", "replace"])
  func pageThatWouldCloseItIsNotOpened(style: String) async throws {
    let open: Value = ["uri": "native://open", "style": .string(style)]
    #expect(try await other.request("router.open", open)["error"]?["code"] == 2403)
    let pages = try await shell.request("navigation.stack")["result"]?["pages"]?.array
    #expect(pages?.map { $0["id"] } == [openPage, hiddenPage])
    // The other user closes what it may see.
    try await shell.call("finish", "navigation.finish", ["page": hiddenPage])
    _ = try await shell.response("finish")
    try await other.call("open", "router.open", open)
    #expect(try await shell.acceptPageOpen()["uri"] == "native://open")
  }

  @Test(arguments: [("other", true, true), ("other", false, false), ("shell", true, false)])
  func pageIsClaimedOnlyByThoseWhoMaySeeIt(
    user: String, isHidden: Bool, isRejected: Bool
  ) async throws {
    let client = try await WireClient.connect(to: bridge, subprotocol: Handshake.sessionSubprotocol)
    let response = try await client.request(
      "session.open",
      [
        "protocol": ["1.0"], "token": .string(user), "page": isHidden ? hiddenPage : openPage,
        "join": ["session": opened["session"] ?? .null, "token": opened["joinToken"] ?? .null],
      ])
    #expect(response["error"]?["code"] == (isRejected ? 2403 : nil))
  }
}
