import WayValues

extension Value {
  /// Returns the path of the first array or object that lies deeper than `levels` levels, which the
  /// server could not read; nil if there is none. `name` is that of this value in its message. A long
  /// path is shortened.
  func path(deeperThan levels: Int, in name: String) -> String? {
    guard let reversedSteps = steps(deeperThan: levels) else { return nil }
    var path = JSONPath.root
    for step in reversedSteps.reversed() where path.description.utf8.count < 1000 {
      path =
        switch step {
        case .member(let name): path.member(name)
        case .element(let index): path.element(index)
        }
    }
    return "\(name)\(path.description.dropFirst())".brief
  }

  /// Returns the steps from this value to the first array or object that lies too deep, the last
  /// step first; nil if there is none.
  private func steps(deeperThan levels: Int) -> [ValuePathStep]? {
    switch self {
    case .null, .bool, .integer, .number, .string: return nil
    case .array(let values):
      guard levels > 0 else { return [] }
      for (index, value) in values.enumerated() {
        if let steps = value.steps(deeperThan: levels - 1) { return steps + [.element(index)] }
      }
    case .object(let object):
      guard levels > 0 else { return [] }
      for member in object.members {
        if let steps = member.value.steps(deeperThan: levels - 1) {
          return steps + [.member(member.name)]
        }
      }
    }
    return nil
  }
}

/// A step from a value to one of its members or elements.
private enum ValuePathStep {
  case member(String)
  case element(Int)
}
