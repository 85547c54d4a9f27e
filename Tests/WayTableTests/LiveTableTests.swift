import Testing
import WayPatterns
import WayRouting
import WayTable
import WayValues

/// A table that changes while its router serves.
struct LiveTableTests {
  private let router = Router()
  private let table: LiveTable

  init() throws {
    table = try LiveTable(
      RouteTable(parsing: [
        "version": "3",
        "routes": [
          ["name": "list", "pattern": "native://list", "kind": "page"],
          ["name": "share", "pattern": "action://share", "kind": "task"],
        ],
        "redirects": [["from": "native://old", "to": "native://list"]],
      ]), for: router)
  }

  private func resolution(of uri: String) throws -> String? {
    let found = try router.snapshot().resolve(RouteURI(uri))
    return found.route?.name ?? found.uri.text
  }

  private var routeNames: [String] { router.snapshot().routes.map(\.name) }

  @Test func updateAppliesOperationsAsOneVersion() async throws {
    let change = try await table.update([
      .add(route: ["name": "new", "pattern": "native://new", "kind": "page"]),
      .remove(route: "share"), .redirect("native://list", to: "https://h5.example/list"),
      .unredirect(from: "native://old"),
    ])
    #expect(change.stamp.version == "3+1" && change.previous.version == "3")
    #expect(change.changes.added == ["new"] && change.changes.removed == ["share"])
    #expect(Set(change.changes.redirects) == ["native://list", "native://old"])
    #expect(routeNames == ["list", "new"])
    #expect(try resolution(of: "native://list") == "https://h5.example/list")
    #expect(router.snapshot().table == change.stamp)
    let next = try await table.update([.redirect("native://list", to: "native://new")])
    #expect(next.stamp.version == "3+2")
    #expect(try resolution(of: "native://list") == "new")
    let named = try await table.update([.remove(route: "new")], version: "4", expecting: "3+2")
    #expect(named.stamp.version == "4" && named.changes.removed == ["new"])
  }

  @Test(
    "an update with any invalid operation changes nothing and reports it",
    arguments: [
      (
        [.add(route: ["name": "list", "pattern": "native://x", "kind": "page"])],
        "$.operations[0]: the route \"list\" already exists; replace it"
      ),
      (
        [.remove(route: "share"), .remove(route: "lits")],
        "$.operations[1]: there is no route \"lits\"; did you mean \"list\"? add it first"
      ),
      (
        [.unredirect(from: "native://odl")],
        "$.operations[0]: there is no redirect from \"native://odl\"; did you mean \"native://old\"?"
      ),
      (
        [.add(route: ["name": "x", "pattern": "native://list", "kind": "page"])],
        "$.routes[2].pattern: \"native://list\" matches the same URIs as $.routes[0].pattern"
      ),
      ([.redirect("native://list", to: "native://old")], "redirects too often"),
      (
        [.replace(route: ["name": "share", "pattern": "action://share", "kind": "page"])],
        "does not fit"
      ),
    ] as [([TableOperation], String)])
  func rejectsUpdateWithAnyInvalidOperation(_ operations: [TableOperation], _ reason: String)
    async throws
  {
    let before = router.snapshot().table
    let error = await #expect(throws: TableError.self) { try await table.update(operations) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.reason == .invalid)
    #expect(routeNames == ["list", "share"] && router.snapshot().table == before)
    #expect(await table.stamp == before)
    #expect(table.counts.rejections.load(ordering: .relaxed) == 1)
  }

