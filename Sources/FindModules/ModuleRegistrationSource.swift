/// The source of `Router.registerModules()`, the same for the same files in any order.
struct ModuleRegistrationSource {
  /// The target that registers.
  let ownTarget: SourceTarget
  /// The targets that it depends on, which are registered first.
  let dependencies: [SourceTarget]

  var text: String {
    var imports: Set = ["Waybridge"]
    var calls: [String] = []
    for (kind, name) in [("service", "RouteService"), ("module", "RouteModule")] {
      for target in dependencies + [ownTarget] {
        let types = types(conformingTo: name, of: target)
        if target.module != ownTarget.module, !types.isEmpty { imports.insert(target.module) }
        for type in types {
          calls += [
            "    // \(type.file):\(type.line)",
            "    // If this does not compile: \(remedy(type, target)) and register it yourself.",
            "    try register(\(kind): \(reference(type, target)).self)",
          ]
        }
      }
    }
    // Swift requires an access level on all imports of a module in a target, or on none.
    let lines = imports.sorted().map {
      ownTarget.importsWithAccess.contains($0) ? "internal import \($0)" : "import \($0)"
    }
    return """
      // Written by the plugin WaybridgeModules: what \(ownTarget.module) and what it depends on declare.
      \(lines.joined(separator: "\n"))

      extension Waybridge.Router {
        /// Registers the modules and services that the build has found. Throws what
        /// ``register(service:)`` and ``register(module:)`` throw.
        func registerModules() throws(Waybridge.RouterConfigurationError) {
      \(calls.joined(separator: "\n"))
        }
      }

      """
  }

  private func types(conformingTo name: String, of target: SourceTarget) -> [TypeDeclaration] {
    let manualNames = target.types.filter { $0.conforms(to: "ManualRegistration") }.map(\.name)
    let ownManualNames = ownTarget.types.filter { $0.conforms(to: "ManualRegistration") }.map(
      \.name)
    let publicNames = target.types.filter(\.isPublic).map(\.name)
    return target.types.filter {
      $0.conforms(to: name) && !manualNames.contains($0.name)
        && !ownManualNames.contains("\(target.module).\($0.name)")
        // A type that another package does not make public cannot be made visible here.
        && (!target.isForeign || publicNames.contains($0.name))
    }.sorted { ($0.name, $0.file, $0.line) < ($1.name, $1.file, $1.line) }
  }

  /// Returns the type as the registering target writes it. Its module is only named if another
  /// target has the same name, since a type with the name of its module would hide that.
  private func reference(_ type: TypeDeclaration, _ target: SourceTarget) -> String {
    let first = type.name.prefix { $0 != "." }
    let isAmbiguous = (dependencies + [ownTarget]).contains { other in
      other.module != target.module && other.types.contains { $0.name == first }
    }
    let isQualified = isAmbiguous && target.module != ownTarget.module
    return isQualified ? "\(target.module).\(type.name)" : type.name
  }

  private func remedy(_ type: TypeDeclaration, _ target: SourceTarget) -> String {
    target.isForeign
      ? "write `extension \(target.module).\(type.name): @retroactive ManualRegistration {}`"
      : "let all of \(ownTarget.module) see the type, or have it conform to ManualRegistration,"
  }
}
