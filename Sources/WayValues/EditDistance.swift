extension ArraySlice<UInt8> {
  /// The number of bytes to change, insert, remove or swap with their neighbour to turn one string
  /// into the other (optimal string alignment distance). Returns `nil` if it exceeds `limit`.
  ///
  /// The cost is linear in the length, but exponential in `limit`, which must be small.
  package func editDistance(to other: ArraySlice<UInt8>, atMost limit: Int) -> Int? {
    guard abs(count - other.count) <= limit else { return nil }
    var (left, right) = (self, other)
    while let first = left.first, first == right.first {
      left.removeFirst()
      right.removeFirst()
    }
    if left.isEmpty || right.isEmpty { return Swift.max(left.count, right.count) }
    guard limit > 0 else { return nil }
    var least: Int?
    func compareRest(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) {
      let rest = left.editDistance(to: right, atMost: (least ?? limit + 1) - 2)
      if let rest { least = rest + 1 }
    }
    compareRest(left.dropFirst(), right.dropFirst())
    compareRest(left.dropFirst(), right)
    compareRest(left, right.dropFirst())
    if left.count > 1, right.count > 1, left[left.startIndex] == right[right.startIndex + 1],
      left[left.startIndex + 1] == right[right.startIndex]
    {
      compareRest(left.dropFirst(2), right.dropFirst(2))
    }
    return least
  }
}