  @Test func rejectsStaleAndOlderVersions() async throws {
    func document(_ version: String) -> Value { ["version": .string(version), "routes": []] }
    let stale = await #expect(throws: TableError.self) {
      try await table.update([.reset], expecting: "2")
    }
    #expect(stale?.reason == .stale)
    for version in ["2", "2.9.9", "+", "03-beta-"] where version != "03-beta-" {
      let back = await #expect(throws: TableError.self) {
        try await table.replace(with: document(version))
      }
      #expect(back?.reason == .olderVersion, "\(version)")
    }
    for version in ["3", "3+1", "3.1", "10", "2026-11-22"] {
      try await table.replace(with: document(version))
      #expect(await table.stamp.version == version)
    }
  }

  @Test func rollbackRestoresEarlierVersions() async throws {
    let first = await table.document
    for name in ["a", "b", "c"] {
      try await table.update(
        [
          .add(route: [
            "name": .string(name), "pattern": .string("native://\(name)"), "kind": "page",
          ])
        ],
        version: "4-\(name)")
    }
    #expect(await table.versions.map(\.stamp.version) == ["4-b", "4-a", "3"])
    #expect(try await table.rollback().stamp.version == "4-b")
    #expect(routeNames == ["list", "share", "a", "b"])
    #expect(try await table.rollback(to: "3").previous.version == "4-b")
    #expect(await table.document == first)
    let none = await #expect(throws: TableError.self) { try await table.rollback() }
    #expect(none?.reason == .unknownVersion)
    // A replacement at this point starts a newer history.
    try await table.update([.remove(route: "share")], version: "5")
    let error = await #expect(throws: TableError.self) { try await table.rollback(to: "4-c") }
    #expect(error?.description.contains("\"3\"") == true)
  }

  @Test func resetRestoresInitialTable() async throws {
    let first = await table.document
    try await table.replace(with: ["version": "9", "routes": []])
    #expect(routeNames == [])
    let change = try await table.update([.reset])
    #expect(change.stamp.version == "3" && change.changes.added == ["list", "share"])
    #expect(await table.document == first)
    #expect(try await table.rollback().stamp.version == "9")
  }

  @Test func keepsSixteenEarlierVersions() async throws {
    for _ in 0..<20 {
      try await table.update([.redirect("native://old", to: "native://list")])
    }
    #expect(await table.versions.count == 16)
    let oldest = await table.versions.last
    #expect(oldest?.stamp.version == "3+4")
  }

  @Test func changesStreamReportsEveryChange() async throws {
    var changes = await table.changes().makeAsyncIterator()
    try await table.update([.remove(route: "share")])
    try await table.rollback()
    let removed = await changes.next(isolation: #isolation)
    #expect(removed?.changes.removed == ["share"])
    let back = await changes.next(isolation: #isolation)
    #expect(back?.changes.added == ["share"] && back?.cause == .code)
  }

  @Test func handlerIsReattachedWhenRouteReturns() async throws {
    try router.handle("share", with: .task { _ in 7 })
    try await table.update([.remove(route: "share")])
    #expect(router.snapshot().orphanedHandlers == ["share"])
    try await table.rollback()
    #expect(router.snapshot().orphanedHandlers == [])
    let route = try #require(router.snapshot().routes.first { $0.name == "share" })
    guard case .task = route.handler else {
      Issue.record("the handler is missing")
      return
    }
  }

  @Test func readersNeverSeePartialUpdate() async throws {
    // In each table all pages have the same version, which their titles contain.
    func document(_ version: Int) -> Value {
      [
        "version": .string("\(version)"),
        "routes": .array(
          (0..<50).map { number in
            [
              "name": .string("r\(number)"), "pattern": .string("native://p\(number)"),
              "kind": "page", "title": .string("\(version)"),
            ]
          }),
      ]
    }
    try await table.replace(with: document(4))
    let router = router
    let readers = (0..<4).map { _ in
      Task.detached {
        var seen: Set<String> = []
        while !Task.isCancelled {
          let snapshot = router.snapshot()
          let titles = Set(snapshot.routes.map { $0.title ?? "" })
          #expect(titles.count == 1 && titles.first == snapshot.table?.version)
          seen.formUnion(titles)
        }
        return seen
      }
    }
    for version in 5..<60 { try await table.replace(with: document(version)) }
    for reader in readers { reader.cancel() }
    for reader in readers { _ = await reader.value }
    #expect(router.snapshot().table?.version == "59")
  }
}
