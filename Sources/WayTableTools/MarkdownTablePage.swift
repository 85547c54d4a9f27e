import WayNavigation
import WayRouting
import WayTable
import WayValues

/// A table as a Markdown page with GitHub's table syntax.
struct MarkdownTablePage {
  private let table: RouteTable

  init(_ table: RouteTable) {
    self.table = table
  }

  var text: String {
    var page = CodeWriter(unit: "")
    page.line("# \(Self.escaped("Routes, version \(table.version)"))")
    page.line()
    page.line("Hash \(table.stamp.hash).")
    for (heading, kind) in [
      ("Pages", RouteKind.page), ("Tasks", .task), ("Services", .service),
    ] {
      let routes = table.declarations.routes.filter { $0.kind == kind }
      if routes.isEmpty { continue }
      page.line("\n## \(heading)")
      for route in routes { write(route, to: &page) }
    }
    writeTopics(to: &page)
    writeTypes(to: &page)
    writeRedirects(to: &page)
    return page.text
  }

  private func write(_ route: Route, to page: inout CodeWriter) {
    page.line("\n### \(Self.escaped(route.name))")
    write(title: route.title, purpose: route.purpose, to: &page)
    page.line()
    for pattern in route.patterns { page.line("- \(Self.code(pattern.text))") }
    for fact in TableRouteFacts.of(route, in: table) {
      page.line("- \(fact.label): \(Self.escaped(fact.text))")
    }
    write("Parameter", TableRouteFacts.rows(route.parameters), to: &page)
    write(result: route.result, "Result", to: &page)
    for method in route.methods {
      page.line("\n#### \(Self.escaped("\(route.name): \(method.name)"))")
      write(title: method.title, purpose: method.purpose, to: &page)
      write("Parameter", TableRouteFacts.rows(method.parameters), to: &page)
      write(result: method.result, "Answer", to: &page)
    }
  }

  private func write(title: String?, purpose: String?, to page: inout CodeWriter) {
    if let title { page.line("\n**\(Self.escaped(title))**") }
    if let purpose { page.line("\n\(Self.escaped(purpose))") }
  }

  private func write(result: ValueSchema?, _ word: String, to page: inout CodeWriter) {
    guard let result else { return }
    let title = result.title.map { ", \(Self.escaped($0))" } ?? ""
    page.line("\n\(word): \(Self.escaped(result.typeDescription))\(title)")
    if result.typeName == nil { write("Member", TableRouteFacts.rows(result), to: &page) }
  }

  private func write(_ head: String, _ rows: [TableRouteFacts.Row], to page: inout CodeWriter) {
    guard !rows.isEmpty else { return }
    page.line("\n| \(head) | Type | Required | Notes |")
    page.line("|---|---|---|---|")
    for row in rows {
      let cells = [row.name, row.type, row.requirement, row.notes].map(Self.escaped)
      page.line("| \(cells.joined(separator: " | ")) |")
    }
  }

  private func writeTopics(to page: inout CodeWriter) {
    if !table.topics.isEmpty { page.line("\n## Topics") }
    for topic in table.topics {
      page.line("\n### \(Self.escaped(topic.name))")
      write(title: topic.title, purpose: topic.purpose, to: &page)
      write(result: topic.data, "Data", to: &page)
    }
  }

  private func writeTypes(to page: inout CodeWriter) {
    if !table.types.isEmpty { page.line("\n## Types") }
    for type in table.types {
      page.line("\n### \(Self.escaped(type.name))")
      let facts = [type.schema.title ?? type.schema.kind.rawValue] + type.schema.constraints
      page.line("\n\(Self.escaped(facts.joined(separator: ". ")))")
      if let allowed = type.schema.allowed {
        page.line("\nOne of \(Self.escaped(allowed.map(\.text).joined(separator: ", ")))")
      }
      write("Member", TableRouteFacts.rows(type.schema), to: &page)
    }
  }

  private func writeRedirects(to page: inout CodeWriter) {
    let redirects = table.declarations.redirects
    if !redirects.isEmpty { page.line("\n## Redirects\n") }
    for redirect in redirects {
      page.line("- \(Self.code(redirect.from.text))")
      for target in TableRouteFacts.targets(of: redirect) {
        page.line("  - \(Self.escaped(target))")
      }
    }
  }

  /// The text on one line, with a backslash before special characters (CommonMark, Backslash
  /// escapes), including those that are special only at the start of a line.
  static func escaped(_ text: String) -> String {
    var result = ""
    var isNumber = true
    for (index, scalar) in text.visible.unicodeScalars.enumerated() {
      let isDigit = ("0"..."9").contains(scalar)
      let endsNumber = isNumber && index > 0 && (scalar == "." || scalar == ")")
      if "\\`*_[]<>|~&$".unicodeScalars.contains(scalar) || endsNumber
        || (index == 0 && "#+-=:".unicodeScalars.contains(scalar))
      {
        result += "\\"
      }
      result.unicodeScalars.append(scalar)
      isNumber = isNumber && isDigit
    }
    return result
  }

  /// The text as a code span, with more backticks than the text contains.
  private static func code(_ text: String) -> String {
    let text = text.visible
    let longest = text.split(omittingEmptySubsequences: true) { $0 != "`" }.map(\.count).max() ?? 0
    let fence = String(repeating: "`", count: longest + 1)
    let pad = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
    return fence + pad + text + pad + fence
  }
}
