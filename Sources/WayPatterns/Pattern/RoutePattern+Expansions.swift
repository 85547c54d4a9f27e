extension RoutePattern {
  /// One expansion of a pattern: with some of its optional groups and without the others.
  package struct PatternExpansion: Sendable, Hashable {
    /// The pattern without groups: literals, `:name` and a final `*`. Literals are percent-encoded,
    /// so that they differ from these.
    package let text: String
    /// The names of its parameters, from left to right; `*` for a wildcard.
    package let names: [String]
  }

  /// The expansions of the pattern. A call uses the first one for which it has all parameters.
  /// Expansions with more parameters come first; among these, the shortest. A pattern without
  /// groups has one, as it was written.
  package var expansions: [PatternExpansion] {
    guard forms.count > 1 else { return [PatternExpansion(text: text, names: parameterNames)] }
    let ordered = forms.enumerated().sorted { one, other in
      let (names, otherNames) = (one.element.captureNames.count, other.element.captureNames.count)
      if names != otherNames { return names > otherNames }
      let (length, otherLength) = (one.element.segments.count, other.element.segments.count)
      return (length, one.offset) < (otherLength, other.offset)
    }
    return ordered.map {
      PatternExpansion(text: text(of: $0.element), names: $0.element.captureNames)
    }
  }

  private func text(of form: PatternForm) -> String {
    var writer = URIWriter()
    if let scheme { writer.append(raw: scheme + ":") }
    var names = form.captureNames[...]
    for (position, segment) in form.segments.enumerated() {
      if position == 0, form.shape == .authority {
        writer.append(raw: "//")
      } else if position > 0 || form.shape == .rooted {
        writer.append(raw: "/")
      }
      switch segment {
      case .parameter: writer.append(raw: ":\(names.popFirst() ?? "")")
      case .wildcard: writer.append(raw: RoutePattern.wildcardName)
      case .literal(let bytes):
        let isAuthority = position == 0 && form.shape == .authority
        write(bytes, as: isAuthority ? .authority : .segment, to: &writer)
      }
    }
    // A pattern is never empty.
    if form.segments.isEmpty, scheme == nil { writer.append(raw: "/") }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func write(
    _ literal: [UInt8], as part: URIWriter.URIComponent, to writer: inout URIWriter
  ) {
    for (position, byte) in literal.enumerated() {
      // A colon only has a meaning at the beginning of a segment, and another one in an address or
      // before a port. Brackets only enclose addresses.
      let isPlain =
        byte == .colon ? position > 0 : part == .authority && (byte == 0x5B || byte == 0x5D)
      if isPlain {
        writer.append(raw: String(decoding: CollectionOfOne(byte), as: UTF8.self))
      } else if Self.metacharacters.contains(byte) {
        writer.append(raw: "%" + String(byte, radix: 16, uppercase: true))
      } else {
        writer.append(CollectionOfOne(byte), as: part)
      }
    }
  }

  /// The characters with a special meaning in a pattern.
  private static let metacharacters: [UInt8] = Array(":()*".utf8)
}

extension RoutePattern.PatternForm {
  /// The names of the parameters, in the order of the segments.
  var captureNames: [String] {
    captures.map(\.name) + (wildcardIndex == nil ? [] : [RoutePattern.wildcardName])
  }
}
