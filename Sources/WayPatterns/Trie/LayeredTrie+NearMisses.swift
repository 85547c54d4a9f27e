// The explanation of lookups, and near misses.
extension LayeredTrie {
  /// The maximum number of nodes that a search for near misses visits.
  private static var maxVisits: Int { 4096 }

  /// A node and the node of the added patterns with the same prefix; -1 for none.
  private typealias NodePair = (node: Int32, added: Int32)

  /// Returns the first position at which two forms differ in specificity, in words for people;
  /// `nil` for none.
  package func firstDifference(
    of form: Int, from other: Int
  ) -> (mine: String, other: String)? {
    self.form(form).firstDifference(from: self.form(other))
  }

  /// Returns the reason why a form does not match a URI.
  package func mismatchReason(
    of form: Int, with split: borrowing SplitURI, in scope: RouteTrie.MatchScope
  ) -> String {
    self.form(form).mismatchReason(with: split, isGlobal: scope == .global)
  }

  /// Returns at most `limit` forms that share a prefix with the URI, the longest prefix first, then
  /// in the order of the entries. Forms that share only the scheme are excluded unless `fromRoot`
  /// is `true`. Forms that match may be among them.
  package func nearMisses(
    _ split: borrowing SplitURI, in scope: RouteTrie.MatchScope, limit: Int, fromRoot: Bool = false
  ) -> [Int] {
    let (index, added) = (index, addedIndex)
    let bytes = split.uri.text.utf8.span
    let root = index.root(of: split, bytes, in: scope)
    let other = added?.root(of: split, bytes, in: scope)
    guard let start = root?.start ?? other?.start else { return [] }
    var visited: [(pair: NodePair, position: Int)] = [
      ((root?.node ?? -1, other?.node ?? -1), start)
    ]
    var next = 0
    while next < visited.count, visited.count < Self.maxVisits {
      let (pair, position) = visited[next]
      next += 1
      guard position < split.count else { continue }
      let branches = index.branches(from: pair.node, at: position, split)
      let addedBranches =
        added?.branches(from: pair.added, at: position, split) ?? TrieIndex.noBranches
      if branches.literal >= 0 || addedBranches.literal >= 0 {
        visited.append(((branches.literal, addedBranches.literal), position + 1))
      }
      if branches.parameter >= 0 || addedBranches.parameter >= 0 {
        visited.append(((branches.parameter, addedBranches.parameter), position + 1))
      }
    }
    var found: [Int] = []
    // Nodes were visited in the order of their depth.
    for (pair, _) in visited[(fromRoot ? 0 : 1)...].reversed() where found.count < limit {
      collect(pair, index, added, limit: limit, into: &found)
    }
    return found
  }

  /// Appends the forms at and below two nodes that are not in the list yet.
  private func collect(
    _ pair: NodePair, _ index: TrieIndex, _ added: TrieIndex?, limit: Int, into found: inout [Int]
  ) {
    var iterator = TrieIndex.OrderedFormIterator(index, below: pair.node)
    var others: ArraySlice<Int> = []
    if let added, pair.added >= 0 {
      others = added.forms(below: pair.added).map { ~Int($0) }.sorted(by: isEarlier)[...]
    }
    var baseForm = nextExisting(&iterator)
    while found.count < limit {
      let form: Int
      if let other = others.first, baseForm.map({ isEarlier(other, $0) }) ?? true {
        form = other
        others.removeFirst()
      } else if let next = baseForm {
        form = next
        baseForm = nextExisting(&iterator)
      } else {
        return
      }
      // The list is short.
      if !found.contains(form) { found.append(form) }
    }
  }

  private func nextExisting(_ iterator: inout TrieIndex.OrderedFormIterator) -> Int? {
    while let form = iterator.next().map(Int.init) {
      if !isRemoved(entry(of: form)) { return form }
    }
    return nil
  }

  /// Returns at most `limit` forms that would match if the URI had another scheme, or another shape
  /// after it: in the order of schemes, the most specific first.
  package func matchesInOtherSchemes(_ split: borrowing SplitURI, limit: Int) -> [Int] {
    let ownNodes = (index.node(ofScheme: split), addedIndex?.node(ofScheme: split) ?? -1)
    var schemes = index.schemes[...]
    var others = (addedIndex?.schemes ?? [])[...]
    var found: [Int] = []
    while found.count < limit, var first = schemes.first ?? others.first {
      if let other = others.first, TrieIndex.isInOrder(other, first) { first = other }
      let pair = (node: schemes.popNode(of: first), added: others.popNode(of: first))
      // `native:` and `native:/*` have different shapes and match all the same.
      guard pair.node < 0 || pair.node != ownNodes.0, pair.added < 0 || pair.added != ownNodes.1,
        first.shape == split.shape || split.count > 0
      else { continue }
      found += matches(split, from: pair)
    }
    return Array(found.prefix(limit))
  }

  private func matches(_ split: borrowing SplitURI, from pair: NodePair) -> [Int] {
    var found: [(form: Int, priority: Int)] = []
    if pair.node >= 0 {
      for match in index.allMatches(split, from: pair.node) where !isRemoved(entry(of: match.form))
      {
        found.append((match.form, match.priority))
      }
    }
    guard pair.added >= 0, let added = addedIndex else { return found.map(\.form) }
    found += added.allMatches(split, from: pair.added).map { (~$0.form, $0.priority) }
    found.sort { one, other in
      if let isMoreSpecific = form(one.form).isMoreSpecific(than: form(other.form)) {
        return isMoreSpecific
      }
      return one.priority != other.priority
        ? one.priority > other.priority : isEarlier(one.form, other.form)
    }
    return found.map(\.form)
  }
}

extension ArraySlice<TrieIndex.SchemeNode> {
  /// Removes and returns the first node if it is that of a scheme and shape; else returns -1.
  fileprivate mutating func popNode(of scheme: TrieIndex.SchemeNode) -> Int32 {
    guard let first, first.shape == scheme.shape, first.scheme == scheme.scheme else { return -1 }
    removeFirst()
    return first.node
  }
}
