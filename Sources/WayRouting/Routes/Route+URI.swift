import WayPatterns
import WayValues

extension Route {
  /// A URI that leads here with these parameters, by the first of the ``patterns`` that can be
  /// written with them.
  ///
  /// Throws as ``RoutePattern/uri(_:scheme:)`` does for the first pattern when none can.
  public func uri(
    _ params: ValueObject = [:], scheme: String? = nil
  ) throws(PatternParameterError) -> RouteURI {
    var first: PatternParameterError?
    for pattern in patterns {
      do { return try pattern.uri(params, scheme: scheme) } catch { first = first ?? error }
    }
    throw first ?? .fault(nil, "the route '\(name.brief)' has no pattern")
  }
}

extension Route {
  /// What the patterns take from a URI that one of them matches.
  func pathParams(of uri: RouteURI) throws(PatternParameterError) -> ValueObject {
    let trie = RouteTrie(patterns.map { ($0, 0) })
    guard let split = try? SplitURI(uri), let best = trie.best(split) else { return [:] }
    return try trie.captures(of: best, in: split)
  }
}

extension RouteMatch {
  /// A URI that holds the whole call: where it leads, and all ``params``, those that the path does
  /// not hold in the query.
  ///
  /// Throws ``ParameterError/parameters(_:)`` for parameters that have no place in a URI, such as
  /// objects.
  public func completeURI() throws(PatternParameterError) -> RouteURI {
    try uri.complete(with: params, pathParams: pathParams, route: route)
  }
}

extension RouteURI {
  /// This with another query, which holds the parameters. Where one of those of the path has been
  /// given another value, the path is written anew by the patterns of the route.
  package func complete(
    with params: ValueObject, pathParams: ValueObject, route: Route?
  ) throws(PatternParameterError) -> RouteURI {
    let isPathKept = pathParams.members.allSatisfy { member in
      params[member.name].map { $0 == member.value || $0.isText(member.value.string) } == true
    }
    if let route, !isPathKept {
      return try route.uri(params, scheme: scheme).adding(fragment: fragment)
    }
    return try replacingQuery(
      with: ValueObject(
        params.members.filter { pathParams[$0.name] == nil }.map { ($0.name, $0.value) }))
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
