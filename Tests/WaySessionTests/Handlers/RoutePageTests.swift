import TestSupport
import Testing
import WayNavigation
import WayRouting
import WaySession
import WayTable
import WayTransport
import WayValues

/// Tells of what becomes of ``AddressPage``.
private let told = Mailbox<String>()

/// A class, so that what is opened and closed can be told apart.
private final class AddressPage: RoutePage {
  let id: Int
  let pick: Bool?

  func open(_ page: Page, _ call: Call) async throws {
    if id == 13 { throw Declined() }
    told.put("open \(id) \(pick.map(String.init) ?? "-") \(name)")
  }

  func close(_ page: Page, _ reason: Outcome.Kind, _ exts: ValueObject) async {
    told.put("close \(id) \(reason.rawValue) \(name)")
  }

  func call(_ page: Page, _ method: String, _ call: Call) async throws -> Value {
    guard method == "id" else { throw UnknownMethod() }
    return [.integer(Int64(id)), .string(name)]
  }

  /// Which instance it is.
  private var name: String { "\(ObjectIdentifier(self).hashValue)" }
}

private struct PlainPage: RoutePage {
  func open(_ page: Page, _ call: Call) async throws {}
  func close(_ page: Page, _ reason: Outcome.Kind, _ exts: ValueObject) async {}
}

/// Pages that are registered by their type.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct RoutePageTests {
  private let router = Router()

  private func open(_ client: WireClient, _ id: Value, _ uri: Value) async throws -> Value {
    try await client.call(id, "router.open", ["uri": uri])
    return try #require(try await client.message()["params"]?["value"]?["opened"]?["page"])
  }

  @Test func eachOpeningMakesOneThatLivesAsLongAsThePage() async throws {
    try router.page("native://address/:id", AddressPage.self, name: "address")
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    let first = try await open(client, 1, "native://address/7?pick")
    let second = try await open(client, 2, "native://address/8")
    let opened = [try await told.take(), try await told.take()].map { $0.split(separator: " ") }
    #expect(opened.map { $0.dropLast().joined(separator: " ") } == ["open 7 true", "open 8 -"])
    let names = opened.map { String($0.last ?? "") }
    #expect(Set(names).count == 2)
    try await client.call(3, "page.call", ["page": first, "method": "id"])
    #expect(try await client.answer(3)["result"] == [7, .string(names[0])])
    try await client.call(4, "page.call", ["page": second, "method": "id"])
    #expect(try await client.answer(4)["result"] == [8, .string(names[1])])
    try await client.call(5, "navigation.finish", ["page": first])
    let closed = [try await told.take(), try await told.take()]
    #expect(
      Set(closed) == ["close 8 dismissed \(names[1])", "close 7 finished \(names[0])"])
  }

  @Test func parametersThatDoNotFitItAre2422() async throws {
    try router.page("native://address/:id", AddressPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call(1, "router.open", ["uri": "native://address/x"])
    let error = try await client.answer(1)["error"]
    #expect(error?["code"] == 2422)
    #expect(error?["data"]?["errors"]?.list?.map { $0["path"] } == ["$.id"])
    try await client.call(
      2, "router.open", ["uri": "native://address/7", "params": ["pick": "maybe"]])
    #expect(
      try await client.answer(2)["error"]?["data"]?["errors"]?.list?.map { $0["path"] }
        == ["$.pick"])
  }

  @Test func itDeclines() async throws {
    try router.page("native://address/:id", AddressPage.self)
    try router.page("native://:any/:id", PlainPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    _ = try await open(client, 1, "native://address/13")
    try await client.call(2, "navigation.stack", [:])
    #expect(
      try await client.answer(2)["result"]?["pages"]?.list?.map { $0["route"] }
        == ["native://:any/:id"])
  }

  @Test func aMethodThatItDoesNotHaveIs2502() async throws {
    try router.page("native://address/:id", AddressPage.self)
    try router.page("native://plain", PlainPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    for uri: Value in ["native://address/1", "native://plain"] {
      let page = try await open(client, "open", uri)
      try await client.call(1, "page.call", ["page": page, "method": "x"])
      let error = try await client.answer(1)["error"]
      #expect(error?["code"] == 2502)
      #expect(error?["data"]?["host"]?["code"] == -32601)
      try await client.call(2, "navigation.finish", ["page": page])
      _ = try await client.answer(2)
    }
    #expect(try await told.take().hasPrefix("open 1"))
    #expect(try await told.take().hasPrefix("close 1"))
  }

  @Test func itShowsARouteThatATableDeclares() async throws {
    let table: Value = [
      "version": "1",
      "routes": [["name": "address", "pattern": "native://address/:id", "kind": "page"]],
    ]
    try RouteTable(parsing: table).apply(to: router)
    try router.handle("address", with: .page(PageHandler(AddressPage.self)))
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    _ = try await open(client, 1, "native://address/9")
    #expect(try await told.take().hasPrefix("open 9 -"))
    try RouteTable(parsing: table).apply(to: router, anew: true)
    _ = try await open(client, 2, "native://address/10")
    #expect(try await told.take().hasPrefix("open 10 -"))
  }

  @Test func aTableThatIsLoadedAnewIsToldToNewClients() async throws {
    let bridge = InMemoryBridge(router)
    let (_, hello) = try await WireClient.open(bridge)
    #expect(hello["table"] == ["version": "", "hash": ""])
    let table: Value = ["version": "2", "routes": []]
    try RouteTable(parsing: table).apply(to: router, anew: true)
    let (_, later) = try await WireClient.open(bridge, joining: hello)
    #expect(later["table"]?["version"] == "2")
  }
}
