import WayNavigation

extension RouterSnapshot {
  /// Whether routes of a kind belong under a scheme. Under a scheme without a dispatcher any kind
  /// does.
  package func takes(_ kind: RouteKind, inScheme scheme: String) -> Bool {
    dispatchers[scheme.lowercased()]?.takes(kind) ?? true
  }
}
