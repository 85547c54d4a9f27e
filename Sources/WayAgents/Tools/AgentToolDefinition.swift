import WayRouting
import WayValues

/// A tool as an entry of `tools/list`.
struct AgentToolDefinition: Encodable {
  let name: String
  let title: String?
  let description: String
  let inputSchema: Value
  let outputSchema: Value?
  let annotations: Annotations

  struct Annotations: Encodable {
    var readOnlyHint = true
    var destructiveHint = false
    var idempotentHint = true
    var openWorldHint: Bool?
  }

  init(
    name: String, title: String, description: String, inputSchema: Value, outputSchema: Value
  ) {
    self.name = name
    self.title = title
    self.description = description
    self.inputSchema = inputSchema
    self.outputSchema = outputSchema
    annotations = Annotations(openWorldHint: false)
  }

  init(_ tool: AgentTool, for revision: MCPRevision) {
    let route = tool.route
    name = tool.name
    title = route.title
    description = route.purpose ?? route.title ?? "Calls the route \(route.name.brief) of the app"
    inputSchema = tool.inputSchema
    // The older revision allows objects only.
    outputSchema = route.result.flatMap { result in
      revision == .stateless || result.isObject ? Self.outputSchema(result) : nil
    }
    let hints = route.agents ?? RouteAgents()
    annotations = Annotations(
      readOnlyHint: hints.isReadOnly, destructiveHint: hints.isDestructive,
      idempotentHint: hints.isIdempotent)
  }

  private static func outputSchema(_ result: ValueSchema) -> Value {
    var writer = SchemaWriter(refersToTypes: true)
    return writer.value(of: result).defining(writer)
  }
}

extension ValueSchema {
  /// Whether all values that fit are objects.
  var isObject: Bool { kind == .object && !isNullable }
}

extension AgentTool {
  /// The schema of the arguments.
  fileprivate var inputSchema: Value {
    var writer = SchemaWriter(refersToTypes: true)
    let parameters = parameters
    var properties = ValueObject(parameters.map { ($0.name, writer.value(of: $0)) })
    if let sessionArgument {
      properties[sessionArgument] = [
        "type": "string",
        "description":
          "The id of the app's session in which to call the tool. Leave it out for the newest.",
      ]
    }
    var schema: ValueObject = ["type": "object"]
    if !properties.isEmpty { schema["properties"] = .object(properties) }
    let required = parameters.filter(\.isRequired).map(\.name).map(Value.string)
    if !required.isEmpty { schema["required"] = .array(required) }
    if route.isStrict { schema["additionalProperties"] = false }
    return Value.object(schema).defining(writer)
  }
}

extension Value {
  /// Returns a schema with the definitions of the types to which it refers.
  fileprivate func defining(_ writer: SchemaWriter) -> Value {
    guard case .object(var members) = self, !writer.definitions.isEmpty else { return self }
    members["$defs"] = .object(writer.definitions)
    return .object(members)
  }
}
