/// The source of `Router.registerModules()`, the same for the same files in whatever order.
struct ModuleRegistrationSource {
  /// The target that registers.
  let own: SourceTarget
  /// Those that it depends on, which come before it.
  let dependencies: [SourceTarget]

  var text: String {
    var imports: Set = ["Waybridge"]
    var calls: [String] = []
    for (kind, name) in [("service", "RouteService"), ("module", "RouteModule")] {
      for target in dependencies + [own] {
        let types = types(conformingTo: name, of: target)
        if target.module != own.module, !types.isEmpty { imports.insert(target.module) }
        for type in types {
          calls += [
            "    // \(type.file):\(type.line)",
            "    // If this does not compile: \(remedy(type, target)) and register it yourself.",
            "    try register(\(kind): \(reference(type, target)).self)",
          ]
        }
      }
    }
    // The compiler wants either all imports of a module in a target to say who sees them, or none.
    let lines = imports.sorted().map {
      own.importsWithAccess.contains($0) ? "internal import \($0)" : "import \($0)"
    }
    return """
      // Written by the plugin WaybridgeModules: what \(own.module) and what it depends on declare.
      \(lines.joined(separator: "\n"))

      extension Waybridge.Router {
        /// Registers the modules and services that the build has found. Throws what
        /// ``register(service:)`` and ``register(module:)`` throw.
        func registerModules() throws(Waybridge.RouterError) {
      \(calls.joined(separator: "\n"))
        }
      }

      """
  }

  private func types(conformingTo name: String, of target: SourceTarget) -> [TypeDeclaration] {
    let byHand = target.types.filter { $0.conforms(to: "RegisteredByHand") }.map(\.name)
    let byOwnHand = own.types.filter { $0.conforms(to: "RegisteredByHand") }.map(\.name)
    let publicNames = target.types.filter(\.isPublic).map(\.name)
    return target.types.filter {
      $0.conforms(to: name) && !byHand.contains($0.name)
        && !byOwnHand.contains("\(target.module).\($0.name)")
        // What another package keeps to itself, nobody here could make visible.
        && (!target.isForeign || publicNames.contains($0.name))
    }.sorted { ($0.name, $0.file, $0.line) < ($1.name, $1.file, $1.line) }
  }

  /// The type as the target that registers writes it: with its module only where another target has
  /// the name too, since a type that is called as the module hides that.
  private func reference(_ type: TypeDeclaration, _ target: SourceTarget) -> String {
    let first = type.name.prefix { $0 != "." }
    let isTaken = (dependencies + [own]).contains { other in
      other.module != target.module && other.types.contains { $0.name == first }
    }
    let isQualified = isTaken && target.module != own.module
    return isQualified ? "\(target.module).\(type.name)" : type.name
  }

  private func remedy(_ type: TypeDeclaration, _ target: SourceTarget) -> String {
    target.isForeign
      ? "write `extension \(target.module).\(type.name): @retroactive RegisteredByHand {}`"
      : "let all of \(own.module) see the type, or have it conform to RegisteredByHand,"
  }
}
