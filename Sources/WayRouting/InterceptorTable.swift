import WayValues

/// The interceptors of a snapshot, folded once into a chain for each route that does not have that
/// of all.
struct InterceptorTable: Sendable {
  /// For every route that has none of its own, and for what is undeclared.
  let common: InterceptorChain?
  /// By the route's name, where it differs.
  private let own: [UTF8Key: InterceptorChain?]

  /// Nil where there are no interceptors.
  init?(_ interceptors: [Interceptor], _ routes: [Route], _ groups: GroupTable) {
    guard !interceptors.isEmpty else { return nil }
    let sorted = interceptors.enumerated().sorted { left, right in
      left.element.priority != right.element.priority
        ? left.element.priority > right.element.priority : left.offset < right.offset
    }.map(\.element)
    common = InterceptorChain(sorted.filter(\.isGlobal))
    var own: [UTF8Key: InterceptorChain?] = [:]
    for name in Self.named(by: interceptors, routes, groups) {
      let groups = groups.groups(of: name)
      own[name] = .some(InterceptorChain(sorted.filter { $0.sees(name.text, in: groups) }))
    }
    self.own = own
  }

  /// The routes that some interceptor names, itself or by a group.
  private static func named(
    by interceptors: [Interceptor], _ routes: [Route], _ groups: GroupTable
  ) -> Set<UTF8Key> {
    var names: Set<UTF8Key> = []
    for interceptor in interceptors {
      switch interceptor.scope {
      case .all(let except): names.formUnion(except.map(UTF8Key.init))
      case .routes(let routes): names.formUnion(routes.map(UTF8Key.init))
      case .groups(let listed):
        for group in listed { names.formUnion(groups.members(of: group).map(UTF8Key.init)) }
      }
    }
    return names
  }

  /// The chain of a route.
  func chain(of route: Route) -> InterceptorChain? {
    own.isEmpty ? common : own[UTF8Key(route.name)] ?? common
  }
}
