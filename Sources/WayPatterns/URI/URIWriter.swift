import WayValues

/// Builds a URI and percent-encodes the characters that a part does not allow.
struct URIWriter {
  /// The part of a URI that a text is written to.
  enum URIComponent {
    case authority, segment, query

    /// The bytes that are written unencoded. In a query they exclude the delimiters, and the plus,
    /// which may be a space.
    var allowedBytes: URIByteSet {
      switch self {
      case .authority: .name
      case .segment: .segment
      case .query: .queryValue
      }
    }
  }

  private(set) var bytes: [UInt8] = []
  /// The number of parameters of the query; `nil` before its question mark.
  private var parameterCount: Int?

  /// Appends a piece of a URI.
  mutating func append(raw text: some StringProtocol) {
    bytes += text.utf8
  }

  /// Sets the number of parameters of a query that is written already; `nil` for none.
  mutating func beginQuery(with count: Int?) {
    parameterCount = count
  }

  mutating func append(_ text: some Sequence<UInt8>, as part: URIComponent) {
    for byte in text {
      if part.allowedBytes.contains(byte) {
        bytes.append(byte)
      } else {
        bytes.appendPercentEncoded(byte)
      }
    }
  }

  /// Appends the text of a value; `name` is that of its parameter.
  mutating func append(_ value: Value?, of name: String, as part: URIComponent)
    throws(PatternParameterError)
  {
    let text = try Self.text(of: value, name)
    guard !text.isEmpty || part == .query else {
      throw PatternParameterError.fault(name, "must not be empty; it is a part of the path")
    }
    if part != .query, !name.isEmpty { try Self.checkSegment(text, of: name) }
    append(text.utf8, as: part)
  }

  /// Appends a segment of the path; `name` is that of its parameter.
  mutating func append(segment text: String, of name: String) throws(PatternParameterError) {
    try Self.checkSegment(text, of: name)
    append(text.utf8, as: .segment)
  }

  /// Rejects a dot segment, which would remove other segments.
  private static func checkSegment(_ text: String, of name: String) throws(PatternParameterError) {
    guard text == "." || text == ".." else { return }
    throw PatternParameterError.fault(name, "must not be \".\" or \"..\"; it is a part of the path")
  }

  /// Appends to the query. An array becomes a parameter for each of its elements; null is left out.
  mutating func append(parameter name: String, _ value: Value) throws(PatternParameterError) {
    switch value {
    case .null: return
    case .array(let values): for value in values { try appendPair(name, value) }
    default: try appendPair(name, value)
    }
  }

  private mutating func appendPair(_ name: String, _ value: Value) throws(PatternParameterError) {
    let count = parameterCount ?? 0
    guard count < RouteURI.maxParameters else {
      throw PatternParameterError.fault(nil, "more than \(RouteURI.maxParameters) query parameters")
    }
    if parameterCount == nil {
      bytes.append(.questionMark)
    } else if count > 0 {
      bytes.append(UInt8(ascii: "&"))
    }
    parameterCount = count + 1
    append(try Self.text(of: .string(name), name).utf8, as: .query)
    bytes.append(UInt8(ascii: "="))
    try append(value, of: name, as: .query)
  }

  /// Returns the URI that was written.
  func uri() throws(PatternParameterError) -> RouteURI {
    do { return try RouteURI(mapping: String(decoding: bytes, as: UTF8.self)) } catch {
      throw .uri(error)
    }
  }

  /// Returns the text of a value in a URI.
  private static func text(of value: Value?, _ name: String) throws(PatternParameterError) -> String
  {
    switch value {
    case .string(let text):
      guard !text.utf8.contains(0) else {
        throw PatternParameterError.fault(name, "contains a zero byte")
      }
      return text
    case .integer(let value): return "\(value)"
    case .number(let number): return number.digits
    case .bool(let value): return "\(value)"
    case nil, .null: throw PatternParameterError.fault(name, "is missing")
    case .array, .object:
      throw PatternParameterError.fault(
        name, "is an \(value?.kindName ?? ""), which a URI cannot contain; pass it in params")
    }
  }
}

extension RouteURI {
  /// Returns the URI with these parameters as its query, instead of its own.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for values that a URI cannot hold, such as objects.
  package func replacingQuery(with params: ValueObject) throws(PatternParameterError) -> RouteURI {
    var writer = URIWriter()
    writer.append(raw: withoutQuery)
    for member in params.members { try writer.append(parameter: member.name, member.value) }
    if let fragment { writer.append(raw: "#\(fragment)") }
    return try writer.uri()
  }

  /// Returns the URI, which has no fragment yet, with a fragment; unchanged if `fragment` is `nil`.
  package func adding(fragment: String?) throws(PatternParameterError) -> RouteURI {
    guard let fragment else { return self }
    var writer = URIWriter()
    writer.append(raw: text)
    writer.append(raw: "#\(fragment)")
    return try writer.uri()
  }
}
