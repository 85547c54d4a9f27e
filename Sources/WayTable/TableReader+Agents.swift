import WayNavigation
import WayRouting
import WayValues

extension TableReader {
  /// What agents may expect of a route; `nil` if it is no tool for them.
  mutating func agents(
    of route: ValueObject, at path: JSONPath, _ kind: RouteKind?, hasResult: Bool
  ) -> RouteAgents? {
    let path = path.member("agents")
    guard let value = route["agents"],
      let object = object(value, at: path, known: ["readOnly", "destructive", "idempotent"])
    else { return nil }
    if kind == .page, !hasResult {
      addFault(path, "a page is a tool for agents only if the route declares a \"result\"")
    }
    let isReadOnly = boolean("readOnly", of: object, at: path) ?? false
    let isDestructive = boolean("destructive", of: object, at: path)
    if isReadOnly, isDestructive == true {
      addFault(
        path.member("destructive"), "a route that is \"readOnly\" cannot be \"destructive\"")
    }
    return RouteAgents(
      isReadOnly: isReadOnly, isDestructive: isDestructive,
      isIdempotent: boolean("idempotent", of: object, at: path))
  }
}
