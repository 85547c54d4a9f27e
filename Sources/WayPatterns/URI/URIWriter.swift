import WayValues

/// Puts a URI together, percent-encoding what a part does not allow.
struct URIWriter {
  /// Which part of a URI a text goes into.
  enum Part {
    case authority, segment, query

    /// What stays as it is: of a query not the delimiters, nor the plus, which may be a space.
    var plain: URIByteSet {
      switch self {
      case .authority: .name
      case .segment: .segment
      case .query: .queryValue
      }
    }
  }

  private(set) var bytes: [UInt8] = []
  /// How many parameters the query has; nil before its question mark.
  private var parameters: Int?

  /// What is a piece of a URI already.
  mutating func append(raw text: some StringProtocol) {
    bytes += text.utf8
  }

  /// Tells that what is written has a query already, of so many parameters; nil for none.
  mutating func beginQuery(with count: Int?) {
    parameters = count
  }

  mutating func append(_ text: some Sequence<UInt8>, as part: Part) {
    for byte in text {
      if part.plain.contains(byte) { bytes.append(byte) } else { bytes.appendTriplet(byte) }
    }
  }

  /// Appends what a value is in a URI; `name` is that of its parameter.
  mutating func append(_ value: Value?, of name: String, as part: Part)
    throws(PatternParameterError)
  {
    let text = try Self.text(of: value, name)
    guard !text.isEmpty || part == .query else {
      throw PatternParameterError.fault(name, "must not be empty: it is a part of the path")
    }
    if part != .query, !name.isEmpty { try Self.check(text, of: name) }
    append(text.utf8, as: part)
  }

  /// Appends a segment of the path; `name` is that of its parameter.
  mutating func append(segment text: String, of name: String) throws(PatternParameterError) {
    try Self.check(text, of: name)
    append(text.utf8, as: .segment)
  }

  /// A dot segment would take others away.
  private static func check(_ text: String, of name: String) throws(PatternParameterError) {
    guard text == "." || text == ".." else { return }
    throw PatternParameterError.fault(name, "must not be '.' or '..': it is a part of the path")
  }

  /// Appends to the query. A list becomes a parameter for each of its elements; null is left out.
  mutating func append(parameter name: String, _ value: Value) throws(PatternParameterError) {
    switch value {
    case .null: return
    case .list(let values): for value in values { try append(name, value) }
    default: try append(name, value)
    }
  }

  private mutating func append(_ name: String, _ value: Value) throws(PatternParameterError) {
    let count = parameters ?? 0
    guard count < RouteURI.maxParameters else {
      throw PatternParameterError.fault(nil, "more than \(RouteURI.maxParameters) query parameters")
    }
    if parameters == nil {
      bytes.append(.question)
    } else if count > 0 {
      bytes.append(UInt8(ascii: "&"))
    }
    parameters = count + 1
    append(try Self.text(of: .string(name), name).utf8, as: .query)
    bytes.append(UInt8(ascii: "="))
    try append(value, of: name, as: .query)
  }

  /// What is written so far, as a URI.
  func uri() throws(PatternParameterError) -> RouteURI {
    do { return try RouteURI(mapping: String(decoding: bytes, as: UTF8.self)) } catch {
      throw .uri(error)
    }
  }

  /// What a value is in a URI.
  private static func text(of value: Value?, _ name: String) throws(PatternParameterError) -> String
  {
    switch value {
    case .string(let text):
      guard !text.utf8.contains(0) else {
        throw PatternParameterError.fault(name, "holds a zero byte")
      }
      return text
    case .integer(let value): return "\(value)"
    case .number(let number): return number.digits
    case .bool(let value): return "\(value)"
    case nil, .null: throw PatternParameterError.fault(name, "is missing")
    case .list, .object:
      throw PatternParameterError.fault(
        name, "is an \(value?.kindName ?? ""), which has no place in a URI; give it in params")
    }
  }
}

extension RouteURI {
  /// The URI with these parameters as its query, in the place of its own.
  ///
  /// Throws ``ParameterError/parameters(_:)`` for what has no place in a URI, such as objects.
  package func replacingQuery(with params: ValueObject) throws(PatternParameterError) -> RouteURI {
    var writer = URIWriter()
    writer.append(raw: withoutQuery)
    for member in params.members { try writer.append(parameter: member.name, member.value) }
    if let fragment { writer.append(raw: "#\(fragment)") }
    return try writer.uri()
  }

  /// The URI, which has none yet, with a fragment; as it is where there is none to add.
  package func adding(fragment: String?) throws(PatternParameterError) -> RouteURI {
    guard let fragment else { return self }
    var writer = URIWriter()
    writer.append(raw: text)
    writer.append(raw: "#\(fragment)")
    return try writer.uri()
  }
}
