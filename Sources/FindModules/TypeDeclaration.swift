/// A type, or an extension of one, at the top level of a file.
struct TypeDeclaration {
  /// The name as in the source; that of an extension may have dots.
  let name: String
  let file: String
  let line: Int
  let isPublic: Bool
  /// The words of each type after the colon, without generic arguments.
  private let inherited: [ArraySlice<String>]

  /// Reads the text between a keyword and the opening brace; `nil` if it declares no type, since a
  /// variable may be called `actor`.
  init?(_ header: [String], file: String, line: Int, isPublic: Bool) {
    var words: [String] = []
    var angles = 0
    for word in header.prefix(while: { $0 != "where" }) {
      if word == "<" { angles += 1 }
      if angles == 0 { words.append(word) }
      if word == ">" { angles -= 1 }
    }
    let names = words.prefix { $0 != ":" }
    let alternates = names.indices.allSatisfy { (names[$0] == ".") == ($0 % 2 == 1) }
    guard alternates, names.count % 2 == 1 else { return nil }
    name = names.joined()
    (self.file, self.line, self.isPublic) = (file, line, isPublic)
    inherited = words.dropFirst(names.count + 1).split { $0 == "," || $0 == "&" }
  }

  /// Whether it names a protocol of the library. Attributes may precede the name.
  func conforms(to name: String) -> Bool {
    inherited.contains {
      $0.last == name && ($0.dropLast().last != "." || $0.suffix(3).first == "Waybridge")
    }
  }
}
