import WayValues

extension RoutePattern {
  /// Returns the URI that this pattern matches with these parameters. Parameters that it does not
  /// capture are in the query: an array as one key several times, null not at all. An optional
  /// group is present if all its parameters are.
  ///
  /// - Parameter scheme: for a global pattern, which needs it; ignored otherwise.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for a parameter that is missing or that a URI cannot
  /// hold. Throws ``PatternParameterError/uri(_:)`` for a global pattern without a scheme and for more
  /// than ``RouteURI/maxLength``.
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
    for member in params.members where !form.hasCapture(member.name) {
      try writer.append(parameter: member.name, member.value)
    }
    return try writer.uri()
  }

  /// Returns the form that uses most of the parameters and for which none is missing; the shortest
  /// one if some are missing for every form.
  private func form(for params: ValueObject) -> PatternForm {
    var best: PatternForm?
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
      ?? PatternForm(shape: .rootless, segments: [], captures: [])
  }
}

extension RoutePattern.PatternForm {
  fileprivate var captureCount: Int { captures.count + (wildcardIndex == nil ? 0 : 1) }

  fileprivate func isComplete(with params: ValueObject) -> Bool {
    captures.allSatisfy { params[$0.name].map { !$0.isNull } == true }
      && (wildcardIndex == nil || params[RoutePattern.wildcardName]?.array != nil)
  }

  /// Whether the path captures a parameter of this name.
  func hasCapture(_ name: String) -> Bool {
    captures.contains { $0.name.isSameUTF8(as: name) }
      || wildcardIndex != nil && name.isSameUTF8(as: RoutePattern.wildcardName)
  }

  fileprivate func write(
    _ params: ValueObject, to writer: inout URIWriter
  ) throws(PatternParameterError) {
    var path: [PathPiece] = []
    var capture = 0
    for segment in segments {
      switch segment {
      case .literal(let literal): path.append(.literal(literal))
      case .parameter:
        let name = captures[capture].name
        capture += 1
        path.append(.value(params[name] ?? .null, name))
      case .wildcard:
        guard let rest = params[RoutePattern.wildcardName]?.array else {
          throw PatternParameterError.fault(
            RoutePattern.wildcardName, "is missing; it has to be an array")
        }
        path += rest.map { .value($0, RoutePattern.wildcardName) }
      }
    }
    guard path.count <= RouteURI.maxSegments else {
      throw PatternParameterError.fault(
        RoutePattern.wildcardName, "gives more than \(RouteURI.maxSegments) path segments")
    }
    guard !path.isEmpty || shape != .authority else {
      throw PatternParameterError.fault(
        RoutePattern.wildcardName, "must not be empty; its first element is the URI's authority")
    }
    for (position, piece) in path.enumerated() {
      let isAuthority = position == 0 && shape == .authority
      if isAuthority {
        writer.append(raw: "//")
      } else if position > 0 || shape == .rooted {
        writer.append(raw: "/")
      }
      // A literal and an element of the wildcard may be empty if the URI parses to the same values.
      if piece.isEmpty {
        guard position > 0 || shape == .authority else {
          throw PatternParameterError.fault(
            nil, "a path that begins with an empty segment cannot be written")
        }
      } else {
        try piece.write(as: isAuthority ? .authority : .segment, to: &writer)
      }
    }
    // A trailing slash is ignored.
    if path.count > 1, path.last?.isEmpty == true { writer.append(raw: "/") }
  }
}

/// A piece of the path of a URI that a pattern matches.
private enum PathPiece {
  /// The decoded bytes of a literal, which need not be UTF-8.
  case literal([UInt8])
  /// A parameter or an element of the wildcard, with its name.
  case value(Value, String)

  /// Whether nothing is written for it; a parameter is never empty.
  var isEmpty: Bool {
    switch self {
    case .literal(let literal): literal.isEmpty
    case .value(let value, let name): value == "" && name == RoutePattern.wildcardName
    }
  }

  func write(
    as part: URIWriter.URIComponent, to writer: inout URIWriter
  ) throws(PatternParameterError) {
    switch self {
    case .literal(let literal): writer.append(literal, as: part)
    case .value(let value, let name): try writer.append(value, of: name, as: part)
    }
  }
}
