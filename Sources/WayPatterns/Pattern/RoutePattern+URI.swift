import WayValues

extension RoutePattern {
  /// The URI that this pattern matches with these parameters. Those that it does not capture stand
  /// in the query, a list as one key several times, null not at all. Of optional groups those are
  /// there for which all parameters are.
  ///
  /// - Parameter scheme: for a global pattern, which needs it; not looked at otherwise.
  ///
  /// Throws ``ParameterError/parameters(_:)`` for what is missing or cannot stand in a URI, and
  /// ``ParameterError/uri(_:)`` for a global pattern without a scheme and for more than
  /// ``RouteURI/maxLength``.
  public func uri(
    _ params: ValueObject = [:], scheme: String? = nil
  ) throws(PatternParameterError) -> RouteURI {
    guard let scheme = self.scheme ?? scheme else {
      throw .uri(RouteURIError(.noScheme, at: 0))
    }
    let form = form(for: params)
    var writer = URIWriter()
    writer.append(raw: scheme + ":")
    try form.write(params, to: &writer)
    for member in params.members where !form.captures(member.name) {
      try writer.append(parameter: member.name, member.value)
    }
    return try writer.uri()
  }

  /// The form that takes the most of the parameters and misses none; the shortest where all miss
  /// some.
  private func form(for params: ValueObject) -> Form {
    var best: Form?
    for form in forms where form.isComplete(with: params) {
      guard let other = best else {
        best = form
        continue
      }
      let (count, otherCount) = (form.captureCount, other.captureCount)
      if count > otherCount
        || count == otherCount && form.segments.count < other.segments.count
      {
        best = form
      }
    }
    return best ?? forms.min { $0.captureCount < $1.captureCount }
      ?? Form(shape: .rootless, segments: [], captures: [])
  }
}

extension RoutePattern.Form {
  fileprivate var captureCount: Int { captures.count + (wildcard == nil ? 0 : 1) }

  fileprivate func isComplete(with params: ValueObject) -> Bool {
    captures.allSatisfy { params[$0.name].map { !$0.isNull } == true }
      && (wildcard == nil || params[RoutePattern.wildcardName]?.list != nil)
  }

  /// Whether a parameter of this name is taken from the path.
  func captures(_ name: String) -> Bool {
    captures.contains { $0.name.isSameUTF8(as: name) }
      || wildcard != nil && name.isSameUTF8(as: RoutePattern.wildcardName)
  }

  fileprivate func write(
    _ params: ValueObject, to writer: inout URIWriter
  ) throws(PatternParameterError) {
    var path: [(value: Value, name: String)] = []
    var capture = 0
    for segment in segments {
      switch segment {
      case .literal(let literal):
        path.append((.string(String(decoding: literal, as: UTF8.self)), ""))
      case .parameter:
        let name = captures[capture].name
        capture += 1
        path.append((params[name] ?? .null, name))
      case .wildcard:
        guard let rest = params[RoutePattern.wildcardName]?.list else {
          throw PatternParameterError.fault(
            RoutePattern.wildcardName, "is missing; it has to be an array")
        }
        path += rest.map { ($0, RoutePattern.wildcardName) }
      }
    }
    guard path.count <= RouteURI.maxSegments else {
      throw PatternParameterError.fault(
        RoutePattern.wildcardName, "gives more than \(RouteURI.maxSegments) path segments")
    }
    for (position, (value, name)) in path.enumerated() {
      let isAuthority = position == 0 && shape == .authority
      if isAuthority {
        writer.append(raw: "//")
      } else if position > 0 || shape == .rooted {
        writer.append(raw: "/")
      }
      // A literal and an element of the wildcard may be empty, where that reads back as what it
      // was.
      if value == "", name == "" || name == RoutePattern.wildcardName {
        guard position > 0 || shape == .authority else {
          throw PatternParameterError.fault(
            nil, "a path that begins with an empty segment cannot be written")
        }
      } else {
        try writer.append(value, of: name, as: isAuthority ? .authority : .segment)
      }
    }
    // One slash at the end does not count.
    if path.count > 1, path.last?.value == "" { writer.append(raw: "/") }
  }
}
