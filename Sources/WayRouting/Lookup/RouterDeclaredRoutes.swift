import Synchronization
import WayPatterns
import WayValues

/// The routes that declare results or methods, by name. Built at its first use.
final class RouterDeclaredRoutes: Sendable {
  private let storedRoutes = Mutex<[UTF8Key: Route]?>(nil)

  /// Returns a route with a name if it declares a result or methods.
  func route(named name: String, among routes: [Route]) -> Route? {
    storedRoutes.withLock { known in
      if let known { return known[UTF8Key(name)] }
      let declared = routes.filter { $0.result != nil || !$0.methods.isEmpty }
      let made = Dictionary(
        declared.map { (UTF8Key($0.name), $0) }, uniquingKeysWith: { first, _ in first })
      known = made
      return made[UTF8Key(name)]
    }
  }
}

extension RouterSnapshot {
  /// Returns the declared result of the pages of a route; `nil` if there is none. The first use of a
  /// snapshot is linear in the number of routes.
  package func result(ofPagesOf route: String?) -> ValueSchema? {
    declaringRoute(route)?.result
  }

  /// Returns the declaration of a method of a route's pages; `nil` if there is none. The first use
  /// costs as much as that of ``result(ofPagesOf:)``.
  package func method(_ name: String, ofPagesOf route: String?) -> RoutePageMethod? {
    declaringRoute(route)?.methods.first { $0.name.isSameUTF8(as: name) }
  }

  private func declaringRoute(_ name: String?) -> Route? {
    name.flatMap { declaredRoutes.route(named: $0, among: routes) }
  }
}
