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
      guard let text = string(value, at: path), let uri = completeURI(text, at: path) else {
        continue
      }
      if tabs.contains(uri) { addFault(path, "\"\(text)\" occurs twice; remove one") }
      tabs.append(uri)
    }
    return tabs
  }

  /// Returns the URI of a page or task, which needs a scheme.
  mutating func completeURI(_ text: String, at path: JSONPath) -> RouteURI? {
    do {
      let uri = try RouteURI(mapping: text)
      if uri.scheme == nil {
        addFault(path, "\"\(text)\" has no scheme; write the complete URI")
        return nil
      }
      return uri
    } catch {
      addFault(path, "no URI: \(error)")
      return nil
    }
  }
}
