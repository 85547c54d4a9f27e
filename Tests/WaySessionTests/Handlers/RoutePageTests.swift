import TestSupport
import Testing
import WayNavigation
import WayRouting
import WaySession
import WayTable
import WayTransport
import WayValues

/// Events of ``AddressPage``.
private let pageLog = Mailbox<String>()

/// A class, so that the test can compare the instances that are opened and closed.
private final class AddressPage: RoutePage {
  let id: Int
  let pick: Bool?

  func open(_ page: Page, _ call: Call) async throws {
    if id == 13 { throw Declined() }
    pageLog.put("open \(id) \(pick.map(String.init) ?? "-") \(instanceName)")
  }

  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {
    pageLog.put("close \(id) \(reason.rawValue) \(instanceName)")
  }

  func update(_ page: Page) async {
    let pick = (try? page.decode(AddressPage.self))?.pick
    pageLog.put("update \(id) \(pick.map(String.init) ?? "-") \(instanceName)")
  }

  func call(_ page: Page, _ method: String, _ call: Call) async throws -> Value {
    guard method == "id" else { throw UnknownMethod() }
    return [.integer(Int64(id)), .string(instanceName)]
  }

  /// The identity of the instance.
  private var instanceName: String { "\(ObjectIdentifier(self).hashValue)" }
}

private struct PlainPage: RoutePage {
  func open(_ page: Page, _ call: Call) async throws {}
  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}
}

private struct FormPage: GuardedRoutePage {
  let isChanged: Bool

  func open(_ page: Page, _ call: Call) async throws {}
  func close(_ page: Page, _ reason: Outcome.OutcomeKind, _ exts: ValueObject) async {}

  func mayLeave(_ page: Page, to destination: Page?) async -> Bool {
    pageLog.put("leave \(page.uri) to \(destination?.uri ?? "-")")
    return !isChanged
  }
}

