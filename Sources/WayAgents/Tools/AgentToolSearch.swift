import WayRouting
import WayValues

/// The tools `search` and `describe`, which stand in for a list that is too long for an agent's
/// context.
struct AgentToolSearch {
  /// Their entries in `tools/list`, in the order of their names.
  static let tools = [
    AgentToolDefinition(
      name: "describe", title: "Describe a tool",
      description: "Returns the description and the schemas of a tool of the app, which you can "
        + "then call by its name. Find names with the tool search.",
      inputSchema: [
        "type": "object",
        "properties": [
          "name": ["type": "string", "description": "The name of the tool, from search."]
        ],
        "required": ["name"], "additionalProperties": false,
      ],
      outputSchema: [
        "type": "object",
        "properties": [
          "name": ["type": "string"], "title": ["type": "string"],
          "description": ["type": "string"], "inputSchema": ["type": "object"],
          "outputSchema": ["type": "object"], "annotations": ["type": "object"],
        ],
        "required": ["name", "description", "inputSchema"],
      ]),
    AgentToolDefinition(
      name: "search", title: "Search the app's tools",
      description: "The app has more tools than are listed here. Returns those whose names or "
        + "descriptions contain words, the best match first.",
      inputSchema: [
        "type": "object",
        "properties": [
          "query": [
            "type": "string", "maxLength": .integer(Int64(maxQueryLength)),
            "description": "Words to look for; without any, all tools match.",
          ],
          "limit": [
            "type": "integer", "minimum": 1, "maximum": .integer(Int64(maxLimit)),
            "default": .integer(Int64(defaultLimit)),
          ],
        ],
        "additionalProperties": false,
      ],
      outputSchema: [
        "type": "object",
        "properties": [
          "tools": [
            "type": "array",
            "items": [
              "type": "object",
              "properties": [
                "name": ["type": "string"], "title": ["type": "string"],
                "description": ["type": "string"],
              ],
              "required": ["name", "description"],
            ],
          ],
          "total": ["type": "integer", "description": "The number of all matches."],
        ],
        "required": ["tools", "total"],
      ]),
  ]

  private static let maxQueryLength = 256
  private static let maxWords = 16
  private static let maxLimit = 50
  private static let defaultLimit = 10

  let list: AgentToolList
  let revision: MCPRevision

  private struct SearchArguments: Decodable {
    let query: String?
    let limit: Int?
  }

  private struct DescribeArguments: Decodable {
    let name: String
  }

  private struct FoundTool: Encodable {
    let name: String
    let title: String?
    let description: String
  }

  private struct FoundTools: Encodable {
    let tools: [FoundTool]
    let total: Int
  }

  /// Runs one of the tools. Fails for invalid arguments; returns `nil` for another tool.
  func run(_ call: MCPToolCall) throws(CallError) -> Value? {
    do {
      switch call.name {
      case "search":
        return try search(try Value.object(call.arguments).decode(as: SearchArguments.self))
      case "describe":
        return try describe(try Value.object(call.arguments).decode(as: DescribeArguments.self))
      default: return nil
      }
    } catch let error as CallError {
      throw error
    } catch {
      throw .invalidParams("\(error)")
    }
  }

  private func search(_ arguments: SearchArguments) throws -> Value {
    let query = arguments.query ?? ""
    guard query.unicodeScalars.count <= Self.maxQueryLength else {
      throw CallError.invalidParams(
        "query has to have at most \(Self.maxQueryLength) characters")
    }
    let limit = arguments.limit ?? Self.defaultLimit
    guard (1...Self.maxLimit).contains(limit) else {
      throw CallError.invalidParams("limit has to be an integer from 1 to \(Self.maxLimit)")
    }
    let words = query.lowercased().split { !$0.isLetter && !$0.isNumber }.prefix(Self.maxWords)
    let matches = list.tools.map { (tool: $0, score: Self.score(of: $0, words)) }
      .filter { words.isEmpty || $0.score > 0 }
      // The names decide between equal scores.
      .sorted { ($1.score, $0.tool.name) < ($0.score, $1.tool.name) }
    let found = matches.prefix(limit).map { match in
      let definition = AgentToolDefinition(match.tool, for: revision)
      return FoundTool(
        name: definition.name, title: definition.title, description: definition.description)
    }
    return try ValueEncoder().encode(FoundTools(tools: found, total: matches.count))
  }

  /// The number of words that a tool contains; those of its name and title count more.
  private static func score(of tool: AgentTool, _ words: ArraySlice<Substring>) -> Int {
    let texts = [
      (tool.name, 4), (tool.route.title ?? "", 2), (tool.route.purpose ?? "", 1),
    ].map { ($0.0.lowercased(), $0.1) }
    return words.reduce(0) { sum, word in
      sum + texts.reduce(0) { $0 + ($1.0.contains(word) ? $1.1 : 0) }
    }
  }

  private func describe(_ arguments: DescribeArguments) throws -> Value {
    guard let tool = list.tools.first(where: { $0.name.isSameUTF8(as: arguments.name) }) else {
      let hint = NameSuggestion.hint(for: arguments.name, among: list.tools.map(\.name))
      throw CallError.invalidParams(
        "there is no tool \"\(arguments.name.brief)\";\(hint) use search")
    }
    return try ValueEncoder().encode(AgentToolDefinition(tool, for: revision))
  }
}
