import TestSupport
import Testing
import Waybridge
import WaybridgeTesting

/// A call that is built step by step has the same effect as a direct call.
@Suite(.timeLimit(.minutes(1)))
struct CallBuilderTests {
  private let router = Router()

  /// What a task opens: once by a direct call, once by a builder.
  struct NavigatorCallPair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let plain: @Sendable (any Navigator) async throws -> Outcome
    let built: @Sendable (any Navigator) async throws -> Outcome
  }

  private static let uri = "native://shop/item?from=list"

  private static let pairs: [NavigatorCallPair] = [
    NavigatorCallPair(
      testDescription: "nothing but the URI",
      plain: { try await $0.open(uri) },
      built: { try await $0.build(uri).open() }),
    NavigatorCallPair(
      testDescription: "everything, one by one",
      plain: {
        try await $0.open(
          uri, ["id": 2, "name": nil], exts: ["animated": false, "x": 1], style: .present,
          timeout: .seconds(60))
      },
      built: {
        try await $0.build(uri).with("id", 2).with("name", nil).exts("animated", false)
          .exts("x", 1).style(.present).timeout(.seconds(60)).open()
      }),
    NavigatorCallPair(
      testDescription: "many at once, the last of a name",
      plain: { try await $0.open(uri, ["id": 3, "size": "L"], exts: ["animated": true, "x": 2]) },
      built: {
        try await $0.build(uri).with("id", 2).with(["id": 3, "size": "L"])
          .exts(["animated": false, "x": 2]).exts("animated", true).style(.root).style(nil)
          .timeout(.zero).timeout(nil).open()
      }),
  ]

  @Test(arguments: pairs)
  func builtCallOpensThePageOfThePlainCall(_ pair: NavigatorCallPair) async throws {
    try router.page("native://shop/item")
    try router.page("native://home")
    try router.task("action://plain") { try await pair.plain($0.navigator).data }
    try router.task("action://built") { try await pair.built($0.navigator).data }
    let app = try await TestBridge(router)
    let shell = try await app.registerHost("native")
    async let _ = app.open("native://home")
    try await shell.nextPage()
    var observedCalls: [[Value?]] = []
    for task in ["action://plain", "action://built"] {
      async let result = app.invoke(task)
      let page = try await shell.nextPage()
      observedCalls.append([
        .string(page.uri), page.route.map(Value.string), .object(page.params),
        .object(page.exts), .string(page.style.rawValue), page.opener.map(Value.string),
      ])
      try await shell.finish(page, "done")
      #expect(try await result == "done")
    }
    #expect(observedCalls.first == observedCalls.last)
  }

  @Test func builtCallInvokesTheTaskOfThePlainCall() async throws {
    try router.task("action://tell") { call in
      [.string(call.uri.text), .object(call.params), .object(call.exts)]
    }
    let exts: ValueObject = ["trace": "t"]
    try router.task("action://plain") { call in
      try await call.navigator.invoke("action://tell?a=1", ["b": 2], exts: exts)
    }
    try router.task("action://built") { call in
      let builder = call.navigator.build("action://tell?a=1").exts(exts)
      _ = builder.with("b", "not kept")
      return try await builder.with("b", 2).style(.present).invoke()
    }
    let app = try await TestBridge(router)
    for task in ["action://plain", "action://built"] {
      #expect(
        try await app.invoke(task)
          == ["action://tell?a=1", ["a": "1", "b": 2], ["trace": "t"]])
    }
  }

  @Test(arguments: ["open", "invoke"])
  func deadlineEndsACallFromATask(method: String) async throws {
    let started = Mailbox<Void>()
    try router.task("action://wait") { _ in
      started.put(())
      try await Task.sleep(for: .seconds(3600))
      return nil
    }
    try router.task("action://outer") { call in
      let wait = call.navigator.build("action://wait").timeout(.seconds(5))
      do {
        if method == "open" { _ = try await wait.open() } else { _ = try await wait.invoke() }
      } catch let error as CallError {
        return .integer(Int64(error.code))
      }
      return "went on"
    }
    let app = try await TestBridge(router)
    async let code = app.invoke("action://outer")
    try await started.receive()
    await app.advance(by: .seconds(6))
    #expect(try await code == 2408)
  }
}
