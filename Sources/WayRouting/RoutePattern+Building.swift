import WayValues

extension RoutePattern {
  /// The URI that this pattern matches with these parameters. Those that it does not capture stand in the query, a
  /// list as one key several times, null not at all. Of optional groups those are there for which all parameters are.
  ///
  /// - Parameter scheme: for a global pattern, which needs it; not looked at otherwise.
  ///
  /// Throws ``RoutingError/invalidParameters(_:)`` for what is missing or cannot stand in a URI, and
  /// ``RoutingError/invalidURI(_:)`` for a global pattern without a scheme and for more than ``RouteURI/maxLength``.
  public func uri(
    _ params: ValueObject = [:], scheme: String? = nil
  ) throws(RoutingError) -> RouteURI {
    guard let scheme = self.scheme ?? scheme else {
      throw .invalidURI(RouteURIError(.noScheme, at: 0))
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

  /// The form that takes the most of the parameters and misses none; the shortest where all miss some.
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
  ) throws(RoutingError) {
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
          throw RouteURI.fault(RoutePattern.wildcardName, "is missing; it has to be an array")
        }
        path += rest.map { ($0, RoutePattern.wildcardName) }
      }
    }
    guard path.count <= RouteURI.maxSegments else {
      throw RouteURI.fault(
        RoutePattern.wildcardName, "gives more than \(RouteURI.maxSegments) path segments")
    }
    for (position, (value, name)) in path.enumerated() {
      let isAuthority = position == 0 && shape == .authority
      if isAuthority {
        writer.append(raw: "//")
      } else if position > 0 || shape == .rooted {
        writer.append(raw: "/")
      }
      // A literal and an element of the wildcard may be empty, where that reads back as what it was.
      if value == "", name == "" || name == RoutePattern.wildcardName {
        guard position > 0 || shape == .authority else {
          throw RouteURI.fault(nil, "a path that begins with an empty segment cannot be written")
        }
      } else {
        try writer.append(value, of: name, as: isAuthority ? .authority : .segment)
      }
    }
    // One slash at the end does not count.
    if path.count > 1, path.last?.value == "" { writer.append(raw: "/") }
  }
}

extension Route {
  /// A URI that leads here with these parameters, by the first of the ``patterns`` that can be written with them.
  ///
  /// Throws as ``RoutePattern/uri(_:scheme:)`` does for the first pattern when none can.
  public func uri(
    _ params: ValueObject = [:], scheme: String? = nil
  ) throws(RoutingError) -> RouteURI {
    var first: RoutingError?
    for pattern in patterns {
      do { return try pattern.uri(params, scheme: scheme) } catch { first = first ?? error }
    }
    throw first ?? .noRoute(uri: name, kind: .noRoute)
  }
}

extension Route {
  /// What the patterns take from a URI that one of them matches.
  func pathParams(of uri: RouteURI) throws(RoutingError) -> ValueObject {
    let trie = RouteTrie(patterns.map { .init($0, ()) })
    guard let split = try? SplitURI(uri), let match = trie.first(split) else { return [:] }
    return try match.parameters(in: split)
  }
}

extension Match {
  /// A URI that holds the whole call: where it leads, and all ``params``, those that the path does not hold in the
  /// query.
  ///
  /// Throws ``RoutingError/invalidParameters(_:)`` for parameters that have no place in a URI, such as objects.
  public func completeURI() throws(RoutingError) -> RouteURI {
    try uri.complete(with: params, pathParams: pathParams, route: route)
  }
}

extension RouteURI {
  /// This with another query, which holds the parameters. Where one of those of the path has been given another value,
  /// the path is written anew by the patterns of the route.
  package func complete(
    with params: ValueObject, pathParams: ValueObject, route: Route?
  ) throws(RoutingError) -> RouteURI {
    var writer = URIWriter()
    let isPathKept = pathParams.members.allSatisfy { member in
      params[member.name].map { $0 == member.value || $0.isText(member.value.string) } == true
    }
    if isPathKept || route == nil {
      writer.append(raw: slice(0, Int(parts.pathEnd)))
      for member in params.members where pathParams[member.name] == nil {
        try writer.append(parameter: member.name, member.value)
      }
    } else if let route {
      writer.append(raw: try route.uri(params, scheme: scheme).text)
    }
    if let fragment { writer.append(raw: "#\(fragment)") }
    return try writer.uri()
  }
}

extension Value {
  /// Whether the text of a path has become this by the route's declaration.
  fileprivate func isText(_ text: String?) -> Bool {
    switch self {
    case .integer(let value): text == "\(value)"
    case .number(let number): text == number.digits
    case .bool(let value): text == "\(value)"
    default: false
    }
  }
}
