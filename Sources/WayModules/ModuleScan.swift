/// The modules and services of some targets.
package struct ModuleScan {
  /// The target that registers.
  let own: ScannedTarget?
  /// In the order in which they are registered.
  let types: [FoundType]
  /// What hinders, in the order of the files.
  package let faults: [ScanFault]

  /// - Parameter targets: that which registers, then those that it depends on, each behind what it depends on itself.
  package init(_ targets: [ScannedTarget]) {
    own = targets.first
    let refinements = Self.refinements(in: targets)
    var types: [FoundType] = []
    var faults: [ScanFault] = []
    for kind in FoundType.Kind.allCases {
      let names = Self.protocols(kind.protocolName, refinements)
      for (position, target) in (targets.dropFirst() + targets.prefix(1)).enumerated() {
        for declaration in target.declarations where !declaration.standsForProtocol {
          guard
            declaration.inherited.contains(where: {
              declaration.meanings(of: $0).contains(where: names.contains)
            })
          else { continue }
          guard let path = declaration.path else {
            faults.append(Self.local(kind, declaration))
            continue
          }
          types.append(FoundType(kind, target, at: position, declaration, path))
        }
      }
    }
    types = Self.once(types).sorted { $0 < $1 }
    faults += types.compactMap(\.fault) + Self.duplicates(types)
    self.types = types
    self.faults = faults.sorted { $0 < $1 }
  }

  /// The protocols that refine one, by the names that theirs may mean.
  private static func refinements(in targets: [ScannedTarget]) -> [[String]: [[String]]] {
    var refinements: [[String]: [[String]]] = [:]
    for target in targets {
      for declaration in target.declarations where declaration.standsForProtocol {
        guard let path = declaration.path else { continue }
        for name in declaration.inherited.flatMap(declaration.meanings) {
          refinements[name, default: []] += [path, [target.name] + path]
        }
      }
    }
    return refinements
  }

  /// The ways to write a protocol's name, and those of the protocols that refine it.
  private static func protocols(
    _ name: String, _ refinements: [[String]: [[String]]]
  ) -> Set<[String]> {
    var names: Set<[String]> = []
    var waiting = [[name], ["Waybridge", name], ["WayRouting", name]]
    while let next = waiting.popLast() {
      if names.insert(next).inserted { waiting += refinements[next] ?? [] }
    }
    return names
  }

  /// Without what conforms a second time, to a protocol that refines the first.
  private static func once(_ types: [FoundType]) -> [FoundType] {
    var kept: [[String]: [FoundType]] = [:]
    let fewestConditionsFirst = types.enumerated().sorted { left, right in
      (left.element.declaration.condition.branches.count, left.offset)
        < (right.element.declaration.condition.branches.count, right.offset)
    }
    for (_, found) in fewestConditionsFirst {
      let key = [found.kind.rawValue, found.target.name] + found.path
      let isKnown = kept[key, default: []].contains {
        $0.declaration.condition.isKnownToMeet(found.declaration.condition)
      }
      if !isKnown { kept[key, default: []].append(found) }
    }
    return kept.values.flatMap(\.self)
  }

  private static func local(
    _ kind: FoundType.Kind, _ declaration: TypeDeclaration
  ) -> ScanFault {
    ScanFault(
      place: declaration.place,
      message: "a \(kind.rawValue) that is declared inside of a function cannot be registered from"
        + " outside: move it out")
  }

  /// Two of one name, each told with the place of the other.
  private static func duplicates(_ types: [FoundType]) -> [ScanFault] {
    let named = types.enumerated().filter { $0.element.name != nil }
    let groups = Dictionary(grouping: named) { [$0.element.kind.rawValue, $0.element.name ?? ""] }
    return groups.values.flatMap { group in
      group.compactMap { position, found in
        let other = group.first {
          $0.offset != position
            && $0.element.declaration.condition.isKnownToMeet(found.declaration.condition)
        }
        guard let other = other?.element, let name = found.name else { return nil }
        let place = other.declaration.place
        return ScanFault(
          place: found.declaration.place,
          message: "two \(found.kind.rawValue)s are named '\(name)', this one and that at"
            + " \(place.file):\(place.line): give one of them a name of its own (static let name)")
      }
    }
  }
}

extension FoundType {
  /// Services, then modules; what is depended on before what depends on it.
  fileprivate static func < (left: FoundType, right: FoundType) -> Bool {
    left.order < right.order
  }

  private var order: (Int, Int, String, String, Int, Int) {
    (
      kind == .service ? 0 : 1, position, typeName, declaration.place.file, declaration.place.line,
      declaration.place.column
    )
  }
}
