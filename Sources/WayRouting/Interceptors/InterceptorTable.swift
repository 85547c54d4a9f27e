import WayValues

/// The interceptors of a snapshot, folded once into a chain for each route and each group that does
/// not have that of all.
struct InterceptorTable: Sendable {
  /// For every route that has none of its own, and for what is undeclared.
  let common: InterceptorChain?
  /// All in their order.
  private let sorted: [Interceptor]
  /// By the name of a route that some interceptor names, where it is in no group of `byGroup`.
  private let byRoute: [UTF8Key: InterceptorChain?]
  /// By the group, for routes that are in no other of these and that no interceptor names.
  private let byGroup: [UTF8Key: InterceptorChain?]

  /// Nil where there are no interceptors.
  init?(_ interceptors: [Interceptor]) {
    guard !interceptors.isEmpty else { return nil }
    let sorted = interceptors.enumerated().sorted { left, right in
      left.element.priority != right.element.priority
        ? left.element.priority > right.element.priority : left.offset < right.offset
    }.map(\.element)
    var byRoute: [UTF8Key: InterceptorChain?] = [:]
    var byGroup: [UTF8Key: InterceptorChain?] = [:]
    for interceptor in interceptors {
      switch interceptor.scope {
      case .all(let names), .routes(let names):
        for name in names where byRoute[UTF8Key(name)] == nil {
          byRoute[UTF8Key(name)] = .some(
            InterceptorChain(sorted.filter { $0.sees(name, in: []) }))
        }
      case .groups(let groups):
        for group in groups.map(UTF8Key.init) where byGroup[group] == nil {
          byGroup[group] = .some(
            InterceptorChain(sorted.filter { $0.isGlobal || $0.isFor([group]) }))
        }
      }
    }
    common = InterceptorChain(sorted.filter(\.isGlobal))
    self.sorted = sorted
    self.byRoute = byRoute
    self.byGroup = byGroup
  }

  /// The chain of a route.
  func chain(of route: Route, _ added: AddedGroups) -> InterceptorChain? {
    let own: InterceptorChain?? = byRoute.isEmpty ? nil : byRoute[UTF8Key(route.name)]
    guard !byGroup.isEmpty, !route.groups.isEmpty || !added.isEmpty else { return own ?? common }
    var groups: Set<UTF8Key> = []
    for group in route.groups.map(UTF8Key.init) + added.groups(of: route.name)
    where byGroup[group] != nil {
      groups.insert(group)
    }
    guard let first = groups.first else { return own ?? common }
    if own == nil, groups.count == 1 { return byGroup[first] ?? common }
    return InterceptorChain(sorted.filter { $0.sees(route.name, in: groups) })
  }
}
