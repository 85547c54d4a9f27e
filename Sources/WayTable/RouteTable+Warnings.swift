import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// Notes redirects that lead in a circle, or further than a call is led, for everybody.
  mutating func checkLoops(_ declarations: RouterDeclarations) {
    let router = Router()
    var declared = RouterDeclarations()
    declared.redirects = declarations.redirects
    declared.schemes = declarations.schemes
    // Redirects that clash are told already.
    guard (try? router.declare(declared)) != nil else { return }
    let snapshot = router.snapshot()
    for (index, redirect) in declarations.redirects.enumerated() {
      for uri in redirect.from.samples {
        do throws(ResolutionError) {
          _ = try snapshot.resolve(uri, checking: false)
        } catch {
          guard case .redirectLoop(let chain) = error else { continue }
          fault(
            JSONPath.root.member("redirects").element(index),
            "leads on too often: \(chain.joined(separator: " → ")); redirect to where it ends")
          break
        }
      }
    }
  }
}

extension RouteTable {
  /// Checks what the dispatchers of the schemes take: those that a router has from the start, since
  /// an app's own are not known here. Throws where a route does not fit its scheme.
  package func checkFits() throws(DocumentFaults) {
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

  /// What may be meant, and mostly is not: routes that nothing leads to, and those that no code can
  /// be generated for.
  package var warnings: [DocumentFault] {
    let router = Router()
    do { try apply(to: router) } catch { return [] }
    let snapshot = router.snapshot()
    var warnings: [DocumentFault] = []
    for (index, route) in declarations.routes.enumerated() {
      let path = JSONPath.root.member("routes").element(index)
      if let reason = Self.hidden(route, in: snapshot) {
        warnings.append(DocumentFault(path: path.description, message: reason))
      }
      if route.patterns.allSatisfy({ $0.scheme == nil }) {
        warnings.append(
          DocumentFault(
            path: path.description,
            message:
              "the route '\(route.name)' has no pattern with a scheme, so that no constant can be"
              + " generated for it; add one that has"))
      }
    }
    return warnings
  }

  /// Why nothing leads to a route; nil where something does.
  private static func hidden(_ route: Route, in snapshot: RouterSnapshot) -> String? {
    // Whom it is for decides: it is no matter of all.
    guard route.release == nil else { return nil }
    var reason: String?
    for uri in route.patterns.flatMap(\.samples) {
      let found = try? snapshot.resolve(uri, checking: false)
      if found?.route === route { return nil }
      if let other = found?.route {
        reason =
          "nothing leads to the route '\(route.name)': '\(other.name)' is always found before it"
      }
      if let found, found.uri.text != uri.text, !found.uri.text.isEmpty {
        reason =
          "nothing leads to the route '\(route.name)': a redirect leads to '\(found.uri.text.brief)' instead"
      }
    }
    return reason
  }
}
