/// The modules and services of some targets.
package struct ModuleScan {
  /// The target that registers.
  let own: ScannedTarget
  /// Those that it depends on.
  let others: [ScannedTarget]
  /// In the order in which they are registered.
  let types: [FoundType]
  /// What hinders, in the order of the files. What another package declares never does: nobody here could mend it.
  package let faults: [ScanFault]

  /// - Parameter others: the targets that `own` depends on, each behind what it depends on itself.
  package init(_ own: ScannedTarget, _ others: [ScannedTarget] = []) {
    self.own = own
    self.others = others
    let protocols = ProtocolTable(others + [own])
    let byHand = protocols.refining("RegisteredByHand")
    let kinds = FoundType.Kind.allCases.map { ($0, protocols.refining($0.protocolName)) }
    var types: [FoundType] = []
    var faults: [ScanFault] = []
    for (position, target) in (others + [own]).enumerated() {
      let conforming = target.declarations.filter { !$0.standsForProtocol }
        .map { (declaration: $0, to: protocols.meanings(of: $0, in: target)) }
      let leftOut = Set(
        conforming.filter { !byHand.isDisjoint(with: $0.to) }.map(\.declaration.path))
      for (declaration, meanings) in conforming where byHand.isDisjoint(with: meanings) {
        for (kind, names) in kinds where !names.isDisjoint(with: meanings) {
          guard let path = declaration.path else {
            if target.relation != .foreign { faults.append(Self.local(kind, declaration)) }
            continue
          }
          guard !leftOut.contains(path) else { continue }
          let isDirect = meanings.contains(ProtocolTable.library(kind.protocolName))
          types.append(
            FoundType(kind, target, at: position, declaration, path, isDirect: isDirect))
        }
      }
    }
    types = Self.once(types).filter { $0.target.relation != .foreign || $0.fault == nil }
      .sorted { $0 < $1 }
    faults += types.compactMap(\.fault) + Self.duplicates(types)
    self.types = types
    self.faults = faults.sorted { $0 < $1 }
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
        + " outside: move it out, or have it conform to RegisteredByHand")
  }

  /// Services of one name, whose methods would have one URI, each told with the place of the other.
  private static func duplicates(_ types: [FoundType]) -> [ScanFault] {
    let services = types.enumerated().filter { $0.element.kind == .service }
    let groups = Dictionary(grouping: services) { $0.element.name }
    return groups.flatMap { name, group -> [ScanFault] in
      guard let name else { return [] }
      return group.compactMap { position, found in
        let other = group.first {
          $0.offset != position
            && $0.element.declaration.condition.isKnownToMeet(found.declaration.condition)
        }
        guard let other = other?.element, found.target.relation != .foreign else { return nil }
        let place = other.declaration.place
        return ScanFault(
          place: found.declaration.place,
          message: "two services are named '\(name)', this one and that at"
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
