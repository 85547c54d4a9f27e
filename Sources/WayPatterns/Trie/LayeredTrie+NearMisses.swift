// For those who ask why a URI leads where it does.
extension LayeredTrie {
  /// How many nodes a search for near misses visits at most.
  private static var maxVisits: Int { 4096 }

  /// A node and the one of what was added that stands for the same beginning; -1 for none.
  private typealias Pair = (node: Int32, added: Int32)

  /// The first place at which two forms differ in specificity, in words for people; nil for none.
  package func firstDifference(
    of form: Int, from other: Int
  ) -> (mine: String, other: String)? {
    self.form(form).firstDifference(from: self.form(other))
  }

  /// Why a form does not match a URI.
  package func mismatch(
    of form: Int, with split: borrowing SplitURI, in scope: Scope
  ) -> String {
    self.form(form).mismatch(with: split, isGlobal: scope == .global)
  }

  /// At most `limit` forms that share a beginning with the URI, the longest beginning first, then
  /// in the order of the entries, and not those that have nothing but the scheme in common with it
  /// unless `fromRoot`. Those that match may be among them.
  package func near(
    _ split: borrowing SplitURI, in scope: Scope, limit: Int, fromRoot: Bool = false
  ) -> [Int] {
    let (index, added) = (index, addedIndex)
    let bytes = split.uri.text.utf8.span
    let root = index.root(of: split, bytes, in: scope)
    let other = added?.root(of: split, bytes, in: scope)
    guard let start = root?.start ?? other?.start else { return [] }
    var visited: [(pair: Pair, position: Int)] = [((root?.node ?? -1, other?.node ?? -1), start)]
    var next = 0
    while next < visited.count, visited.count < Self.maxVisits {
      let (pair, position) = visited[next]
      next += 1
      guard position < split.count else { continue }
      let steps = index.steps(from: pair.node, at: position, split)
      let others = added?.steps(from: pair.added, at: position, split) ?? TrieIndex.noSteps
      if steps.literal >= 0 || others.literal >= 0 {
        visited.append(((steps.literal, others.literal), position + 1))
      }
      if steps.parameter >= 0 || others.parameter >= 0 {
        visited.append(((steps.parameter, others.parameter), position + 1))
      }
    }
    var found: [Int] = []
    // Visited in the order of their depth.
    for (pair, _) in visited[(fromRoot ? 0 : 1)...].reversed() where found.count < limit {
      collect(pair, index, added, limit: limit, into: &found)
    }
    return found
  }

  /// Appends the forms at and below two nodes that are not there yet.
  private func collect(
    _ pair: Pair, _ index: TrieIndex, _ added: TrieIndex?, limit: Int, into found: inout [Int]
  ) {
    var rising = TrieIndex.Rising(index, below: pair.node)
    var others: ArraySlice<Int> = []
    if let added, pair.added >= 0 {
      others = added.forms(below: pair.added).map { ~Int($0) }.sorted(by: isEarlier)[...]
    }
    var own = nextThere(&rising)
    while found.count < limit {
      let form: Int
      if let other = others.first, own.map({ isEarlier(other, $0) }) ?? true {
        form = other
        others.removeFirst()
      } else if let next = own {
        form = next
        own = nextThere(&rising)
      } else {
        return
      }
      // There are few.
      if !found.contains(form) { found.append(form) }
    }
  }

  private func nextThere(_ rising: inout TrieIndex.Rising) -> Int? {
    while let form = rising.next().map(Int.init) {
      if !isGone(entry(of: form)) { return form }
    }
    return nil
  }

  /// At most `limit` forms that would match if the URI had another scheme, or began in another way
  /// after it: in the order of schemes, the most specific first.
  package func elsewhere(_ split: borrowing SplitURI, limit: Int) -> [Int] {
    let own = (index.node(ofScheme: split), addedIndex?.node(ofScheme: split) ?? -1)
    var schemes = index.schemes[...]
    var others = (addedIndex?.schemes ?? [])[...]
    var found: [Int] = []
    while found.count < limit, var first = schemes.first ?? others.first {
      if let other = others.first, TrieIndex.isInOrder(other, first) { first = other }
      let pair = (node: schemes.popNode(of: first), added: others.popNode(of: first))
      // Of `native:` and `native:/*` one begins in another way and matches all the same.
      guard pair.node < 0 || pair.node != own.0, pair.added < 0 || pair.added != own.1,
        first.shape == split.shape || split.count > 0
      else { continue }
      found += matches(split, from: pair)
    }
    return Array(found.prefix(limit))
  }

  private func matches(_ split: borrowing SplitURI, from pair: Pair) -> [Int] {
    var found: [(form: Int, priority: Int)] = []
    if pair.node >= 0 {
      for match in index.all(split, from: pair.node) where !isGone(entry(of: match.form)) {
        found.append((match.form, match.priority))
      }
    }
    guard pair.added >= 0, let added = addedIndex else { return found.map(\.form) }
    found += added.all(split, from: pair.added).map { (~$0.form, $0.priority) }
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
  /// Takes the first node where it is that of a scheme and shape; else -1.
  fileprivate mutating func popNode(of scheme: TrieIndex.SchemeNode) -> Int32 {
    guard let first, first.shape == scheme.shape, first.scheme == scheme.scheme else { return -1 }
    removeFirst()
    return first.node
  }
}
