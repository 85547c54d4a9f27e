/// A target of a package, and what its sources declare.
package struct ScannedTarget {
  /// Where a target stands, seen from that which registers.
  package enum Relation: String, Sendable {
    /// It is the one that registers.
    case own
    /// It is another of the same package.
    case sibling
    /// It belongs to another package.
    case foreign

    /// What a type has to be at least for the target that registers to use it.
    var access: TypeDeclaration.Access {
      switch self {
      case .own: .internal
      case .sibling: .package
      case .foreign: .public
      }
    }
  }

  package let name: String
  package let relation: Relation
  /// The targets that this one depends on, also through others.
  let dependencies: [String]
  private(set) var declarations: [TypeDeclaration] = []
  /// What each file imports.
  private(set) var imports: [String: [ModuleImport]] = [:]
  private var types: [[String]: TypeDeclaration] = [:]
  private var names: [[String]: TypeDeclaration.Name] = [:]

  package init(_ name: String, _ relation: Relation, dependencies: [String] = []) {
    self.name = name
    self.relation = relation
    self.dependencies = dependencies
  }

  /// Reads a file. Throws for what nests too deep.
  package mutating func add(_ source: String, file: String) throws(ScanFault) {
    let reader = try DeclarationReader(source, file: file)
    imports[file] = reader.imports
    declarations += reader.declarations
    for declaration in reader.declarations {
      guard let path = declaration.path else { continue }
      if declaration.kind != .extension, types[path] == nil { types[path] = declaration }
      if declaration.name != .absent { names[path] = declaration.name }
    }
  }

  /// The type of a path itself, not its extensions.
  func type(_ path: some Sequence<String>) -> TypeDeclaration? { types[Array(path)] }

  /// The types that a path leads through, as far as they are declared here.
  func types(along path: [String]) -> [TypeDeclaration] {
    path.indices.compactMap { type(path[...$0]) }
  }

  /// Whether another target may name a type.
  func shows(_ path: [String], to other: ScannedTarget) -> Bool {
    // Those of other packages are taken for one package.
    let needed = other.relation == .foreign ? .package : relation.access
    return type(path) != nil
      && types(along: path).allSatisfy { $0.access.rawValue >= needed.rawValue }
  }

  /// What the type of a path says of its name.
  func name(_ path: [String]) -> TypeDeclaration.Name { names[path] ?? .absent }
}
