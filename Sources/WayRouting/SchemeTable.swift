/// What is known of each scheme, found by the hash that a ``SplitURI`` already has.
struct SchemeTable: Sendable {
  /// What is known of one scheme.
  struct Rule: Sendable {
    /// Nil when the dispatcher was removed or none was ever there.
    var dispatcher: Dispatcher?
    var isRemoved = false
    /// Global routes do not serve the scheme.
    var isClosed = false
  }

  private var rules: [Rule] = []
  private var edges = EdgeTable()

  init(_ rules: [String: Rule]) {
    for (scheme, rule) in rules {
      edges.insert(from: 0, literal: Array(scheme.utf8), to: Int32(self.rules.count))
      self.rules.append(rule)
    }
  }

  /// The rule for the scheme of a URI.
  func rule(for split: borrowing SplitURI) -> Rule? {
    let found = edges.child(of: 0, split.scheme, in: split.uri.text.utf8.span, folding: true)
    return found < 0 ? nil : rules[Int(found)]
  }
}
