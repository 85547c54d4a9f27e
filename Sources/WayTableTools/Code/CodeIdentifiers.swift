/// Predictable, unique identifiers for the names of a table.
///
/// 1. All characters except letters and digits separate words. A letter beyond ASCII is kept if
///    the language allows it; otherwise its number is written, as for symbols such as emoji:
///    `u1F600`.
/// 2. The words are joined as `addressList`, or as `AddressList` for a type.
/// 3. If no word is left, the identifier is the kind of declaration, `route`. If it begins with
///    a digit, that kind is its prefix, `route404`.
/// 4. A word that is reserved by the language or the surrounding code gets an underscore:
///    `default_`.
/// 5. A duplicate gets the first number from 2 that makes it unique: `addressList2`.
package struct CodeIdentifiers {
  /// How to join words.
  package enum WordStyle {
    /// `addressList`
    case lower
    /// `AddressList`
    case upper
  }

  private let style: WordStyle
  private let reserved: Set<String>
  private let allowsNonASCIILetters: Bool
  private var used: Set<String> = []

  /// Creates a set of unique names. `reserved` are names that are never used.
  package init(_ style: WordStyle, reserved: Set<String>, allowsNonASCIILetters: Bool) {
    self.style = style
    self.reserved = reserved
    self.allowsNonASCIILetters = allowsNonASCIILetters
  }

  /// An identifier for the name `text` in the table; `word` is the kind of declaration in lower
  /// case.
  package mutating func name(for text: String, _ word: String) -> String {
    var base = Self.words(of: text, allowsNonASCIILetters: allowsNonASCIILetters).enumerated().map {
      index, word in
      index == 0 && style == .lower ? Self.decapitalized(word) : Self.capitalized(word)
    }.joined()
    if base.isEmpty || base.unicodeScalars.first.map(Self.isDigit) == true {
      base = (style == .lower ? word : Self.capitalized(word)) + base
    }
    var name = reserved.contains(base) ? base + "_" : base
    var number = 2
    while reserved.contains(name) || !used.insert(name).inserted {
      name = "\(base)\(number)"
      number += 1
    }
    return name
  }

  private static func words(of text: String, allowsNonASCIILetters: Bool) -> [String] {
    var words = [""]
    for scalar in text.unicodeScalars {
      if isLetter(scalar) || isDigit(scalar) || (allowsNonASCIILetters && isAllowedLetter(scalar)) {
        words[words.count - 1].unicodeScalars.append(scalar)
      } else if !scalar.isASCII, isSymbol(scalar) {
        words += ["u\(scalar.hex)", ""]
      } else {
        words.append("")
      }
    }
    return words.filter { !$0.isEmpty }
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    ("0"..."9").contains(scalar)
  }

  /// Whether it is a letter of the basic plane that all current compilers know.
  private static func isAllowedLetter(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII, scalar.value < 0x10000, !scalar.isInvisible,
      scalar.properties.isXIDStart,
      (scalar.properties.age?.major ?? .max) <= 6
    else { return false }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .otherLetter: return true
    default: return false
    }
  }

  /// Whether it has a meaning, although it is not a letter that is kept.
  private static func isSymbol(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isInvisible { return false }
    switch scalar.properties.generalCategory {
    case .dashPunctuation, .openPunctuation, .closePunctuation, .connectorPunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation:
      return false
    default: return true
    }
  }

  /// `URL` becomes `url`, `URLList` becomes `urlList`, `List` becomes `list`.
  private static func decapitalized(_ word: String) -> String {
    let capitals = word.unicodeScalars.prefix { ("A"..."Z").contains($0) }.count
    let next = word.unicodeScalars.dropFirst(capitals).first
    let beginsWord = next.map { ("a"..."z").contains($0) } == true
    let count = capitals > 1 && beginsWord ? capitals - 1 : capitals
    return word.prefix(count).lowercased() + word.dropFirst(count)
  }

  private static func capitalized(_ word: String) -> String {
    guard let first = word.unicodeScalars.first, ("a"..."z").contains(first) else { return word }
    return word.prefix(1).uppercased() + word.dropFirst(1)
  }
}
