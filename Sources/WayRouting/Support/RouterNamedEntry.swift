import WayValues

/// An entry of a list in which each name is unique.
protocol RouterNamedEntry {
  var name: String { get }
}

extension Array where Element: RouterNamedEntry {
  /// Replaces the entry with the same name, or appends the entry.
  mutating func put(_ entry: Element) {
    if let place = firstIndex(where: { $0.name.isSameUTF8(as: entry.name) }) {
      self[place] = entry
    } else {
      append(entry)
    }
  }

  /// Removes the entry with a name; returns `false` if there is none.
  mutating func remove(named name: String) -> Bool {
    guard let place = firstIndex(where: { $0.name.isSameUTF8(as: name) }) else { return false }
    remove(at: place)
    return true
  }
}
