import WayPatterns
import WayRouting
import WayValues

// What the document says of links from outside.
extension TableReader {
  private static let maxParents = 16

  /// The pages under the page of a route, lowest first.
  mutating func parents(of route: ValueObject, at path: JSONPath) -> [PatternTarget] {
    let path = path.member("parents")
    guard let value = route["parents"], let list = list(value, at: path) else { return [] }
    guard list.count <= Self.maxParents else {
      fault(path, "a page has at most \(Self.maxParents) parents; these are \(list.count)")
      return []
    }
    var parents: [PatternTarget] = []
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let text = text(value, at: path) else { continue }
      do { parents.append(try PatternTarget(text)) } catch { fault(path, "\(error)") }
    }
    return parents
  }

  /// What the actions of an older server mean; one with null leads to its own URL, like those that
  /// are not here.
  mutating func actions(of document: ValueObject) -> [String: PatternTarget] {
    let path = JSONPath.root.member("actions")
    guard let value = document["actions"], let object = object(value, at: path) else { return [:] }
    var actions: [String: PatternTarget] = [:]
    for member in object.members {
      let (name, value) = (member.name, member.value)
      let path = path.member(name)
      guard !value.isNull, let text = text(value, at: path) else { continue }
      do {
        actions[name] = try PatternTarget(action: text)
      } catch {
        fault(path, "\(error)")
      }
    }
    return actions
  }
}
