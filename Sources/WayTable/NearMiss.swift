/// Finds what somebody probably meant.
enum NearMiss {
  /// Longer names are not compared, and no more of them than these.
  private static let maxLength = 64
  private static let maxNames = 1024

  /// The known name that is written most like one that is not known; nil where none is close.
  static func of(_ name: String, among known: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased().utf8)
    guard (2...maxLength).contains(wanted.count) else { return nil }
    // A third of a name may be wrong, two letters at most.
    var least = min(2, wanted.count / 3 + (wanted.count > 2 ? 0 : 1)) + 1
    var best: String?
    for candidate in known.prefix(maxNames) where candidate.utf8.count <= maxLength {
      let distance = distance(wanted, Array(candidate.lowercased().utf8), below: least)
      if distance < least {
        least = distance
        best = candidate
      }
    }
    return best
  }

  /// A sentence for it, with a space before; empty where nothing is close.
  static func hint(for name: String, among known: some Sequence<String>) -> String {
    of(name, among: known).map { " did you mean '\($0)'?" } ?? ""
  }

  /// How many letters are to be changed, added, left out or swapped with their neighbour (the
  /// optimal string alignment distance); no less than `limit` where it is that much.
  private static func distance(_ left: [UInt8], _ right: [UInt8], below limit: Int) -> Int {
    guard abs(left.count - right.count) < limit else { return limit }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        var cost = min(
          last[column + 1] + 1, current[column] + 1,
          last[column] + (left[row] == right[column] ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
