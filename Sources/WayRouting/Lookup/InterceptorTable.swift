import WayValues

/// The interceptors and gates of a snapshot, combined once into a chain for each route and each group
/// whose chain differs from the default one.
struct InterceptorTable: Sendable {
  /// The chain of routes without a chain of their own, and of URIs without a declared route.
  let defaultChain: InterceptorChain?
  /// All interceptors in order.
  private let sorted: [Interceptor]
  /// All gates in order.
  let gates: [Gate]
  /// The chains by the name of a route that a scope names and that is in no group of `byGroup`.
  private let byRoute: [UTF8Key: InterceptorChain?]
  /// The chains by group, for routes that are in no other of these groups and that no scope names.
  private let byGroup: [UTF8Key: InterceptorChain?]

  init(_ interceptors: [Interceptor], gates: [Gate]) {
    let sorted = interceptors.inOrder
    func chain(_ covers: (Interceptor.InterceptorScope) -> Bool) -> InterceptorChain? {
      InterceptorChain(sorted, gates, where: covers)
    }
    var byRoute: [UTF8Key: InterceptorChain?] = [:]
    var byGroup: [UTF8Key: InterceptorChain?] = [:]
    for scope in interceptors.map(\.scope) + gates.flatMap(\.scopes) {
      switch scope {
      case .all(let names), .routes(let names):
        for name in names where byRoute[UTF8Key(name)] == nil {
          byRoute[UTF8Key(name)] = .some(chain { $0.covers(name, in: []) })
        }
      case .groups(let groups):
        for group in groups.map(UTF8Key.init) where byGroup[group] == nil {
          byGroup[group] = .some(chain { $0.isGlobal || $0.coversAny([group]) })
        }
      }
    }
    defaultChain = chain(\.isGlobal)
    self.sorted = sorted
    self.gates = gates
    self.byRoute = byRoute
    self.byGroup = byGroup
  }

  /// Returns the chain of a route.
  func chain(of route: Route, _ added: AddedGroups) -> InterceptorChain? {
    let own: InterceptorChain?? = byRoute.isEmpty ? nil : byRoute[UTF8Key(route.name)]
    guard !byGroup.isEmpty, !route.groups.isEmpty || !added.isEmpty else {
      return own ?? defaultChain
    }
    var groups: Set<UTF8Key> = []
    for group in added.allGroups(of: route) where byGroup[group] != nil { groups.insert(group) }
    guard let first = groups.first else { return own ?? defaultChain }
    if own == nil, groups.count == 1 { return byGroup[first] ?? defaultChain }
    return InterceptorChain(sorted, gates) { $0.covers(route.name, in: groups) }
  }
}
