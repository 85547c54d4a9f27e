import Testing

@testable import FindModules

/// A target whose files are named by their number, as `App1.swift`.
func target(_ module: String, _ sources: [String], isForeign: Bool = false) -> SourceTarget {
  var target = SourceTarget(module, isForeign: isForeign)
  for (number, source) in sources.enumerated() {
    target.add(source, file: "\(module)\(number + 1).swift")
  }
  return target
}

/// The source that is generated for App, which depends on Kit (another package) and Shop (the same
/// package).
func registration(
  _ own: String..., sibling: [String] = [], foreign: [String] = []
) -> ModuleRegistrationSource {
  ModuleRegistrationSource(
    ownTarget: target("App", own),
    dependencies: [target("Kit", foreign, isForeign: true), target("Shop", sibling)])
}

extension ModuleRegistrationSource {
  var lines: [String] {
    text.split(separator: "\n").map { String($0.drop { $0 == " " }) }
  }

  /// The registered types, each as `module X` or `service X`.
  var registrations: [String] {
    let start = "try register("
    return lines.filter { $0.hasPrefix(start) }
      .map { String($0.dropFirst(start.count)) }
      .map { $0.replacing(": ", with: " ").replacing(".self)", with: "") }
  }
}

/// A test case; its name describes it.
struct DeclarationRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let source: String
  let expected: [String]

  init(_ name: String, _ source: String, _ found: String...) {
    (testDescription, self.source, self.expected) = (name, source, found)
  }
}
