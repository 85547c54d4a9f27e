import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The redirects of the document, no two of which match the same URIs.
  mutating func redirects(of document: ValueObject) -> [Redirect] {
    let path = JSONPath.root.member("redirects")
    guard let value = document["redirects"], let list = list(value, at: path) else { return [] }
    var redirects: [Redirect] = []
    var taken: [PatternShape: JSONPath] = [:]
    for (index, value) in list.enumerated() {
      let path = path.element(index)
      guard let redirect = redirect(value, at: path) else { continue }
      redirects.append(redirect)
      for shape in PatternShape.all(of: redirect.from, priority: 0) {
        guard let other = taken.updateValue(path, forKey: shape) else { continue }
        fault(
          path.member("from"), "'\(redirect.from)' matches the same URIs as \(other); remove one")
        break
      }
    }
    return redirects
  }

  private mutating func redirect(_ value: Value, at path: JSONPath) -> Redirect? {
    guard let object = object(value, at: path, known: ["from", "to", "branches"]) else {
      return nil
    }
    if object["from"] == nil { fault(path, "the member 'from' is missing") }
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
      fault(path, "the member 'to' is missing; or give 'branches'")
      branches = nil
    case (_?, _?):
      fault(path, "a redirect has either 'to' or 'branches', not both")
      branches = nil
    }
    guard let from, let branches else { return nil }
    do { return try Redirect(from: from, branches: branches) } catch {
      fault(path.member(object["to"] == nil ? "branches" : "to"), "\(error)")
      return nil
    }
  }

  /// Where a member leads, which may be missing.
  mutating func target(
    _ name: String, of object: ValueObject, at path: JSONPath
  ) -> PatternTarget? {
    pattern(name, of: object, at: path) { (text) throws(RoutePatternError) in
      try PatternTarget(text)
    }
  }

  /// What a text stands for, with its own error at its place.
  mutating func pattern<Result>(
    _ name: String, of object: ValueObject, at path: JSONPath,
    _ read: (String) throws(RoutePatternError) -> Result
  ) -> Result? {
    guard let text = text(name, of: object, at: path) else { return nil }
    do { return try read(text) } catch {
      fault(path.member(name), "\(error)")
      return nil
    }
  }
}
