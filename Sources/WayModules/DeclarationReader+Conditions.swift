// `#if` and what belongs to it.
extension DeclarationReader {
  mutating func readDirective() {
    guard let directive = peek() else { return }
    index += 1
    modifier = nil
    switch directive.text {
    case "if":
      conditions.append(OpenCondition(start: directive.place, scopes: scopes))
      enter(readCondition())
    case "elseif", "else":
      let text = directive.text == "else" ? nil : readCondition()
      guard let open = conditions.last else { return }
      // Each branch is whole, whatever stands in the others.
      scopes = open.scopes
      condition.branches.removeLast()
      enter(text)
    default:
      guard conditions.popLast() != nil else { return }
      condition.branches.removeLast()
    }
  }

  /// Begins a branch of the innermost condition: it holds where those before it do not and, unless it is the last,
  /// `text` does.
  private mutating func enter(_ text: (text: String, flags: [String])?) {
    let last = conditions.count - 1
    let before = conditions[last].texts.map { "!(\($0))" }
    if let text {
      conditions[last].texts.append(text.text)
      conditions[last].flags += text.flags
    }
    let own = text.map { before.isEmpty ? [$0.text] : ["(\($0.text))"] } ?? []
    conditions[last].branches += 1
    condition.branches.append(
      Condition.Branch(
        start: conditions[last].start, number: conditions[last].branches,
        text: (before + own).joined(separator: " && "), flags: conditions[last].flags))
  }

  /// Reads the rest of the line, and more lines where an operator says that they belong to it.
  private mutating func readCondition() -> (text: String, flags: [String]) {
    var text = ""
    var flags: [String] = []
    /// Of each parenthesis, whether it holds the arguments of `os`, `canImport` or the like.
    var open: [Bool] = []
    while let token = peek(), token.kind != .directive {
      let goesOn = !open.isEmpty || ["&", "|", "!"].contains(text.last) || isOperator
      if token.startsLine, !text.isEmpty, !goesOn { break }
      if !text.isEmpty, !token.isAdjacent { text += " " }
      text += token.kind == .string ? "\"\(token.text)\"" : token.text
      index += 1
      if token.isPunctuation("(") { open.append(index >= 2 && tokens[index - 2].isName) }
      if token.isPunctuation(")") { _ = open.popLast() }
      if token.isName, !isPunctuation("("), !open.contains(true) { flags.append(token.text) }
    }
    return (text, flags)
  }

  private var isOperator: Bool {
    (isPunctuation("&") && isPunctuation("&", 1)) || (isPunctuation("|") && isPunctuation("|", 1))
  }
}
