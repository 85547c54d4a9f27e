import WayNavigation

extension RouterSnapshot {
  /// Whether a scheme can have routes of a kind. A scheme without a dispatcher can have any kind.
  package func accepts(_ kind: RouteKind, inScheme scheme: String) -> Bool {
    dispatchers[scheme.lowercased()]?.accepts(kind) ?? true
  }
}
