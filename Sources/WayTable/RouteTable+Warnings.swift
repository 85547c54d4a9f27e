import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// Reports redirects that form a loop or a chain that is too long, for every caller.
  mutating func checkRedirectLoops(_ declarations: RouterDeclarations) {
    let router = Router()
    var declared = RouterDeclarations()
    declared.redirects = declarations.redirects
    declared.schemes = declarations.schemes
    // Conflicting redirects are reported already.
    guard (try? router.declare(declared)) != nil else { return }
    let snapshot = router.snapshot()
    for (index, redirect) in declarations.redirects.enumerated() {
      for uri in redirect.from.sampleURIs {
        do throws(RouterResolutionError) {
          _ = try snapshot.resolve(uri, checking: false)
        } catch {
          guard case .redirectLoop(let chain) = error else { continue }
          addFault(
            JSONPath.root.member("redirects").element(index),
            "redirects too often: \(chain.joined(separator: " → ")); redirect to the final URI")
          break
        }
      }
    }
  }
}

extension RouteTable {
  /// Checks the routes against the dispatchers of their schemes. It knows the default dispatchers
  /// only, not those of an app. Throws if a route does not fit its scheme.
  package func checkDispatchers() throws(DocumentFaults) {
    let router = Router()
    var faults: [DocumentFault] = []
    for (index, route) in declarations.routes.enumerated() {
      do { try router.register(route) } catch {
        let path = JSONPath.root.member("routes").element(index)
        faults.append(DocumentFault(path: path.description, message: "\(error)"))
      }
    }
    guard faults.isEmpty else { throw DocumentFaults(faults: faults) }
  }

  /// Possible mistakes: unreachable routes, routes without generated code, and undefined targets of
  /// schemes that are not closed.
  package var warnings: [DocumentFault] {
    let router = Router()
    do { try apply(to: router) } catch { return [] }
    let snapshot = router.snapshot()
    var warnings: [DocumentFault] = []
    for (index, route) in declarations.routes.enumerated() {
      let path = JSONPath.root.member("routes").element(index)
      if let reason = Self.unreachableReason(route, in: snapshot) {
        warnings.append(DocumentFault(path: path.description, message: reason))
      }
      if route.patterns.allSatisfy({ $0.scheme == nil }) {
        warnings.append(
          DocumentFault(
            path: path.description,
            message:
              "the route \"\(route.name)\" has no pattern with a scheme, so that no constant can be"
              + " generated for it; add one that has"))
      }
    }
    // Every member of the document's schemes has its declaration, in the same order.
    let names = document["schemes"]?.object?.members.map(\.name) ?? []
    for (name, scheme) in zip(names, declarations.schemes)
    where scheme.undefinedTarget != nil && !scheme.isClosed {
      warnings.append(
        DocumentFault(
          path: JSONPath.root.member("schemes").member(name).member("undefined").description,
          message:
            "is not reached while a client hosts the whole scheme \"\(scheme.name)\", unless the"
            + " client declines; add \"closed\": true, and such a client gets declared routes only")
      )
    }
    return warnings
  }

  /// The reason why a route is unreachable; `nil` if it is reachable.
  private static func unreachableReason(_ route: Route, in snapshot: RouterSnapshot) -> String? {
    // A route with a rollout is not compared: which clients reach it depends on the rollout.
    // The samples need not fit the types of a route's parameters.
    guard route.rollout == nil, !route.matchesByType else { return nil }
    var reason: String?
    for uri in route.patterns.flatMap(\.sampleURIs) {
      let found = try? snapshot.resolve(uri, checking: false)
      if found?.route === route { return nil }
      if let other = found?.route, !other.matchesByType {
        reason =
          "the route \"\(route.name)\" is never reached: \"\(other.name)\" always matches before it"
      }
      if let found, found.uri.text != uri.text, !found.uri.text.isEmpty {
        reason =
          "the route \"\(route.name)\" is never reached: a redirect leads to \"\(found.uri.text.brief)\" instead"
      }
    }
    return reason
  }
}
