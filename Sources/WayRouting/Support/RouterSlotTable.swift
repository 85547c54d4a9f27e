/// What stands at places, numbers that are handed out in rising order and of which any may be empty.
///
/// A change costs the same however many there are; where there is a copy, it costs by the square
/// root of how many places there are, at most.
struct RouterSlotTable<Slot: Sendable>: Sendable {
  /// How many places a chunk has.
  private static var width: Int { 64 }

  /// By number; one that is empty is not there.
  private var chunks: [Int: [Slot?]] = [:]
  private(set) var count = 0

  /// An empty one.
  init() {}

  subscript(place: Int) -> Slot? {
    get { chunks[place / Self.width]?[place % Self.width] }
    set {
      let (chunk, offset) = (place / Self.width, place % Self.width)
      let before = self[place] != nil
      if before == false, newValue == nil { return }
      chunks[chunk, default: Array(repeating: nil, count: Self.width)][offset] = newValue
      count += (newValue == nil ? 0 : 1) - (before ? 1 : 0)
      if newValue == nil, chunks[chunk]?.allSatisfy({ $0 == nil }) == true {
        chunks[chunk] = nil
      }
    }
  }

  /// All in the order of their places.
  var ordered: [(place: Int, slot: Slot)] {
    chunks.keys.sorted().flatMap { chunk in
      (chunks[chunk] ?? []).enumerated().compactMap { offset, slot in
        slot.map { (chunk * Self.width + offset, $0) }
      }
    }
  }
}
