import WayValues

/// The target of a redirect or a fallback: a URI in which `:name` stands for a value that the
/// pattern has captured.
///
/// In `https://h5.example/address/:id?from=app&id=:id` a parameter is a whole segment, the
/// authority, or a whole value of the query. `*` at the end of the path stands for the segments of
/// a wildcard.
public struct PatternTarget: Sendable, Hashable, CustomStringConvertible {
  private enum TemplatePart: Sendable {
    /// An unchanged piece of a URI.
    case raw(String)
    case parameter(String, URIWriter.URIComponent)
    /// The segments of a wildcard, each after a slash.
    case wildcard
  }

  /// The target as it was written.
  public let text: String
  /// The names of the parameters that it needs, from left to right; `*` for a wildcard.
  public private(set) var parameterNames: [String]
  private var pieces: [TemplatePart] = []
  /// The parameters of the target's own query.
  private var query = ValueObject()
  private var queryCount: Int?
  private let fragment: String?

  /// Parses a target. Throws an error that names the position and the remedy.
  public init(_ text: String) throws(RoutePatternError) {
    self.text = text
    let beforeFragment = text.prefix { $0 != "#" }
    fragment =
      beforeFragment.endIndex == text.endIndex
      ? nil : String(text[text.index(after: beforeFragment.endIndex)...])
    let head = String(beforeFragment.prefix { $0 != "?" })
    let pattern: RoutePattern
    do { pattern = try RoutePattern(head) } catch {
      throw RoutePatternError(text, at: error.offset, error.reason)
    }
    parameterNames = pattern.parameterNames
    guard pattern.scheme != nil, pattern.formCount == 1 else {
      throw RoutePatternError(
        text, at: 0, "a target begins with a scheme and has no optional groups")
    }
    try readPath(head)
    if head.endIndex < beforeFragment.endIndex {
      try readQuery(String(text[text.index(after: head.endIndex)..<beforeFragment.endIndex]))
    }
    do { _ = try exampleURI() } catch { throw RoutePatternError(text, at: 0, "\(error)") }
  }

  private mutating func readPath(_ head: String) throws(RoutePatternError) {
    let colon = head.prefix { $0 != ":" }.endIndex
    let rest = head[head.index(after: colon)...]
    let hasAuthority = rest.hasPrefix("//")
    var raw = String(head[...colon])
    for (position, part) in rest.split(separator: "/", omittingEmptySubsequences: false)
      .enumerated()
    {
      if part == "*" {
        guard position > (hasAuthority ? 2 : 0) else {
          throw RoutePatternError(
            text, at: raw.utf8.count, "in a target \"*\" comes after a slash of the path")
        }
        pieces += [.raw(raw), .wildcard]
        raw = ""
        continue
      }
      if position > 0 { raw += "/" }
      if part.hasPrefix(":") {
        let isAuthority = hasAuthority && position == 2
        pieces += [
          .raw(raw), .parameter(String(part.dropFirst()), isAuthority ? .authority : .segment),
        ]
        raw = ""
      } else {
        raw += part
      }
    }
    pieces.append(.raw(raw))
  }

  private mutating func readQuery(_ text: String) throws(RoutePatternError) {
    do { query = try RouteURI(mapping: "x:?" + text).queryParameters() } catch {
      throw RoutePatternError(self.text, at: 0, "its query: \(error)")
    }
    var raw = "?"
    for (position, part) in text.split(separator: "&").enumerated() {
      if position > 0 { raw += "&" }
      let name = part.prefix { $0 != "=" }
      let value = part.dropFirst(name.count + 1)
      guard value.first == ":" else {
        raw += part
        continue
      }
      pieces += [.raw(raw + name + "="), .parameter(String(value.dropFirst()), .query)]
      parameterNames.append(String(value.dropFirst()))
      raw = ""
    }
    pieces.append(.raw(raw))
    queryCount = text.split(separator: "&").count
  }

  public var description: String { text }

  public static func == (left: PatternTarget, right: PatternTarget) -> Bool {
    left.text.isSameUTF8(as: right.text)
  }

  public func hash(into hasher: inout Hasher) { text.hashUTF8(into: &hasher) }
}

extension PatternTarget {
  /// Returns the URI for some captures.
  package func exampleURI() throws(PatternParameterError) -> RouteURI {
    let example = ValueObject(parameterNames.map { ($0, $0 == "*" ? ["x"] : "x") })
    return try uri(example, extraParameters: [:], fragment: nil)
  }

  /// Returns the first parameter of the target that a pattern does not capture in each of its
  /// forms.
  package func firstParameter(missingIn pattern: RoutePattern) -> String? {
    parameterNames.first { name in !pattern.forms.allSatisfy { $0.hasCapture(name) } }
  }

  /// Returns the URI with these captures. The query also gets `extraParameters` and the captures,
  /// except those that the target sets or uses. `carriedFragment` is used if the target has none.
  package func uri(
    _ captures: ValueObject, extraParameters carried: ValueObject, fragment carriedFragment: String?
  ) throws(PatternParameterError) -> RouteURI {
    var writer = URIWriter()
    for piece in pieces {
      switch piece {
      case .raw(let text): writer.append(raw: text)
      case .parameter(let name, let part): try writer.append(captures[name], of: name, as: part)
      case .wildcard:
        for value in captures[RoutePattern.wildcardName]?.array ?? [] {
          writer.append(raw: "/")
          try writer.append(segment: value.string ?? "", of: RoutePattern.wildcardName)
        }
      }
    }
    writer.beginQuery(with: queryCount)
    var rest = carried
    rest.merge(captures)
    let used = Set(parameterNames.map(UTF8Key.init))
    for member in rest.members
    where query[member.name] == nil && !used.contains(UTF8Key(member.name)) {
      try writer.append(parameter: member.name, member.value)
    }
    if let fragment = fragment ?? carriedFragment { writer.append(raw: "#\(fragment)") }
    return try writer.uri()
  }
}
