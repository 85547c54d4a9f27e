// The explanation of lookups, and near misses.
extension RouteTrie {
  /// The maximum number of nodes that a search for near misses visits.
  private static var maxVisits: Int { 4096 }

  /// Returns the first position at which two forms differ in specificity, in words for people;
  /// `nil` for none.
  package func firstDifference(
    of form: Int, from other: Int
  ) -> (mine: String, other: String)? {
    forms[form].firstDifference(from: forms[other])
  }

  /// Returns the reason why a form does not match a URI.
  package func mismatchReason(
    of form: Int, with split: borrowing SplitURI, in scope: MatchScope
  ) -> String {
    forms[form].mismatchReason(with: split, isGlobal: scope == .global)
  }

  /// Returns at most `limit` forms that share a prefix with the URI, the longest prefix first, then
  /// in the order of the entries. Forms that share only the scheme are excluded unless `fromRoot`
  /// is `true`. Forms that match may be among them.
  package func nearMisses(
    _ split: borrowing SplitURI, in scope: MatchScope, limit: Int, fromRoot: Bool = false
  ) -> [Int] {
    guard let root = index.root(of: split, split.uri.text.utf8.span, in: scope) else { return [] }
    var visited: [(node: Int32, position: Int)] = [(root.node, root.start)]
    var next = 0
    while next < visited.count, visited.count < Self.maxVisits {
      let (node, position) = visited[next]
      next += 1
      guard position < split.count else { continue }
      for child in index.children(of: node, at: position, split) {
        visited.append((child, position + 1))
      }
    }
    var found: [Int] = []
    // Nodes were visited in the order of their depth.
    for (node, _) in visited[(fromRoot ? 0 : 1)...].reversed() {
      var forms = TrieIndex.OrderedFormIterator(index, below: node)
      while found.count < limit, let form = forms.next().map(Int.init) {
        // The list is short.
        if !found.contains(form) { found.append(form) }
      }
    }
    return found
  }

  /// Returns at most `limit` forms that would match if the URI had another scheme, or another shape
  /// after it: in the order of schemes, the most specific first.
  package func matchesInOtherSchemes(_ split: borrowing SplitURI, limit: Int) -> [Int] {
    let ownNode = index.node(ofScheme: split)
    var found: [Int] = []
    for scheme in index.schemes {
      // `native:` and `native:/*` have different shapes and match all the same.
      guard found.count < limit, scheme.node != ownNode,
        scheme.shape == split.shape || split.count > 0
      else { continue }
      found += index.allMatches(split, from: scheme.node).map(\.form)
    }
    return Array(found.prefix(limit))
  }
}
