/// A target of a package, and the declarations at the top level of its sources.
struct SourceTarget {
  let module: String
  /// Whether it belongs to another package than the target that registers.
  let isForeign: Bool
  private(set) var types: [TypeDeclaration] = []
  private(set) var warnings: [String] = []
  /// The modules that are imported with an access level.
  private(set) var importsWithAccess: Set<String> = []

  private static let modifiers: Set = [
    "public", "open", "package", "internal", "private", "fileprivate", "final", "indirect",
    "distributed", "nonisolated",
  ]
  private static let keywords: Set = ["struct", "class", "enum", "actor", "extension"]

  init(_ module: String, isForeign: Bool = false) {
    (self.module, self.isForeign) = (module, isForeign)
  }

  mutating func add(_ source: String, file: String) {
    let reader = SwiftDeclarationReader(source)
    if let line = reader.unclosedLine {
      let warning = "this bracket is not closed; types after it are not found"
      warnings.append("\(file):\(line): warning: \(warning)")
    }
    var rest = reader.tokens[...]
    var modifiers: Set<String> = []
    while let (word, line) = rest.popFirst() {
      switch word {
      case "@": rest = rest.dropFirst()
      case _ where Self.modifiers.contains(word): modifiers.insert(word)
      case _ where Self.keywords.contains(word):
        let header = rest.prefix { $0.text != "{" && !Self.keywords.contains($0.text) }
        let isPublic = !modifiers.isDisjoint(with: ["public", "open"])
        let type = TypeDeclaration(header.map(\.text), file: file, line: line, isPublic: isPublic)
        if let type { types.append(type) }
      case "import":
        // `import struct Kit.A` declares nothing.
        rest = rest.drop { Self.keywords.contains($0.text) }
        if !modifiers.isEmpty, let module = rest.first { importsWithAccess.insert(module.text) }
      default: modifiers = []
      }
    }
  }
}
