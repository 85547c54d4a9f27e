import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayValues

/// Every row of `protocol/navigation.json`, run through clients of a session.
@Suite(.timeLimit(.minutes(2)))
struct NavigationWireTests {
  @Test(
    "clients observe what the navigation table specifies", arguments: try NavigationTableRow.all())
  func followsNavigationTable(_ row: NavigationTableRow) async throws {
    let walk = try await NavigationFixture(row.stack, row.uris, tabs: row.tabs)
    try await walk.build(row.stack)
    let seen = try await walk.perform(row.operation)
    #expect(seen == row.expected, "\(row.name)")
    if let delivered = row.delivered, !delivered[1].isNull {
      #expect(try await walk.params(of: delivered[0]) == delivered[1], "\(row.name)")
    }
    #expect(try await walk.stack() == row.stackAfter, "\(row.name)")
  }

  @Test("skips only operations that no client can request")
  func skipsOnlyUnreachableRows() throws {
    #expect(
      try NavigationTableRow.skippedReasons() == ["emptyTab", "end", "pageExists", "replacedTab"])
  }
}

/// A row with the effects of its operation that clients observe.
struct NavigationTableRow: CustomTestStringConvertible, Sendable {
  let name: String
  let stack: String
  let operation: Value
  let expected: NavigationFixture.NavigationObservation
  let stackAfter: String
  /// The page that gets new data, its parameters and its `exts`; `nil` if none does.
  let delivered: [Value]?
  /// The URIs of all pages of the row.
  let uris: [String]
  /// The URI of each tab's first page.
  let tabs: [String]

  var testDescription: String { name }

  static func all() throws -> [NavigationTableRow] {
    try tableRows().filter { skipReason($0) == nil }.map(NavigationTableRow.init)
  }

  static func skippedReasons() throws -> Set<String> {
    Set(try tableRows().compactMap(skipReason))
  }

  private static func tableRows() throws -> [Value] {
    try #require(try ProjectFiles.json("protocol/navigation.json")["rows"]?.array)
  }

  /// Returns the reason to skip a row. Page ids are the server's, no client observes the end of its
  /// session, and the server always requests a page for an empty tab.
  private static func skipReason(_ row: Value) -> String? {
    if row["operation"]?["end"] != nil { return "end" }
    // The fixture opens the first page of each tab by the tab's URI.
    if row["name"]?.string?.contains("taken the place of the first one") == true {
      return "replacedTab"
    }
    return row["error"]?.string.flatMap { ["pageExists", "emptyTab"].contains($0) ? $0 : nil }
  }

  private init(_ row: Value) throws {
    name = try #require(row["name"]?.string)
    stack = try #require(row["stack"]?.string)
    operation = try #require(row["operation"])
    let after = try #require(row["after"]?.string)
    stackAfter = NavigationFixture.normalizedStack(after)
    var expected = NavigationFixture.NavigationObservation()
    for closed in row["closed"]?.array ?? [] {
      let id = try #require(closed.array?[0].string)
      expected.closed.append(id)
      expected.outcomes[id] = closed.array?[1].string
      if let parts = closed.array, parts.count > 2, !parts[2].isNull {
        expected.data[id] = parts[2]
      }
    }
    expected.shown = row["shown"]?.array?.compactMap(\.string)
    var delivered = row["delivered"]?.array
    if let count = delivered?.count, count < 3 { delivered?.append(.null) }
    self.delivered = delivered
    // The page on top is resumed if it was covered, or after a covered page has got new data.
    var resumed = row["resumed"]
    if let delivered {
      expected.resumed.append(delivered)
      let top = try StackDescription(after).sections.first?.pages.last.map { Value.string($0.id) }
      resumed = top == delivered.first ? nil : top
    }
    let opened = row["opened"]?.array ?? []
    expected.opened = opened.map { $0.array?.compactMap(\.string) ?? [] }
    // The page over new ones is resumed, because hosts may have shown them over it.
    let top = try StackDescription(after).sections.first?.pages.last?.id
    if let top, !opened.isEmpty, opened.last?.array?.first != .string(top) {
      resumed = .string(top)
    }
    if let resumed, !resumed.isNull { expected.resumed.append([resumed, .null, .null]) }
    // The server rejects a negative count before it reaches the stack.
    expected.error = row["error"]?.string.map { $0 == "invalidCount" ? "invalidParams" : $0 }
    // No client is notified of a cancellation that is too late.
    if operation["cancel"] != nil { expected.error = nil }
    if operation["contains"] != nil { expected.found = row["found"]?.string ?? "nothing" }
    self.expected = expected
    let parts = try StackDescription(stack).sections
    var pages = parts.flatMap(\.pages)
    for place in [operation["open"], operation["select"]] {
      if let text = place?["page"]?.string { pages.append(try StackDescription.NotatedPage(text)) }
    }
    for page in operation["edit"]?["open"]?.array ?? [] {
      pages.append(try StackDescription.NotatedPage(try #require(page["page"]?.string)))
    }
    uris = pages.map(\.uri)
    var tabs = (0..<3).map { "tab:\($0)" }
    for place in [operation["open"], operation["select"]] {
      guard let index = place?["tab"]?.integer, let text = place?["page"]?.string else { continue }
      tabs[Int(index)] = try StackDescription.NotatedPage(text).uri
    }
    for part in parts {
      if let index = part.tab, let first = part.pages.first { tabs[index] = first.uri }
    }
    self.tabs = tabs
  }
}
