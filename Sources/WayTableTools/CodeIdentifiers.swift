/// Names for code, made of names of a table in a way that one can foresee, each once.
///
/// 1. All but letters and digits parts words. Of what is beyond ASCII, letters stay where the
///    language takes them, and else are written by their number, as signs such as emoji are:
///    `u1F600`.
/// 2. The words are put together, `addressList`, or of a type `AddressList`.
/// 3. Where nothing is left, it is the word for what is named, `route`; where it begins with a
///    digit, that word stands before it, `route404`.
/// 4. A word that the language, or the code around, has for itself gets an underscore: `default_`.
/// 5. A name that an earlier one has already gets the first number from 2 that makes it another:
///    `addressList2`.
package struct CodeIdentifiers {
  /// How words are put together.
  package enum Style {
    /// `addressList`
    case lower
    /// `AddressList`
    case upper
  }

  private let style: Style
  private let reserved: Set<String>
  private let keepsLetters: Bool
  private var taken: Set<String> = []

  /// Names of which no two are the same. `reserved` are those that nothing may have.
  package init(_ style: Style, reserved: Set<String>, keepsLetters: Bool) {
    self.style = style
    self.reserved = reserved
    self.keepsLetters = keepsLetters
  }

  /// The name for what the table calls `text`; `word` says what it is, in lower case.
  package mutating func name(for text: String, _ word: String) -> String {
    var base = Self.words(of: text, keepsLetters: keepsLetters).enumerated().map { index, word in
      index == 0 && style == .lower ? Self.lowered(word) : Self.raised(word)
    }.joined()
    if base.isEmpty || base.unicodeScalars.first.map(Self.isDigit) == true {
      base = (style == .lower ? word : Self.raised(word)) + base
    }
    var name = reserved.contains(base) ? base + "_" : base
    var number = 2
    while reserved.contains(name) || !taken.insert(name).inserted {
      name = "\(base)\(number)"
      number += 1
    }
    return name
  }

  private static func words(of text: String, keepsLetters: Bool) -> [String] {
    var words = [""]
    for scalar in text.unicodeScalars {
      if isLetter(scalar) || isDigit(scalar) || (keepsLetters && isKept(scalar)) {
        words[words.count - 1].unicodeScalars.append(scalar)
      } else if !scalar.isASCII, isSign(scalar) {
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

  /// A letter that compilers have known for long, in the first plane.
  private static func isKept(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII, scalar.value < 0x10000, !scalar.isUnseen, scalar.properties.isXIDStart,
      (scalar.properties.age?.major ?? .max) <= 6
    else { return false }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .otherLetter: return true
    default: return false
    }
  }

  /// What means something, although it is no letter that is kept.
  private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isUnseen { return false }
    switch scalar.properties.generalCategory {
    case .dashPunctuation, .openPunctuation, .closePunctuation, .connectorPunctuation,
      .initialPunctuation, .finalPunctuation, .otherPunctuation:
      return false
    default: return true
    }
  }

  /// `URL` is `url`, `URLList` is `urlList`, `List` is `list`.
  private static func lowered(_ word: String) -> String {
    let capitals = word.unicodeScalars.prefix { ("A"..."Z").contains($0) }.count
    let next = word.unicodeScalars.dropFirst(capitals).first
    let beginsWord = next.map { ("a"..."z").contains($0) } == true
    let count = capitals > 1 && beginsWord ? capitals - 1 : capitals
    return word.prefix(count).lowercased() + word.dropFirst(count)
  }

  private static func raised(_ word: String) -> String {
    guard let first = word.unicodeScalars.first, ("a"..."z").contains(first) else { return word }
    return word.prefix(1).uppercased() + word.dropFirst(1)
  }
}
