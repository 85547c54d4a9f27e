import WayValues

extension TapeCursor {
  /// The first member whose name came before in its object; nil where there is none.
  func repeatedMember(at place: Int, _ path: JSONPath) -> JSONPath? {
    var at = place + 1
    switch kind(at: place) {
    case .object:
      var seen: Set<UTF8Key> = []
      while at < end(of: place) {
        let name = string(at: at)
        let path = path.member(name)
        if !seen.insert(UTF8Key(name)).inserted { return path }
        if let found = repeatedMember(at: at + 1, path) { return found }
        at = next(after: at + 1)
      }
    case .list:
      var index = 0
      while at < end(of: place) {
        if let found = repeatedMember(at: at, path.element(index)) { return found }
        at = next(after: at)
        index += 1
      }
    default: break
    }
    return nil
  }
}
