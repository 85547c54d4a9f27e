/// Values at places: numbers that are assigned in rising order and of which any may be empty.
///
/// The cost of a change does not depend on the number of places. If the table is shared, the cost
/// is at most proportional to the square root of that number.
struct RouterSlotTable<Slot: Sendable>: Sendable {
  /// The number of places in a chunk.
  private static var chunkSize: Int { 64 }

  /// The chunks by number; empty chunks are absent.
  private var chunks: [Int: [Slot?]] = [:]
  private(set) var count = 0

  /// Creates an empty table.
  init() {}

  subscript(place: Int) -> Slot? {
    get { chunks[place / Self.chunkSize]?[place % Self.chunkSize] }
    set {
      let (chunk, offset) = (place / Self.chunkSize, place % Self.chunkSize)
      let before = self[place] != nil
      if before == false, newValue == nil { return }
      chunks[chunk, default: Array(repeating: nil, count: Self.chunkSize)][offset] = newValue
      count += (newValue == nil ? 0 : 1) - (before ? 1 : 0)
      if newValue == nil, chunks[chunk]?.allSatisfy({ $0 == nil }) == true {
        chunks[chunk] = nil
      }
    }
  }

  /// All values in the order of their places.
  var ordered: [(place: Int, slot: Slot)] {
    chunks.keys.sorted().flatMap { chunk in
      (chunks[chunk] ?? []).enumerated().compactMap { offset, slot in
        slot.map { (chunk * Self.chunkSize + offset, $0) }
      }
    }
  }
}
