import TestSupport
import Testing
import WayPatterns
import WayRouting
import WaySession
import WayValues

/// Swift values that Swift code attaches to its calls.
@Suite(.timeLimit(.minutes(1)))
struct AttachmentTests {
  private let router = Router()

  private final class Photo: Sendable {
    let title: String

    init(_ title: String) { self.title = title }
  }

  private typealias Filter = @Sendable (String) -> String

  private let photo = Photo("tea")
  private let shout: Filter = { $0.uppercased() }

  /// Returns the response to a client of a task that runs `work`.
  private func response(
    to client: WireClient, _ work: @escaping @Sendable (any Navigator) async throws -> Value
  ) async throws -> Value {
    try router.task("action://outer") { try await work($0.navigator) }
    try await client.call("outer", "router.invoke", ["uri": "action://outer"])
    return try await client.response("outer")
  }

  /// Registers tasks that return their attachments, each reached by a different kind of resolution.
  private func registerAttachmentTasks() throws {
    let report: @Sendable (Call) throws -> Value = { call in
      let filter = try call.attachment("filter", as: Filter.self)
      return .string(filter(try call.attachment("photo", as: Photo.self).title))
    }
    try router.task("action://now", report)
    try router.task("action://later") { call in
      await Task.yield()
      return try report(call)
    }
    try router.task("action://typed") { (request: [String: Int], call) in [try report(call).string]
    }
    try router.register(
      SchemeDispatcher(name: "own", action: .custom { try report($0) }), scheme: "own")
    try router.redirect("action://redirected", to: "action://now")
    try router.task("action://declined/:any", priority: 1) { _ in throw Declined() }
    try router.task("action://declined/*", report)
    try router.register(
      Route(
        name: "fallback", patterns: [RoutePattern("native://fallback")], kind: .page,
        fallback: PatternTarget("action://now")))
    router.setUndefinedRouteHandler { call in
      _ = try call.attachment("photo", as: Photo.self)
      return .redirect(uri: "action://later", params: [:])
    }
    try router.task("action://intercepted") { _ in "not led on" }
    router.intercept("sync", on: .routes(["action://intercepted"])) { call in
      _ = try call.attachment("photo", as: Photo.self)
      return .redirect(to: "action://changed")
    }
    try router.task("action://changed", report)
    router.intercept("async", on: .routes(["action://changed"])) { call in
      await Task.yield()
      _ = try call.attachment("photo", as: Photo.self)
      return .change(params: ["n": 1])
    }
    try router.registerModule(
      "lazy",
      routes: [Route(name: "lazy", patterns: [RoutePattern("action://lazy")], kind: .task)]
    ) { try $0.handle("lazy", with: .task(report)) }
  }

  @Test(arguments: [
    "action://now", "action://later", "action://typed", "own:thing", "action://redirected",
    "action://declined/x", "native://fallback", "native://nowhere", "action://intercepted",
    "action://lazy",
  ])
  func taskReceivesModelAndClosure(uri: String) async throws {
    try registerAttachmentTasks()
    let (photo, shout) = (photo, shout)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    let responses = try await response(to: client) { navigator in
      let call = navigator.build(uri).attaching("photo", Photo("not kept"))
        .attaching("photo", photo).attaching("filter", shout)
      return [
        try await call.invoke(), try await call.open().data,
        try await navigator.invoke(uri, attachments: ["photo": photo, "filter": shout]),
      ]
    }
    let expected: Value = uri == "action://typed" ? ["TEA"] : "TEA"
    #expect(responses["result"] == [expected, expected, expected])
  }

  @Test func pageHandlerReceivesAttachments() async throws {
    let shown = Mailbox<Photo>()
    let closed = Mailbox<String>()
    try router.page(
      "native://album",
      PageHandler(
        open: { _, call in shown.put(try call.attachment("photo")) },
        close: { page, _, _ in closed.put(page.uri) }))
    let photo = photo
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try router.task("action://outer") { call in
      try await call.navigator.open("native://album", attachments: ["photo": photo]).data
    }
    try await client.subscribe("page.opened")
    try await client.call("outer", "router.invoke", ["uri": "action://outer"])
    #expect(try await shown.receive() === photo)
    let page = try await client.nextEvent()["data"]?["page"] ?? .null
    try await client.call("end", "navigation.finish", ["page": page, "result": ["data": "seen"]])
    #expect(try await client.response("outer")["result"] == "seen")
    #expect(try await closed.receive() == "native://album")
  }

  @Test func appAttachesValuesToPageOpens() async throws {
    let shown = Mailbox<Photo>()
    try router.page(
      "native://album",
      PageHandler(
        open: { _, call in shown.put(try call.attachment("photo")) }, close: { _, _, _ in }))
    try router.page("native://hosted")
    let bridge = InMemoryBridge(router)
    let (client, _) = try await WireClient.open(
      bridge, ["hosts": [["scheme": "native", "kind": "page"]]])
    var codes: [Int?] = []
    for uri in ["native://album", "native://hosted"] {
      let opened = try await bridge.sessionServer.dispatch.open(
        uri, [:], exts: [:], style: .push, in: .all, timeout: .seconds(3),
        carrying: ["photo": photo])
      #expect(opened.count == 1)
      for delivery in opened {
        if case .failure(let error) = delivery.result {
          codes.append(error.code)
        } else {
          codes.append(nil)
        }
      }
    }
    #expect(codes == [nil, 2405])
    #expect(try await shown.receive() === photo)
    #expect(try await client.hasNoPendingMessages())
  }

