import WayPatterns
import WayValues

extension Route {
  /// Returns a URI of the route with these parameters, by the first of the ``patterns`` that can be
  /// written with them.
  ///
  /// Throws the error of ``RoutePattern/uri(_:scheme:)`` for the first pattern if none can.
  public func uri(
    _ params: ValueObject = [:], scheme: String? = nil
  ) throws(PatternParameterError) -> RouteURI {
    var first: PatternParameterError?
    for pattern in patterns {
      do { return try pattern.uri(params, scheme: scheme) } catch { first = first ?? error }
    }
    throw first ?? .fault(nil, "the route \"\(name.brief)\" has no pattern")
  }
}

extension Route {
  /// Returns the values that the patterns capture from a URI that one of them matches.
  func pathParams(of uri: RouteURI) throws(PatternParameterError) -> ValueObject {
    let trie = RouteTrie(patterns.map { ($0, 0) })
    guard let split = try? SplitURI(uri), let best = trie.best(split) else { return [:] }
    return try trie.captures(of: best, in: split)
  }
}

extension RouteMatch {
  /// Returns a URI that holds the whole call: its target and all ``params``. The query holds those
  /// that the path does not.
  ///
  /// Throws ``PatternParameterError/parameters(_:)`` for parameters that a URI cannot hold, such as
  /// objects.
  public func completeURI() throws(PatternParameterError) -> RouteURI {
    try uri.completed(with: params, pathParams: pathParams, route: route)
  }
}

extension RouteURI {
  /// Returns the URI with a query that holds the parameters. If a parameter of the path has another
  /// value, the path is rebuilt from the patterns of the route.
  package func completed(
    with params: ValueObject, pathParams: ValueObject, route: Route?
  ) throws(PatternParameterError) -> RouteURI {
    let isPathUnchanged = pathParams.members.allSatisfy { member in
      params[member.name].map { $0 == member.value || $0.isText(member.value.string) } == true
    }
    if let route, !isPathUnchanged {
      return try route.uri(params, scheme: scheme).adding(fragment: fragment)
    }
    return try replacingQuery(
      with: ValueObject(
        params.members.filter { pathParams[$0.name] == nil }.map { ($0.name, $0.value) }))
  }
}

extension Value {
  /// Whether the route's declaration converts the text of a path to this value.
  fileprivate func isText(_ text: String?) -> Bool {
    switch self {
    case .integer(let value): text == "\(value)"
    case .number(let number): text == number.digits
    case .bool(let value): text == "\(value)"
    default: false
    }
  }
}
