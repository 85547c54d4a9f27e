/// Which methods a policy may name.
enum PolicyMethodNames {
  private static let all = MethodTable.own.map(\.name)

  /// Why a text names no method and no beginning of one; nil where it does. What lies outside of the
  /// protocol's names may be an app's, unless it looks like a slip of the pen.
  static func fault(of text: String) -> String? {
    let star = UInt8(ascii: "*")
    guard !text.utf8.dropLast().contains(star) else {
      return "'*' stands at the end only, for any rest; in '\(text)' it does not"
    }
    let pattern = MethodPattern(text)
    if all.contains(where: pattern.covers) { return nil }
    let isBeginning = text.utf8.last == star
    let name = isBeginning ? String(text.dropLast()) : text
    let isReserved = MethodTable.reserves(name)
    let near =
      switch (isBeginning, isReserved) {
      case (true, true): [String]()
      case (true, false): families(near: name).map { $0 + "*" }
      case (false, true): methods(near: name, atMost: 3)
      case (false, false): methods(near: name, atMost: 2)
      }
    guard isReserved || !near.isEmpty else { return nil }
    let others = near.isEmpty ? family(of: name) : near
    return (isBeginning ? "no method begins with '\(name)'" : "there is no method '\(name)'")
      + (others.isEmpty
        ? "; rpc.discover lists the methods"
        : "; \(near.isEmpty ? "known" : "near") here: \(others.joined(separator: ", "))")
  }

  /// The methods that a name may be meant for, the nearest first.
  private static func methods(near name: String, atMost limit: Int) -> [String] {
    let found = all.compactMap { method in
      method.distance(to: name, atMost: limit).map { (distance: $0, method: method) }
    }
    let least = found.map(\.distance).min()
    return found.filter { $0.distance == least }.map(\.method)
  }

  /// The beginnings of names, `router.` for one, of which a text misses but a letter.
  private static func families(near text: String) -> [String] {
    MethodTable.reserved.sorted().filter { $0.distance(to: text, atMost: 1) != nil }
  }

  /// The methods that begin as a name does.
  private static func family(of name: String) -> [String] {
    guard let end = name.firstIndex(where: { $0 == "." || $0 == "/" }) else { return [] }
    return all.filter { $0.hasPrefix(name[...end]) }
  }
}

extension String {
  /// How many bytes have to be inserted, removed or exchanged to make one of the other
  /// (Levenshtein); nil for more than `limit`.
  fileprivate func distance(to other: String, atMost limit: Int) -> Int? {
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
