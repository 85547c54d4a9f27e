import WayPatterns
import WayRouting
import WayValues

extension TableReader {
  /// The schemes of the document.
  mutating func schemes(of document: ValueObject) -> [SchemeDeclaration] {
    let path = JSONPath.root.member("schemes")
    guard let value = document["schemes"], let schemes = object(value, at: path) else { return [] }
    var declared: [SchemeDeclaration] = []
    var seen: Set<String> = []
    for member in schemes.members {
      let (name, value) = (member.name, member.value)
      let path = path.member(name)
      let scheme = name.lowercased()
      if !RouteURI.isScheme(name) {
        addFault(
          path,
          "\"\(name)\" is not a scheme: a letter, then letters, digits, \"+\", \"-\" and \".\"")
      } else if !seen.insert(scheme).inserted {
        addFault(path, "\"\(scheme)\" occurs twice; schemes ignore case")
      }
      guard let rules = object(value, at: path, known: ["closed", "undefined"]) else { continue }
      let isClosed = boolean("closed", of: rules, at: path) ?? false
      declared.append(
        SchemeDeclaration(
          name: scheme, isClosed: isClosed,
          undefinedTarget: pattern("undefined", of: rules, at: path) {
            (text) throws(RoutePatternError) in
            try PatternTarget(undefinedRoute: text)
          }))
    }
    return declared
  }
}
