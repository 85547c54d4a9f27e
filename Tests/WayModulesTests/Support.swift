import Testing
import WayModules

/// What is found in the files of targets, each file named by its number: of App, which depends on Shop and Kit, of Shop,
/// which depends on Kit, and of Kit, of another package.
func scan(
  _ own: String..., sibling: [String] = [], foreign: [String] = []
) throws -> ModuleScan {
  func target(_ target: ScannedTarget, _ files: [String]) throws -> ScannedTarget {
    var target = target
    for (number, file) in files.enumerated() {
      try target.add(file, file: "\(target.name)\(number + 1).swift")
    }
    return target
  }
  return ModuleScan(
    try target(ScannedTarget("App", .own, dependencies: ["Kit", "Shop"]), own),
    [
      try target(ScannedTarget("Kit", .foreign), foreign),
      try target(ScannedTarget("Shop", .sibling, dependencies: ["Kit"]), sibling),
    ])
}

extension ModuleScan {
  /// The lines of the function's body, without indentation.
  var calls: [String] {
    let lines = source.split(separator: "\n").map { $0.drop { $0 == " " } }
    let start = lines.firstIndex { $0.hasPrefix("func ") }.map { $0 + 1 } ?? 0
    return lines[start...].filter { $0 != "}" }.map(String.init)
  }
}

/// A case of a table: its name tells what it is about.
struct ScanCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let source: String
  /// The types that are found, each as `module X` or `service X`, or the lines of errors.
  let found: [String]

  init(_ name: String, _ source: String, _ found: String...) {
    testDescription = name
    self.source = source
    self.found = found
  }
}
