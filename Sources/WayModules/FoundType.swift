/// A type that is to be registered.
struct FoundType {
  enum Kind: String, CaseIterable {
    case module, service

    /// The protocol by which a type is known to be one.
    var protocolName: String {
      switch self {
      case .module: "RouteModule"
      case .service: "RouteService"
      }
    }
  }

  let kind: Kind
  let target: ScannedTarget
  /// Counts the targets in the order in which they register.
  let position: Int
  let declaration: TypeDeclaration
  let path: [String]
  /// What it is called by, or nil where that is computed or may come from a protocol that refines the library's.
  let name: String?

  var typeName: String { path.joined(separator: ".") }

  init(
    _ kind: Kind, _ target: ScannedTarget, at position: Int, _ declaration: TypeDeclaration,
    _ path: [String], isDirect: Bool
  ) {
    self.kind = kind
    self.target = target
    self.position = position
    self.declaration = declaration
    // An extension may name the module.
    let isQualified = path.count > 1 && path[0] == target.name && target.type(path[...0]) == nil
    self.path = isQualified ? Array(path.dropFirst()) : path
    switch target.name(self.path) {
    case .absent: name = isDirect ? self.path.last?.filter { $0 != "`" } : nil
    case .literal(let literal): name = literal
    case .unknown: name = nil
    }
  }

  /// Why the type cannot be registered.
  var fault: ScanFault? {
    func fault(_ message: String) -> ScanFault {
      ScanFault(place: declaration.place, message: "\(kind.rawValue) '\(typeName)' \(message)")
    }
    let types = target.types(along: path)
    if declaration.isGeneric || types.contains(where: \.isGeneric) {
      return fault(
        "is generic, and nobody says with which arguments it should be registered: have it conform to"
          + " RegisteredByHand, and register it by Router.register(\(kind.rawValue):)")
    }
    let needed = target.relation.access
    if let hidden = types.first(where: { $0.access.rawValue < needed.rawValue }) {
      let name = (hidden.path ?? path).joined(separator: ".")
      return fault(
        "cannot be registered: '\(name)' is \(hidden.access.text); make it \(needed.text),"
          + (target.relation == .own ? "" : " since another target registers it,")
          + " or have '\(typeName)' conform to RegisteredByHand")
    }
    let flags = declaration.condition.branches.flatMap(\.flags).filter { !Self.known.contains($0) }
    if target.relation != .own, let flag = flags.first {
      return fault(
        "depends on the compilation flag \(flag), which only the target '\(target.name)' is known to"
          + " have: put the #if into the type")
    }
    return nil
  }

  /// Flags that every target of a build has alike.
  private static let known: Set<String> = ["DEBUG", "SWIFT_PACKAGE", "true", "false"]
}

extension TypeDeclaration.Access {
  fileprivate var text: String {
    switch self {
    case .hidden: "private"
    case .internal: "internal"
    case .package: "package"
    case .public: "public"
    }
  }
}
