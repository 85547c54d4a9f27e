// Types, and what they say of themselves.
extension DeclarationReader {
  /// Reads a declaration up to its opening brace, or what of it there is; false, with nothing read, where the word here
  /// begins none.
  mutating func readType(_ kind: TypeDeclaration.Kind) -> Bool {
    let start = index
    index += 1
    if kind == .typealias { return readAlias(from: start) }
    guard let header = readHeader(kind) else {
      index = start
      return false
    }
    // Not read again, or many such would take for ever.
    guard isPunctuation("{") else { return true }
    let place = tokens[start].place
    let outer = scopes[scopes.count - 1]
    let path = outer.path.map { $0 + header.names }
    declarations.append(
      TypeDeclaration(
        kind: kind, path: path, place: place, access: modifier ?? outer.memberAccess,
        isGeneric: header.isGeneric, inherited: header.inherited, condition: condition))
    var scope = Scope(path: path, declaration: declarations.count - 1)
    if kind == .extension, let modifier { scope.memberAccess = modifier }
    scopes.append(scope)
    modifier = nil
    index += 1
    return true
  }

  /// `typealias Name = …`: a protocol may have another name by it.
  private mutating func readAlias(from start: Int) -> Bool {
    defer { modifier = nil }
    guard let name = peek(), name.isName else {
      index = start
      return false
    }
    index += 1
    if isPunctuation("<") { skipBalanced() }
    guard isPunctuation("=") else { return true }
    index += 1
    let outer = scopes[scopes.count - 1]
    declarations.append(
      TypeDeclaration(
        kind: .typealias, path: outer.path.map { $0 + [name.text] }, place: tokens[start].place,
        access: modifier ?? outer.memberAccess, isGeneric: false,
        inherited: readInherited(isAlias: true), condition: condition))
    return true
  }

  private mutating func readHeader(
    _ kind: TypeDeclaration.Kind
  ) -> (names: [String], isGeneric: Bool, inherited: [[String]])? {
    guard let word = peek() else { return nil }
    if word.kind == .word, Self.nameless.contains(word.text) { return nil }
    // A variable may be called so, too.
    if kind == .actor, word.startsLine { return nil }
    guard let names = readNames(kind == .extension),
      ["<", ":", "{"].contains(where: { isPunctuation($0) }) || peek()?.isWord("where") == true
    else { return nil }
    var isGeneric = false
    if isPunctuation("<") {
      isGeneric = true
      skipBalanced()
    }
    var inherited: [[String]] = []
    if isPunctuation(":") {
      index += 1
      inherited = readInherited()
    }
    if peek()?.isWord("where") == true {
      isGeneric = isGeneric || kind == .extension
      while let token = peek(), !token.isPunctuation("{"), !token.isPunctuation("}") { index += 1 }
    }
    return (names, isGeneric, inherited)
  }

  /// Behind `class` these begin a member of the type; the last stands behind a variable called `actor`.
  private static let nameless: Set<String> = ["func", "var", "let", "subscript", "else"]

  private mutating func readNames(_ isDotted: Bool) -> [String]? {
    var names: [String] = []
    while let token = peek(), token.isName {
      names.append(token.text)
      index += 1
      // `Kit::A` names a type of a module.
      let isSelected = isPunctuation(":") && isPunctuation(":", 1) && peek(1)?.isAdjacent == true
      guard isDotted, isSelected || isPunctuation(".") else { return names }
      index += isSelected ? 2 : 1
    }
    return nil
  }

  /// The types behind a colon, or behind the `=` of an alias, without their attributes and generic arguments.
  private mutating func readInherited(isAlias: Bool = false) -> [[String]] {
    var inherited: [[String]] = []
    var names: [String] = []
    var isSuppressed = false
    while let token = peek(), !token.isPunctuation("{"), !token.isWord("where") {
      if isAlias, token.isPunctuation(";") || token.isPunctuation("}") { break }
      let goesOn = ["&", "=", "."].contains { token.isPunctuation($0) || isPunctuation($0, -1) }
      if isAlias, token.startsLine, !goesOn { break }
      switch token.kind {
      case .punctuation where token.text == "@":
        skipAttribute()
        continue
      case .punctuation where token.text == "<":
        skipBalanced()
        continue
      case .punctuation where token.text == "~": isSuppressed = true
      case .punctuation where token.text == "," || token.text == "&":
        if !names.isEmpty, !isSuppressed { inherited.append(names) }
        names = []
        isSuppressed = false
      case .word where token.text == "nonisolated": break
      case .word, .escapedWord: names.append(token.text)
      default: break
      }
      index += 1
    }
    if !names.isEmpty, !isSuppressed { inherited.append(names) }
    return inherited
  }

  /// `import Kit`, or of something in it, `import struct Kit.A`.
  mutating func readImport() {
    let isPlain = modifier == nil
    modifier = nil
    index += 1
    // The kind of what is imported.
    if peek(1)?.isName == true, peek(1)?.startsLine == false { index += 1 }
    guard let names = readNames(true), let module = names.first else { return }
    imports.append(ModuleImport(module: module, isPlain: isPlain, condition: condition.text))
  }

  /// Whether one of the modifiers before here is `static` or `class`.
  private var isOfType: Bool {
    tokens[..<index].reversed()
      .prefix { $0.isWord("class") || $0.kind == .word && Self.isModifier($0.text) }
      .contains { $0.isWord("static") || $0.isWord("class") }
  }

  /// `static let name = "…"`, or a variable that returns a literal, of the type around it.
  mutating func readName() {
    guard isOfType, peek(1)?.isWord("name") == true,
      let declaration = scopes[scopes.count - 1].declaration
    else { return }
    var offset = 2
    if isPunctuation(":", offset), peek(offset + 1)?.isWord("String") == true { offset += 2 }
    guard isPunctuation("=", offset) || isPunctuation("{", offset) else {
      declarations[declaration].name = .unknown
      return
    }
    let isStored = isPunctuation("=", offset)
    if !isStored, peek(offset + 1)?.isWord("return") == true { offset += 1 }
    let ends =
      isPunctuation("}", offset + 2)
      || isStored
        && (isPunctuation(";", offset + 2) || peek(offset + 2)?.startsLine != false)
    if let literal = peek(offset + 1), literal.kind == .string, ends {
      declarations[declaration].name = .literal(literal.text)
    } else {
      declarations[declaration].name = .unknown
    }
  }
}
