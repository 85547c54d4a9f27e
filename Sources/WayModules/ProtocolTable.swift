/// What the names of protocols mean. A target sees its own types and those of the targets that it depends on, of other
/// packages only what is public; its own come first.
struct ProtocolTable {
  /// A type, where it is declared.
  struct Key: Hashable {
    let target: String
    let path: [String]
  }

  private let targets: [String: ScannedTarget]
  /// The protocols and aliases that name one.
  private var refinements: [Key: [Key]] = [:]

  init(_ targets: [ScannedTarget]) {
    self.targets = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
    for target in targets {
      for declaration in target.declarations where declaration.standsForProtocol {
        guard let path = declaration.path else { continue }
        for meaning in meanings(of: declaration, in: target) {
          refinements[meaning, default: []].append(Key(target: target.name, path: path))
        }
      }
    }
  }

  /// A protocol of the library.
  static func library(_ name: String) -> Key { Key(target: "Waybridge", path: [name]) }

  /// A protocol of the library, and all that refine it.
  func refining(_ name: String) -> Set<Key> {
    var found: Set<Key> = []
    var waiting = [Self.library(name)]
    while let next = waiting.popLast() {
      if found.insert(next).inserted { waiting += refinements[next] ?? [] }
    }
    return found
  }

  /// What a declaration names behind its colon; more than one for a name that several targets declare.
  func meanings(of declaration: TypeDeclaration, in target: ScannedTarget) -> Set<Key> {
    Set(declaration.inherited.flatMap { meanings(of: $0, declaration, target) })
  }

  private func meanings(
    of name: [String], _ declaration: TypeDeclaration, _ target: ScannedTarget
  ) -> [Key] {
    let unqualified = Array(name.dropFirst())
    let own =
      declaration.candidates(for: name) + (name[0] == target.name ? [unqualified] : [])
    if let path = own.first(where: { target.type($0) != nil }) {
      return [Key(target: target.name, path: path)]
    }
    let others = target.dependencies.compactMap { targets[$0] }.flatMap { other in
      [name, name[0] == other.name ? unqualified : []].filter { other.shows($0, to: target) }
        .map { Key(target: other.name, path: $0) }
    }
    let isQualified = ["Waybridge", "WayRouting"].contains(name[0])
    return others + [Key(target: "Waybridge", path: isQualified ? unqualified : name)]
  }
}
