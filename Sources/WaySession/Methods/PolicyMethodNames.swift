/// Checks the names of methods in a policy.
enum PolicyMethodNames {
  /// The methods that clients call; `event`, which `session.push` takes as a method; and the permission
  /// to remove blobs of other clients.
  private static let all =
    MethodTable.builtIn.map(\.name) + [PolicyTopicMethod.event.rawValue, BlobTokens.removal]

  /// Returns the reason why `text` names no method and no prefix of one; nil if it does. Other
  /// names may be methods of an app, unless they are misspellings of the protocol's names.
  static func fault(of text: String) -> String? {
    let star = UInt8(ascii: "*")
    guard !text.utf8.dropLast().contains(star) else {
      return "\"*\" may only be at the end of a name, not as in \"\(text)\""
    }
    let pattern = MethodPattern(text)
    if all.contains(where: pattern.covers) { return nil }
    let isBeginning = text.utf8.last == star
    let name = isBeginning ? String(text.dropLast()) : text
    let isReserved = MethodTable.isReserved(name)
    let near =
      switch (isBeginning, isReserved) {
      case (true, true): [String]()
      case (true, false): families(near: name).map { $0 + "*" }
      case (false, true): methods(near: name, atMost: 3)
      case (false, false): methods(near: name, atMost: 2)
      }
    guard isReserved || !near.isEmpty else { return nil }
    let others = near.isEmpty ? family(of: name) : near
    let names = others.joined(separator: ", ")
    return (isBeginning ? "no method begins with \"\(name)\"" : "there is no method \"\(name)\"")
      + (others.isEmpty
        ? "; rpc.discover lists the methods"
        : (near.isEmpty ? "; known methods: \(names)" : "; did you mean \(names)?"))
  }

  /// The methods whose names are nearest to `name`, nearest first.
  private static func methods(near name: String, atMost limit: Int) -> [String] {
    let found = all.compactMap { method in
      method.editDistance(to: name, atMost: limit).map { (distance: $0, method: method) }
    }
    let least = found.map(\.distance).min()
    return found.filter { $0.distance == least }.map(\.method)
  }

  /// The prefixes of names, such as `router.`, that differ from `text` in one letter.
  private static func families(near text: String) -> [String] {
    MethodTable.reservedPrefixes.sorted().filter { $0.editDistance(to: text, atMost: 1) != nil }
  }

  /// The methods with the same prefix as `name`.
  private static func family(of name: String) -> [String] {
    guard let end = name.firstIndex(where: { $0 == "." || $0 == "/" }) else { return [] }
    return all.filter { $0.hasPrefix(name[...end]) }
  }
}

extension String {
  /// The number of bytes to insert, remove or replace to turn one string into the other
  /// (Levenshtein distance). Nil if it exceeds `limit`.
  fileprivate func editDistance(to other: String, atMost limit: Int) -> Int? {
    let (own, other) = (Array(utf8), Array(other.utf8))
    guard abs(own.count - other.count) <= limit else { return nil }
    var row = Array(0...other.count)
    for (above, byte) in own.enumerated() {
      var diagonal = row[0]
      row[0] = above + 1
      for (left, otherByte) in other.enumerated() {
        let changed = diagonal + (byte == otherByte ? 0 : 1)
        diagonal = row[left + 1]
        row[left + 1] = Swift.min(changed, row[left] + 1, diagonal + 1)
      }
    }
    return row[other.count] <= limit ? row[other.count] : nil
  }
}
