import WayValues

extension JSONTapeCursor {
  /// Returns the first member whose name occurs earlier in its object; `nil` if there is none.
  func firstDuplicateMember(at index: Int, _ path: JSONPath) -> JSONPath? {
    var at = index + 1
    switch kind(at: index) {
    case .object:
      var seen: Set<UTF8Key> = []
      while at < end(of: index) {
        let name = string(at: at)
        let path = path.member(name)
        if !seen.insert(UTF8Key(name)).inserted { return path }
        if let found = firstDuplicateMember(at: at + 1, path) { return found }
        at = next(after: at + 1)
      }
    case .array:
      var element = 0
      while at < end(of: index) {
        if let found = firstDuplicateMember(at: at, path.element(element)) { return found }
        at = next(after: at)
        element += 1
      }
    default: break
    }
    return nil
  }
}
