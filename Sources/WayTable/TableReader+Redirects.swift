import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The redirects of the document. No two of them may match the same URIs.
  mutating func redirects(of document: ValueObject) -> [Redirect] {
    let path = JSONPath.root.member("redirects")
    guard let value = document["redirects"], let list = array(value, at: path) else { return [] }
    var redirects: [Redirect] = []
    var usedShapes: [PatternShape: JSONPath] = [:]
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let redirect = redirect(value, at: path) else { continue }
      redirects.append(redirect)
      for shape in PatternShape.all(of: redirect.from, priority: 0) {
        guard let other = usedShapes.updateValue(path, forKey: shape) else { continue }
        addFault(
          path.member("from"), "\"\(redirect.from)\" matches the same URIs as \(other); remove one")
        break
      }
    }
    return redirects
  }

  private mutating func redirect(_ value: Value, at path: JSONPath) -> Redirect? {
    guard let object = object(value, at: path, known: ["from", "to", "branches"]) else {
      return nil
    }
    if object["from"] == nil { addFault(path, "the member \"from\" is missing") }
    let from = pattern("from", of: object, at: path) { (text) throws(RoutePatternError) in
      try RoutePattern(text)
    }
    let branches: [Redirect.Branch]?
    switch (object["to"], object["branches"]) {
    case (nil, let value?): branches = self.branches(value, at: path.member("branches"))
    case (_?, nil):
      let to = target("to", of: object, at: path)
      branches = to.map { [.init(to: $0)] }
    case (nil, nil):
      addFault(path, "\"to\" or \"branches\" is missing")
      branches = nil
    case (_?, _?):
      addFault(path, "a redirect has either \"to\" or \"branches\", not both")
      branches = nil
    }
    guard let from, let branches else { return nil }
    do { return try Redirect(from: from, branches: branches) } catch {
      addFault(path.member(object["to"] == nil ? "branches" : "to"), "\(error)")
      return nil
    }
  }

  /// The target in an optional member.
  mutating func target(
    _ name: String, of object: ValueObject, at path: JSONPath
  ) -> PatternTarget? {
    pattern(name, of: object, at: path) { (text) throws(RoutePatternError) in
      try PatternTarget(text)
    }
  }

  /// Parses the string of a member. An error is reported at its path.
  mutating func pattern<Result>(
    _ name: String, of object: ValueObject, at path: JSONPath,
    _ read: (String) throws(RoutePatternError) -> Result
  ) -> Result? {
    guard let text = string(name, of: object, at: path) else { return nil }
    do { return try read(text) } catch {
      addFault(path.member(name), "\(error)")
      return nil
    }
  }
}
