import WayValues

extension RoutePattern {
  /// URIs that match, with values that no literal has: what else matches them matches all that this
  /// does. With and without its optional groups; a pattern for any scheme is given one.
  package var samples: [RouteURI] {
    let scheme = self.scheme == nil ? "sample" : nil
    let all = ValueObject(parameterNames.map { ($0, $0 == "*" ? ["~", "~"] : "~") })
    return [all, [:]].compactMap { try? uri($0, scheme: scheme) }
  }
}
