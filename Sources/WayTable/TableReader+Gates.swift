import WayNavigation
import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The gates of the document, in its order. `routes` are the names of its routes.
  mutating func gates(of document: ValueObject, routes: [String]) -> [Gate] {
    let path = JSONPath.root.member("gates")
    guard let value = document["gates"], let gates = object(value, at: path) else { return [] }
    let known = DeclaredNames(routes)
    return gates.members.compactMap { member in
      gate(member.name, member.value, at: path.member(member.name), routes: known)
    }
  }

  private mutating func gate(
    _ name: String, _ value: Value, at path: JSONPath, routes known: DeclaredNames
  ) -> Gate? {
    let members = ["title", "purpose", "opens", "params", "style", "passes", "routes", "groups"]
    guard let object = object(value, at: path, known: members) else { return nil }
    if name.isEmpty { addFault(path, "a gate needs a name") }
    for member in ["title", "purpose"] { _ = string(member, of: object, at: path) }
    let routes = names("routes", of: object, at: path, known: known)
    let groups = names("groups", of: object, at: path, known: self.groups)
    if routes.isEmpty, groups.isEmpty {
      addFault(path, "needs the routes or the groups to which the gate leads")
    }
    let params =
      object["params"].flatMap { self.object($0, at: path.member("params")) } ?? ValueObject()
    let style = optionalChoice("style", of: object, at: path, as: Style.self)
    let passes = schema("passes", of: object, at: path)
    guard let text = requiredString("opens", of: object, at: path),
      let target = completeURI(text, at: path.member("opens"))
    else { return nil }
    return Gate(
      name, on: [.routes(Set(routes)), .groups(Set(groups))], opens: target, params: params,
      style: style, passes: passes)
  }
}
