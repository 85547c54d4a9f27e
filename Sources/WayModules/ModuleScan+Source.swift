extension ModuleScan {
  /// The source of `Router.registerModules()`. The same sources give the same text.
  package var source: String {
    let calls = types.flatMap { found in
      Self.under(
        found.declaration.condition.text,
        "try register(\(found.kind.rawValue): \(reference(found)).self)"
      ).map { "    \($0)" }
    }
    return """
      // Written by the plugin WaybridgeModules from the sources of \(own.name) and of what it depends on.
      \(imports.joined(separator: "\n"))

      extension Waybridge.Router {
        /// Registers the modules and services that the build has found: \(types.count).
        ///
        /// Throws ``RouterError/started`` when the router has been started.
        func registerModules() throws(RouterError) {
      \(calls.joined(separator: "\n"))
        }
      }

      """
  }

  /// A line as it stands in a `#if`.
  private static func under(_ condition: String?, _ line: String) -> [String] {
    condition.map { ["#if \($0)", line, "#endif"] } ?? [line]
  }

  /// The type as the target that registers writes it: with its target where another has a type of the name, and without
  /// elsewhere, since a type may hide its target's name.
  private func reference(_ found: FoundType) -> String {
    let isTaken = (others + [own]).contains {
      $0.name != found.target.name && $0.type(found.path[...0]) != nil
    }
    return found.target.relation == .own || found.isDeclaredElsewhere || !isTaken
      ? found.typeName : "\(found.target.name).\(found.typeName)"
  }

  private var imports: [String] {
    var conditions: [String: Set<String?>] = ["Waybridge": [nil]]
    for found in types {
      if found.target.relation != .own { conditions[found.target.name, default: []].insert(nil) }
      guard found.isDeclaredElsewhere else { continue }
      for each in found.target.imports[found.declaration.place.file] ?? [] {
        conditions[each.module, default: []].insert(each.condition)
      }
    }
    return conditions.sorted { $0.key < $1.key }.flatMap { module, conditions in
      let line = "\(importing(module)) \(module)"
      return conditions.contains(nil)
        ? [line] : conditions.compactMap(\.self).sorted().flatMap { Self.under($0, line) }
    }
  }

  /// The compiler wants one target's imports of a module to be all with, or all without a word on who sees them.
  private func importing(_ module: String) -> String {
    let own = own.imports.values.joined().filter { $0.module == module }
    return own.isEmpty || own.contains(where: \.isPlain) ? "import" : "internal import"
  }
}

extension FoundType {
  /// Whether this is an extension of what another target declares.
  fileprivate var isDeclaredElsewhere: Bool { target.type(path[...0]) == nil }
}
