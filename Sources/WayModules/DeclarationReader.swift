/// Finds the types and extensions that a file declares.
struct DeclarationReader {
  /// What braces enclose.
  struct Scope {
    /// Nil inside of a function, a closure or the like.
    var path: [String]?
    /// What a declaration in an extension is that says nothing of its own.
    var memberAccess = TypeDeclaration.Access.internal
    /// Which of ``declarations`` it is, of a type.
    var declaration: Int?
    /// Of parentheses and brackets within.
    var open = 0
  }

  /// A `#if` that has not ended.
  struct OpenCondition {
    let start: SourcePlace
    /// What each branch so far asks for.
    var texts: [String] = []
    var flags: [String] = []
    var branches = 0
    let scopes: [Scope]
  }

  let tokens: [SourceToken]
  var index = 0
  var scopes = [Scope(path: [])]
  var conditions: [OpenCondition] = []
  var condition = Condition()
  var modifier: TypeDeclaration.Access?
  var declarations: [TypeDeclaration] = []
  var imports: [ModuleImport] = []

  /// Reads a whole file. Throws for what nests too deep.
  init(_ source: String, file: String) throws(ScanFault) {
    tokens = try SourceReader.tokens(of: source, file: file)
    try read()
  }

  /// Swift itself takes no more levels. As many branches of one `#if` are enough, each of which says what those before
  /// it say.
  private static let limit = 256

  private mutating func read() throws(ScanFault) {
    while let token = peek() {
      guard scopes.count <= Self.limit, conditions.count <= Self.limit else {
        throw ScanFault(place: token.place, message: "more than \(Self.limit) levels deep")
      }
      guard conditions.last?.branches ?? 0 <= Self.limit else {
        throw ScanFault(
          place: token.place, message: "more than \(Self.limit) branches in one #if")
      }
      switch token.kind {
      case .directive: readDirective()
      case .word: readWord(token)
      case .punctuation: readPunctuation(token)
      case .escapedWord, .string, .literal:
        modifier = nil
        index += 1
      }
    }
  }

  func peek(_ offset: Int = 0) -> SourceToken? {
    tokens.indices.contains(index + offset) ? tokens[index + offset] : nil
  }

  func isPunctuation(_ text: String, _ offset: Int = 0) -> Bool {
    peek(offset)?.isPunctuation(text) == true
  }

  private mutating func readPunctuation(_ token: SourceToken) {
    switch token.text {
    case "@": return skipAttribute()
    case "(", "[": scopes[scopes.count - 1].open += 1
    case ")", "]": scopes[scopes.count - 1].open -= 1
    case "{": scopes.append(Scope())
    case "}": if scopes.count > 1 { scopes.removeLast() }
    default: break
    }
    modifier = nil
    index += 1
  }

  private static let modifiers: Set<String> = [
    "final", "indirect", "distributed", "nonisolated", "static", "override", "required", "dynamic",
    "isolated",
  ]

  static func isModifier(_ word: String) -> Bool {
    modifiers.contains(word) || TypeDeclaration.Access(modifier: word) != nil
  }

  private static let naming: Set<String> = ["case", "let", "var", "func"]

  private mutating func readWord(_ token: SourceToken) {
    // `.struct` is a member, `case open` a case of that name.
    let previous = index > 0 ? tokens[index - 1] : nil
    let isName =
      previous?.isPunctuation(".") == true
      || previous?.kind == .word && Self.naming.contains(previous?.text ?? "")
    if !isName, scopes[scopes.count - 1].open <= 0 {
      if Self.isModifier(token.text) {
        modifier = TypeDeclaration.Access(modifier: token.text) ?? modifier
        index += 1
        // As in `private(set)`.
        if isPunctuation("("), peek()?.isAdjacent == true { skipBalanced() }
        return
      }
      if let kind = TypeDeclaration.Kind(rawValue: token.text), readType(kind) { return }
      switch token.text {
      case "let", "var": readName()
      case "import": return readImport()
      default: break
      }
    }
    modifier = nil
    index += 1
  }

  /// `@name`, with its arguments. What stands behind a space belongs to what follows.
  mutating func skipAttribute() {
    index += 1
    while peek()?.isName == true {
      index += 1
      guard isPunctuation(".") else { break }
      index += 1
    }
    if isPunctuation("<"), peek()?.isAdjacent == true { skipBalanced() }
    if isPunctuation("("), peek()?.isAdjacent == true { skipBalanced() }
  }

  /// From an opening bracket to behind the one that closes it. Within `()`, `[]` and `{}` a `<` may be an operator: it
  /// opens nothing there.
  mutating func skipBalanced() {
    var brackets = 0
    var angles = 0
    while let token = peek() {
      let isArrow = isPunctuation("-", -1) && token.isAdjacent
      switch token.kind == .punctuation ? token.text : "" {
      case "(", "[", "{": brackets += 1
      case ")", "]", "}":
        // It closes what stands around, so the `<` was an operator.
        guard brackets > 0 else { return }
        brackets -= 1
      case "<" where brackets == 0: angles += 1
      case ">" where brackets == 0 && !isArrow: angles -= 1
      default: break
      }
      index += 1
      if brackets == 0, angles == 0 { return }
    }
  }
}
