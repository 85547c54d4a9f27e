/// The header fields of a request that the Model Context Protocol names.
package struct MCPRequestHead: Sendable {
  /// A header field that may come once.
  package enum HeaderField: Sendable, Hashable {
    case missing
    case value(String)
    /// The field comes more than once.
    case repeated

    fileprivate init(_ values: [String]) {
      self = values.count > 1 ? .repeated : values.first.map(HeaderField.value) ?? .missing
    }

    /// The value; `nil` if the field is missing or comes more than once.
    package var text: String? { if case .value(let text) = self { text } else { nil } }
  }

  /// `MCP-Protocol-Version`.
  package let version: HeaderField
  /// `Mcp-Method`.
  package let method: HeaderField
  /// `Mcp-Name`, not decoded yet.
  package let name: HeaderField
  /// Whether the client accepts a response in JSON.
  package let acceptsJSON: Bool
  /// Whether the client accepts a stream of server-sent events.
  package let acceptsEvents: Bool

  /// Reads the fields of a request, whose names are in lower case.
  package init(_ fields: [(name: String, value: String)]) {
    func values(_ name: String) -> [String] {
      fields.filter { $0.name == name }.map { Self.trimmed($0.value) }
    }
    version = HeaderField(values("mcp-protocol-version"))
    method = HeaderField(values("mcp-method"))
    name = HeaderField(values("mcp-name"))
    let types = Self.mediaTypes(values("accept"))
    acceptsJSON = types.map { !$0.isDisjoint(with: ["*/*", "application/*", jsonType]) } ?? true
    acceptsEvents = types.map { !$0.isDisjoint(with: ["*/*", "text/*", eventsType]) } ?? true
  }

  /// The media types of an `Accept` field, in lower case; `nil` if there is none.
  private static func mediaTypes(_ values: [String]) -> Set<String>? {
    guard !values.isEmpty else { return nil }
    let types = values.flatMap { $0.split(separator: ",") }.map { type in
      trimmed(String(type.prefix { $0 != ";" })).lowercased()
    }
    return Set(types)
  }

  /// Returns a value without the spaces and tabs around it.
  private static func trimmed(_ value: String) -> String {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    let rest = value.utf8.drop(while: isSpace)
    let end = rest.lastIndex { !isSpace($0) }.map(rest.index(after:)) ?? rest.startIndex
    return String(rest[..<end]) ?? ""
  }
}

/// The media type of one message.
package let jsonType = "application/json"
/// The media type of a stream of messages.
package let eventsType = "text/event-stream"