/// Pages that are registered by type.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct RoutePageTests {
  private let router = Router()

  private func open(_ client: WireClient, _ id: Value, _ uri: Value) async throws -> Value {
    try await client.call(id, "router.open", ["uri": uri])
    return try #require(try await client.nextMessage()["params"]?["value"]?["opened"]?["page"])
  }

  @Test func createsOneInstancePerPage() async throws {
    try router.page("native://address/:id", AddressPage.self, name: "address")
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    let first = try await open(client, 1, "native://address/7?pick")
    let second = try await open(client, 2, "native://address/8")
    let opened = [try await pageLog.receive(), try await pageLog.receive()].map {
      $0.split(separator: " ")
    }
    #expect(opened.map { $0.dropLast().joined(separator: " ") } == ["open 7 true", "open 8 -"])
    let names = opened.map { String($0.last ?? "") }
    #expect(Set(names).count == 2)
    try await client.call(3, "page.call", ["page": first, "method": "id"])
    #expect(try await client.response(3)["result"] == [7, .string(names[0])])
    try await client.call(4, "page.call", ["page": second, "method": "id"])
    #expect(try await client.response(4)["result"] == [8, .string(names[1])])
    try await client.call(5, "navigation.finish", ["page": first])
    let closed = [try await pageLog.receive(), try await pageLog.receive()]
    #expect(
      Set(closed) == ["close 8 dismissed \(names[1])", "close 7 finished \(names[0])"])
  }

  @Test(arguments: [true, false])
  func guardedPageDecidesWhetherItCloses(isChanged: Bool) async throws {
    try router.page("native://plain", PlainPage.self)
    try router.page("native://form/:isChanged", FormPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    _ = try await open(client, 1, "native://plain")
    let page = try await open(client, 2, .string("native://form/\(isChanged)"))
    try await client.call(3, "navigation.back", [:])
    #expect(try await pageLog.receive() == "leave native://form/\(isChanged) to native://plain")
    let response = try await client.response(3)
    if isChanged {
      #expect(response["error"]?["data"]?["kind"] == "leaveRefused")
      // The page itself may always finish.
      try await client.call(4, "navigation.finish", ["page": page])
      #expect(try await client.response(4)["result"]?["closed"] == [page])
    } else {
      #expect(response["result"]?["closed"] == [page])
    }
  }

  @Test func openPageGetsNewParameters() async throws {
    try router.page("native://address/:id", AddressPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    let page = try await open(client, 1, "native://address/7")
    let opened = try await pageLog.receive()
    let name = try #require(opened.split(separator: " ").last)
    #expect(opened == "open 7 - \(name)")
    try await client.call(2, "router.open", ["uri": "native://address/7?pick", "style": "popTo"])
    let progress = try await client.nextMessage()
    #expect(progress["params"]?["value"]?["opened"]?["page"] == page)
    #expect(try await pageLog.receive() == "update 7 true \(name)")
    // Without new parameters, the page gets nothing.
    try await client.call(3, "router.open", ["uri": "native://address/7", "style": "popTo"])
    _ = try await client.nextMessage()
    try await client.call(4, "navigation.finish", ["page": page])
    #expect(try await pageLog.receive() == "close 7 finished \(name)")
    _ = try await client.response(4)
  }

  @Test func rejectsInvalidParameters() async throws {
    try router.page("native://address/:id", AddressPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    try await client.call(1, "router.open", ["uri": "native://address/x"])
    let error = try await client.response(1)["error"]
    #expect(error?["code"] == 2422)
    #expect(error?["data"]?["errors"]?.array?.map { $0["path"] } == ["$.id"])
    try await client.call(
      2, "router.open", ["uri": "native://address/7", "params": ["pick": "maybe"]])
    #expect(
      try await client.response(2)["error"]?["data"]?["errors"]?.array?.map { $0["path"] }
        == ["$.pick"])
  }

  @Test func triesNextRouteWhenPageDeclines() async throws {
    try router.page("native://address/:id", AddressPage.self)
    try router.page("native://:any/:id", PlainPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    _ = try await open(client, 1, "native://address/13")
    try await client.call(2, "navigation.stack", [:])
    #expect(
      try await client.response(2)["result"]?["pages"]?.array?.map { $0["route"] }
        == ["native://:any/:id"])
  }

  @Test func failsForUnknownMethod() async throws {
    try router.page("native://address/:id", AddressPage.self)
    try router.page("native://plain", PlainPage.self)
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    for uri: Value in ["native://address/1", "native://plain"] {
      let page = try await open(client, "open", uri)
      try await client.call(1, "page.call", ["page": page, "method": "x"])
      let error = try await client.response(1)["error"]
      #expect(error?["code"] == 2502)
      #expect(error?["data"]?["host"]?["code"] == -32601)
      try await client.call(2, "navigation.finish", ["page": page])
      _ = try await client.response(2)
    }
    #expect(try await pageLog.receive().hasPrefix("open 1"))
    #expect(try await pageLog.receive().hasPrefix("close 1"))
  }

  @Test func handlesRouteOfTable() async throws {
    let table: Value = [
      "version": "1",
      "routes": [["name": "address", "pattern": "native://address/:id", "kind": "page"]],
    ]
    try RouteTable(parsing: table).apply(to: router)
    try router.handle("address", with: .page(PageHandler(AddressPage.self)))
    let client = try await WireClient.connect(to: InMemoryBridge(router))
    _ = try await open(client, 1, "native://address/9")
    #expect(try await pageLog.receive().hasPrefix("open 9 -"))
    try RouteTable(parsing: table).apply(to: router, replacing: true)
    _ = try await open(client, 2, "native://address/10")
    #expect(try await pageLog.receive().hasPrefix("open 10 -"))
  }

  @Test func announcesReloadedTableToNewClients() async throws {
    let bridge = InMemoryBridge(router)
    let (_, opened) = try await WireClient.open(bridge)
    #expect(opened["table"] == ["version": "", "hash": ""])
    let table: Value = ["version": "2", "routes": []]
    try RouteTable(parsing: table).apply(to: router, replacing: true)
    let (_, later) = try await WireClient.open(bridge, joining: opened)
    #expect(later["table"]?["version"] == "2")
  }
}
