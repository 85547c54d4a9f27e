import Foundation

/// A step of a path in a JSON document, such as `$.routes[3].kind`.
enum CommandJSONPathStep: Equatable {
  case member(String)
  case element(Int)

  /// Parses a path that begins with `$`; nil if it has another form.
  static func steps(of path: String) -> [CommandJSONPathStep]? {
    var steps: [CommandJSONPathStep] = []
    var rest = path.dropFirst()
    while let first = rest.first {
      rest = rest.dropFirst()
      if first == "." {
        let name = rest.prefix { $0 != "." && $0 != "[" }
        steps.append(.member(String(name)))
        rest = rest.dropFirst(name.count)
      } else if first == "[", rest.first == "'", let end = rest.range(of: "']") {
        steps.append(.member(String(rest[..<end.lowerBound].dropFirst())))
        rest = rest[end.upperBound...]
      } else if first == "[", let end = rest.firstIndex(of: "]"), let index = Int(rest[..<end]) {
        steps.append(.element(index))
        rest = rest[rest.index(after: end)...]
      } else {
        return nil
      }
    }
    return steps
  }
}
