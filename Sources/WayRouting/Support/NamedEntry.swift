import WayValues

/// An entry of a list in which each name stands once.
protocol Named {
  var name: String { get }
}

extension Array where Element: Named {
  /// Puts an entry in the place of the one of its name, or behind all.
  mutating func put(_ entry: Element) {
    if let place = firstIndex(where: { $0.name.isSameUTF8(as: entry.name) }) {
      self[place] = entry
    } else {
      append(entry)
    }
  }

  /// False when no entry has the name.
  mutating func remove(named name: String) -> Bool {
    guard let place = firstIndex(where: { $0.name.isSameUTF8(as: name) }) else { return false }
    remove(at: place)
    return true
  }
}
