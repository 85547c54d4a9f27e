import WayNavigation
import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The first page of each tab: URIs with a scheme, each another.
  mutating func tabs(of document: ValueObject) -> [RouteURI] {
    let path = JSONPath.root.member("tabs")
    guard let value = document["tabs"], let list = list(value, at: path) else { return [] }
    guard list.count <= NavigationStack.maxTabs else {
      fault(path, "an app has at most \(NavigationStack.maxTabs) tabs; these are \(list.count)")
      return []
    }
    var tabs: [RouteURI] = []
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let text = text(value, at: path) else { continue }
      do {
        let uri = try RouteURI(mapping: text)
        if uri.scheme == nil {
          fault(path, "'\(text)' has no scheme; a tab is named by the whole URI of its first page")
        } else if tabs.contains(uri) {
          fault(path, "'\(text)' comes twice")
        }
        tabs.append(uri)
      } catch {
        fault(path, "no URI: \(error)")
      }
    }
    return tabs
  }
}
