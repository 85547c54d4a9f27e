extension RoutePattern {
  /// One way to read a pattern: with these of its optional groups and without the others.
  package struct Reading: Sendable, Hashable {
    /// The pattern without groups: literals, `:name` and a final `*`, percent-encoded so that no
    /// literal is taken for any of these.
    package let text: String
    /// What it takes from a URI, from left to right; of a wildcard `*`.
    package let names: [String]
  }

  /// The ways to read the pattern, of which a call takes the first that it has all names for: the
  /// one with the most names first, among those the shortest. A pattern without groups has one, as
  /// it was written.
  package var readings: [Reading] {
    guard forms.count > 1 else { return [Reading(text: text, names: parameterNames)] }
    let ordered = forms.enumerated().sorted { one, other in
      let (names, otherNames) = (one.element.names.count, other.element.names.count)
      if names != otherNames { return names > otherNames }
      let (length, otherLength) = (one.element.segments.count, other.element.segments.count)
      return (length, one.offset) < (otherLength, other.offset)
    }
    return ordered.map { Reading(text: text(of: $0.element), names: $0.element.names) }
  }

  private func text(of form: Form) -> String {
    var writer = URIWriter()
    if let scheme { writer.append(raw: scheme + ":") }
    var names = form.names[...]
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
    if form.segments.isEmpty, form.shape == .rooted { writer.append(raw: "/") }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func write(_ literal: [UInt8], as part: URIWriter.Part, to writer: inout URIWriter) {
    for (position, byte) in literal.enumerated() {
      // A colon only has a meaning where a segment begins, and has another in an address or before
      // a port; brackets stand around addresses only.
      let isPlain =
        byte == .colon ? position > 0 : part == .authority && (byte == 0x5B || byte == 0x5D)
      if isPlain {
        writer.append(raw: String(decoding: CollectionOfOne(byte), as: UTF8.self))
      } else if Self.meaning.contains(byte) {
        writer.append(raw: "%" + String(byte, radix: 16, uppercase: true))
      } else {
        writer.append(CollectionOfOne(byte), as: part)
      }
    }
  }

  /// What stands for something else than itself in a pattern.
  private static let meaning: [UInt8] = Array(":()*".utf8)
}

extension RoutePattern.Form {
  /// What it takes, in the order of its segments.
  fileprivate var names: [String] {
    captures.map(\.name) + (wildcard == nil ? [] : [RoutePattern.wildcardName])
  }
}
