/// A type, an extension, a protocol or an alias, as it stands in the source.
struct TypeDeclaration {
  enum Kind: String {
    case `struct`, `class`, `enum`, actor, `protocol`, `extension`, `typealias`
  }

  /// From where a type can be used; the later sees more.
  enum Access: Int {
    case hidden, `internal`, package, `public`

    init?(modifier: String) {
      switch modifier {
      case "private", "fileprivate": self = .hidden
      case "internal": self = .internal
      case "package": self = .package
      case "public", "open": self = .public
      default: return nil
      }
    }
  }

  /// What `static let name` says, where it does.
  enum Name: Equatable {
    case absent
    case literal(String)
    /// It is computed.
    case unknown
  }

  let kind: Kind
  /// The names of the types around it, and its own; nil inside of a function.
  let path: [String]?
  let place: SourcePlace
  let access: Access
  let isGeneric: Bool
  /// The types behind the colon, or of an alias behind the `=`, each by its names between dots.
  let inherited: [[String]]
  let condition: Condition
  var name = Name.absent

  /// Whether what conforms to a protocol may do so by conforming to this.
  var standsForProtocol: Bool { kind == .protocol || kind == .typealias }

  /// The paths at which one of the inherited types is looked for: in the types around, the innermost first.
  func candidates(for inherited: [String]) -> [[String]] {
    let around = path?.dropLast() ?? []
    return (0...around.count).reversed().map { Array(around.prefix($0)) + inherited }
  }
}
