/// The branches of `#if` that a declaration stands in, the outermost first.
struct Condition {
  struct Branch {
    /// Where the `#if` stands that it belongs to.
    let start: SourcePlace
    /// Counts the branches of one `#if`.
    let number: Int
    /// What has to hold, as Swift.
    let text: String
    /// The compilation flags that it asks for, set by `-D`.
    let flags: [String]
  }

  var branches: [Branch] = []

  /// Nil where there is none.
  var text: String? {
    switch branches.count {
    case 0: nil
    case 1: branches[0].text
    default: branches.map { "(\($0.text))" }.joined(separator: " && ")
    }
  }

  /// Whether both are known to hold at times. Of conditions of different `#if`s that is known only where they are the
  /// same.
  func isKnownToMeet(_ other: Condition) -> Bool {
    let pairs = zip(branches, other.branches)
    return pairs.allSatisfy { $0.text == $1.text }
      && !pairs.contains { $0.start == $1.start && $0.number != $1.number }
  }
}
