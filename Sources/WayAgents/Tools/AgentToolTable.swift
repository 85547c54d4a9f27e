import WayRouting
import WayValues

/// The tools of a table, in the order of their names. Immutable.
package struct AgentToolTable: Sendable {
  /// The version of the router from which the table was made.
  package let version: Int
  /// All tools, whatever the policy allows.
  package let tools: [AgentTool]
  private let positions: [String: Int]

  /// Creates the table of a router's routes.
  package init(_ snapshot: RouterSnapshot) {
    version = snapshot.version
    var tools: [AgentTool] = []
    var positions: [String: Int] = [:]
    for tool in snapshot.routes.compactMap(AgentTool.init).sorted(by: { $0.name < $1.name })
    where positions[tool.name] == nil {
      positions[tool.name] = tools.count
      tools.append(tool)
    }
    self.tools = tools
    self.positions = positions
  }

  /// Returns the tool with a name; `nil` if there is none.
  package func tool(named name: String) -> AgentTool? { positions[name].map { tools[$0] } }
}

/// The tools that one agent may call.
package struct AgentToolList: Sendable {
  /// The bounds of a list.
  package struct ListLimits: Sendable {
    /// With more tools, `search` and `describe` stand in for them.
    package var maxTools = 40
    /// The maximum number of bytes of a page's tools, unless one tool has more.
    package var maxPageBytes = 262_144

    /// Creates the default bounds.
    package init() {}
  }

  /// The tools in the order of their names.
  package let tools: [AgentTool]
  private let limits: ListLimits

  /// Creates the list of some tools of a table.
  package init(_ tools: [AgentTool], limits: ListLimits = ListLimits()) {
    self.tools = tools
    self.limits = limits
  }

  /// Whether the list is so long that two tools stand in for it.
  package var isSearchable: Bool { tools.count > limits.maxTools }

  /// A part of the list.
  struct ListPage {
    var tools: [Value] = []
    var nextCursor: String?
  }

  /// Returns the page after a cursor. Fails for a cursor that no page had.
  func page(after cursor: String?, for revision: MCPRevision) throws(MCPRejection) -> ListPage {
    let start = try cursor.map { (text) throws(MCPRejection) in
      guard let cursor = ToolCursor(text) else {
        throw .invalidParams("params.cursor is not a cursor of this server")
      }
      return cursor
    }
    let rest =
      isSearchable
      ? AgentToolSearch.tools.map { ($0.name, $0) }
      : tools.map { ($0.name, AgentToolDefinition($0, for: revision)) }
    var page = ListPage()
    var size = 0
    var last: String?
    for (name, definition) in rest where start.map({ $0.name < name }) ?? true {
      let value = (try? ValueEncoder().encode(definition)) ?? .null
      size += value.size
      if size > limits.maxPageBytes, let last {
        page.nextCursor = ToolCursor(name: last).text
        break
      }
      page.tools.append(value)
      last = name
    }
    return page
  }
}

/// A place in a list: the name of the tool before it, so that it stays valid when the list changes.
private struct ToolCursor {
  private static let mark = "after:"
  let name: String

  init(name: String) { self.name = name }

  init?(_ text: String) {
    guard text.utf8.count <= 256, let bytes = Base64Text.bytes(of: text.utf8),
      let decoded = String(validating: bytes, as: UTF8.self), decoded.hasPrefix(Self.mark)
    else { return nil }
    name = String(decoded.dropFirst(Self.mark.count))
  }

  var text: String { Base64Text(encoding: (Self.mark + name).utf8).text }
}
