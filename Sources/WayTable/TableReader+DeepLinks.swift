import WayPatterns
import WayRouting
import WayValues

// Deep links of a document.
extension TableReader {
  private static let maxParents = 16

  /// The pages beneath the page of a route, lowest first.
  mutating func parents(of route: ValueObject, at path: JSONPath) -> [PatternTarget] {
    let path = path.member("parents")
    guard let value = route["parents"], let list = array(value, at: path) else { return [] }
    guard list.count <= Self.maxParents else {
      addFault(path, "has \(list.count) parents; a page may have at most \(Self.maxParents)")
      return []
    }
    var parents: [PatternTarget] = []
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let text = string(value, at: path) else { continue }
      do { parents.append(try PatternTarget(text)) } catch { addFault(path, "\(error)") }
    }
    return parents
  }

  /// The actions of an older server. One with null opens its own URL, like one that is not listed.
  mutating func actions(of document: ValueObject) -> [String: PatternTarget] {
    let path = JSONPath.root.member("actions")
    guard let value = document["actions"], let object = object(value, at: path) else { return [:] }
    var actions: [String: PatternTarget] = [:]
    for member in object.members {
      let (name, value) = (member.name, member.value)
      let path = path.member(name)
      guard !value.isNull, let text = string(value, at: path) else { continue }
      do {
        actions[name] = try PatternTarget(action: text)
      } catch {
        addFault(path, "\(error)")
      }
    }
    return actions
  }
}
