import WayNavigation
import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The first page of each tab: distinct URIs with a scheme.
  mutating func tabs(of document: ValueObject) -> [RouteURI] {
    let path = JSONPath.root.member("tabs")
    guard let value = document["tabs"], let list = array(value, at: path) else { return [] }
    guard list.count <= NavigationStack.maxTabs else {
      addFault(path, "has \(list.count) tabs; an app may have at most \(NavigationStack.maxTabs)")
      return []
    }
    var tabs: [RouteURI] = []
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let text = string(value, at: path) else { continue }
      do {
        let uri = try RouteURI(mapping: text)
        if uri.scheme == nil {
          addFault(
            path, "\"\(text)\" has no scheme; write the complete URI of the first page")
        } else if tabs.contains(uri) {
          addFault(path, "\"\(text)\" occurs twice; remove one")
        }
        tabs.append(uri)
      } catch {
        addFault(path, "no URI: \(error)")
      }
    }
    return tabs
  }
}
