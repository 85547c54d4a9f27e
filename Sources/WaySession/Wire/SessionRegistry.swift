/// Elements with ids, such as the sessions of one loop or their clients, in the order in which they
/// were added. They can only be looked up, or visited one by one: a visit to all of them takes several
/// turns of the loop, during which some are added and removed.
struct SessionRegistry<Element> {
  /// A place between two elements, and the last element to visit. It stays valid when elements are
  /// added or removed: each element that was there when the position was made, and is still there,
  /// is visited once.
  struct Position {
    /// The number of the element that was visited last.
    fileprivate var number: UInt64
    /// The number of the last element to visit.
    fileprivate let last: UInt64
    /// The index of the next entry, unless entries were compacted since.
    fileprivate(set) var index: Int
    /// The number of compactions when the index was found.
    fileprivate var compactionCount: Int
  }

  private struct Entry {
    let number: UInt64
    /// Nil if the element was removed.
    var element: Element?
  }

  /// The number of removed entries from which on they are compacted, if they are the majority.
  private static var minRemoved: Int { 64 }

  private var numbers: [String: UInt64] = [:]
  /// In the order of their numbers.
  private var entries: [Entry] = []
  /// The index of the first entry that was not removed. So a visit to the first element does not go
  /// through those that were removed before it.
  private var firstIndex = 0
  private var lastNumber: UInt64 = 0
  /// How often removed entries were compacted, which moves the others.
  private var compactionCount = 0

  /// The number of elements.
  var count: Int { numbers.count }

  /// The element with an id; nil if there is none.
  subscript(id: String) -> Element? {
    guard let number = numbers[id] else { return nil }
    return entries[index(after: number - 1)].element
  }

  /// Adds an element. It replaces one with the same id.
  mutating func add(_ element: Element, id: String) {
    remove(id)
    lastNumber += 1
    numbers[id] = lastNumber
    entries.append(Entry(number: lastNumber, element: element))
  }

  /// Removes an element; nothing happens if there is none with the id.
  mutating func remove(_ id: String) {
    guard let number = numbers.removeValue(forKey: id) else { return }
    entries[index(after: number - 1)].element = nil
    while firstIndex < entries.count, entries[firstIndex].element == nil { firstIndex += 1 }
    let removedCount = entries.count - numbers.count
    guard removedCount > Self.minRemoved, removedCount > numbers.count else { return }
    entries.removeAll { $0.element == nil }
    firstIndex = 0
    compactionCount += 1
  }

  /// The position before all elements that there are now.
  var start: Position {
    Position(number: 0, last: lastNumber, index: firstIndex, compactionCount: compactionCount)
  }

  /// Returns the next element to visit; nil after the last one.
  func next(_ position: inout Position) -> Element? {
    if position.compactionCount != compactionCount {
      position.index = index(after: position.number)
      position.compactionCount = compactionCount
    }
    while position.index < entries.count {
      let entry = entries[position.index]
      guard entry.number <= position.last else { return nil }
      position.index += 1
      position.number = entry.number
      if let element = entry.element { return element }
    }
    return nil
  }

  /// The index of the first entry with a number above the given one.
  private func index(after number: UInt64) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].number > number { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
