import TestSupport
import Testing
import WayNavigation
import WayRouting
import WayValues

/// Every row of `protocol/navigation.json` again, through clients of a session.
@Suite(.timeLimit(.minutes(2)))
struct NavigationWireTests {
  @Test("the published table holds over the wire", arguments: try Row.all())
  func row(_ row: Row) async throws {
    let walk = try await NavigationFixture(row.stack, row.uris, tabs: row.tabs)
    try await walk.build(row.stack)
    let seen = try await walk.perform(row.operation)
    #expect(seen == row.expected, "\(row.name)")
    #expect(try await walk.stack() == row.after, "\(row.name)")
  }

  @Test("leaves out only what no client can ask for")
  func coverage() throws {
    #expect(try Row.leftOut() == ["emptyTab", "end", "pageExists"])
  }
}

/// A row, with what its operation makes clients see.
struct Row: CustomTestStringConvertible, Sendable {
  let name: String
  let stack: String
  let operation: Value
  let expected: NavigationFixture.NavigationObservation
  let after: String
  /// The URIs of all pages of the row.
  let uris: [String]
  /// The URI of each tab's first page.
  let tabs: [String]

  var testDescription: String { name }

  static func all() throws -> [Row] {
    try rows().filter { reasonToLeaveOut($0) == nil }.map(Row.init)
  }

  static func leftOut() throws -> Set<String> {
    Set(try rows().compactMap(reasonToLeaveOut))
  }

  private static func rows() throws -> [Value] {
    try #require(try ProjectFiles.json("protocol/navigation.json")["rows"]?.list)
  }

  /// Page ids are the server's, no client sees its session end, and a page for an empty tab is
  /// always asked for.
  private static func reasonToLeaveOut(_ row: Value) -> String? {
    if row["operation"]?["end"] != nil { return "end" }
    return row["error"]?.string.flatMap { ["pageExists", "emptyTab"].contains($0) ? $0 : nil }
  }

  private init(_ row: Value) throws {
    name = try #require(row["name"]?.string)
    stack = try #require(row["stack"]?.string)
    operation = try #require(row["operation"])
    after = NavigationFixture.shownText(try #require(row["after"]?.string))
    var expected = NavigationFixture.NavigationObservation()
    for closed in row["closed"]?.list ?? [] {
      let id = try #require(closed.list?[0].string)
      expected.closed.append(id)
      expected.outcomes[id] = closed.list?[1].string
      if let parts = closed.list, parts.count > 2, !parts[2].isNull { expected.data[id] = parts[2] }
    }
    expected.shown = row["shown"]?.list?.compactMap(\.string)
    expected.resumed = row["resumed"]?.string
    // A count below 0 never gets as far as the stack.
    expected.error = row["error"]?.string.map { $0 == "invalidCount" ? "invalidParams" : $0 }
    // Nobody is told of a cancel that comes too late.
    if operation["cancel"] != nil { expected.error = nil }
    if operation["contains"] != nil { expected.found = row["found"]?.string ?? "nothing" }
    self.expected = expected
    let parts = try StackDescription(stack).parts
    var pages = parts.flatMap(\.pages)
    for place in [operation["open"], operation["select"]] {
      if let text = place?["page"]?.string { pages.append(try StackDescription.Page(text)) }
    }
    uris = pages.map(\.uri)
    var tabs = (0..<3).map { "tab:\($0)" }
    if let select = operation["select"], let index = select["tab"]?.integer,
      let text = select["page"]?.string
    {
      tabs[Int(index)] = try StackDescription.Page(text).uri
    }
    for part in parts {
      if let index = part.tab, let first = part.pages.first { tabs[index] = first.uri }
    }
    self.tabs = tabs
  }
}