  @Test(arguments: ["action://photo", "action://photo/later"])
  func attachesResult(uri: String) async throws {
    let photo = photo
    try router.task("action://photo") { try $0.attachResult(photo) }
    try router.task("action://photo/later") { call in
      await Task.yield()
      return try call.attachResult(photo)
    }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    let result = try await response(to: client) { navigator in
      let plain = try await navigator.invoke(uri, returning: Photo.self)
      let built = try await navigator.build(uri).with("n", 1).invoke(returning: Photo.self)
      return [.bool(plain === photo), .bool(built === photo)]
    }["result"]
    #expect(result == [true, true])
  }

  /// A call with an attachment that does not match the expected one.
  struct InvalidAttachmentCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: Int64
    var kind: Value = "notOverTheWire"
    let parts: [String]
    let call: @Sendable (any Navigator) async throws -> Void
  }

  private static let invalidCases: [InvalidAttachmentCase] = [
    InvalidAttachmentCase(
      testDescription: "the reply of one that declined", code: -32603, kind: "internal",
      parts: ["did not return", "Photo"],
      call: { _ = try await $0.invoke("action://left/1", returning: Photo.self) }),
    InvalidAttachmentCase(
      testDescription: "a client's page", code: 2405, parts: ["\"x\"", "native://hosted"],
      call: { _ = try await $0.open("native://hosted", attachments: ["x": 1]) }),
    InvalidAttachmentCase(
      testDescription: "a client's task", code: 2405, parts: ["\"x\"", "\"y\"", "action://hosted"],
      call: { _ = try await $0.invoke("action://hosted", attachments: ["y": 2, "x": 1]) }),
    InvalidAttachmentCase(
      testDescription: "a reply of a client's task", code: 2405, parts: ["a Int in reply"],
      call: { _ = try await $0.invoke("action://hosted", returning: Int.self) }),
    InvalidAttachmentCase(
      testDescription: "a redirect to a client", code: 2405, parts: ["action://hosted"],
      call: { _ = try await $0.invoke("action://moved", attachments: ["x": 1]) }),
    InvalidAttachmentCase(
      testDescription: "the stack", code: 2405, parts: ["navigation:back"],
      call: { _ = try await $0.invoke("navigation:back", attachments: ["x": 1]) }),
    InvalidAttachmentCase(
      testDescription: "a name that is not carried", code: 2422, kind: "invalidParameters",
      parts: ["\"x\"", "Int"],
      call: { _ = try await $0.invoke("action://x", attachments: ["y": 1]) }),
    InvalidAttachmentCase(
      testDescription: "another type", code: 2422, kind: "invalidParameters",
      parts: ["\"x\"", "String", "Int"],
      call: { _ = try await $0.invoke("action://x", attachments: ["x": "1"]) }),
    InvalidAttachmentCase(
      testDescription: "a reply without a request", code: 2405, parts: ["Photo"],
      call: { _ = try await $0.invoke("action://photo") }),
    InvalidAttachmentCase(
      testDescription: "a reply of another type", code: -32603, kind: "internal",
      parts: ["action://photo", "Photo", "Int"],
      call: { _ = try await $0.invoke("action://photo", returning: Int.self) }),
    InvalidAttachmentCase(
      testDescription: "no reply that is carried", code: -32603, kind: "internal",
      parts: ["action://x", "Photo"],
      call: { _ = try await $0.invoke("action://x", attachments: ["x": 1], returning: Photo.self) }
    ),
  ]

  @Test(arguments: invalidCases)
  func rejectsInvalidAttachmentsBeforeRequest(wrong: InvalidAttachmentCase) async throws {
    try router.page("native://hosted")
    try router.redirect("action://moved", to: "action://hosted")
    try router.task("action://left/:any") { call in
      _ = try call.attachResult(Photo("tea"))
      throw Declined()
    }
    try router.task("action://left/*") { _ in "plain" }
    try router.task("action://x") { .integer(Int64(try $0.attachment("x", as: Int.self))) }
    try router.task("action://photo") { try $0.attachResult(Photo("tea")) }
    let (client, _) = try await WireClient.open(
      InMemoryBridge(router),
      ["hosts": [["scheme": "native", "kind": "page"], ["scheme": "action", "kind": "task"]]])
    let result = try await response(to: client) { navigator in
      do { try await wrong.call(navigator) } catch let error as CallError {
        return [
          .integer(Int64(error.code)), error.data?["kind"] ?? .null, .string(error.message),
        ]
      }
      return "went on"
    }["result"]?.array
    #expect(result?.first == .integer(wrong.code))
    #expect(result?.dropFirst().first == wrong.kind)
    for part in wrong.parts { #expect(result?.last?.string?.contains(part) == true) }
    #expect(try await client.hasNoPendingMessages())
  }

  @Test func rejectsAttachmentsOfRemoteClients() async throws {
    try router.task("action://x") { .integer(Int64(try $0.attachment("x", as: Int.self))) }
    try router.task("action://both") { (try? $0.attachResult(Photo("tea"))) ?? "tea" }
    try router.task("action://photo") { try $0.attachResult(Photo("tea")) }
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    for (uri, code) in [("action://x", 2422 as Int64), ("action://photo", 2405)] {
      try await client.call(1, "router.invoke", ["uri": .string(uri), "params": ["x": 1]])
      #expect(try await client.response(1)["error"]?["code"]?.integer == code)
      try await client.call(2, "router.canOpen", ["uri": .string(uri)])
      #expect(try await client.response(2)["result"]?["canOpen"] == true)
    }
    try await client.call(3, "router.invoke", ["uri": "action://both"])
    #expect(try await client.response(3)["result"] == "tea")
  }
}
