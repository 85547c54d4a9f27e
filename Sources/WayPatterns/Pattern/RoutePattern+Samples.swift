import WayValues

extension RoutePattern {
  /// URIs that match, with values that no literal has. A pattern that matches them matches all URIs
  /// of this one. There are samples with and without its optional groups; a global pattern gets
  /// some scheme.
  package var sampleURIs: [RouteURI] {
    let scheme = self.scheme == nil ? "sample" : nil
    let all = ValueObject(parameterNames.map { ($0, $0 == "*" ? ["~", "~"] : "~") })
    return [all, [:]].compactMap { try? uri($0, scheme: scheme) }
  }
}
