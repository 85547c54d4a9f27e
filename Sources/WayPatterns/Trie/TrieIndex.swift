/// The nodes and edges of patterns, without their data. Immutable once built.
///
/// A lookup walks literals before parameters before wildcards and backtracks from dead ends, so
/// that it finds the matches from the most specific to the least. It visits a node at most once.
struct TrieIndex: Sendable {
  struct TrieNode {
    /// The node after a parameter, or -1.
    var parameter: Int32 = -1
    /// The node for all remaining segments, or -1. It has no children.
    var wildcard: Int32 = -1
    /// The first of the forms that end here, the one with the highest priority, or -1.
    var firstEntry: Int32 = -1
    /// The child that was created last, or -1. Its next sibling is the one that was created first.
    var lastChild: Int32 = -1
    var nextSibling: Int32 = -1
    /// The form for which the node was created: the one with the lowest number at and below the
    /// node.
    var lowestForm: Int32 = 0
    /// The highest priority at and below the node.
    var priority = Int.min
  }

  /// A form that ends at a node.
  struct IndexedForm {
    var form: Int32
    /// The next entry of its node, or -1.
    var next: Int32
    var priority: Int
  }

  /// The root of a lookup. The raw values are the first nodes.
  enum RootNode: Int32, CaseIterable {
    /// The roots of the schemes, by ``SplitURI/Shape``.
    case authority, rooted, rootless
    /// The root of global patterns, before the first segment of the path.
    case global
    /// The root of global patterns, before an authority that counts as the first segment.
    case globalAuthority

    /// Returns the node with the forms at and below a node: authorities share those of the global
    /// patterns.
    static func sharedNode(_ node: Int32) -> Int32 {
      node == globalAuthority.rawValue ? global.rawValue : node
    }
  }

  typealias SchemeNode = (scheme: String, shape: SplitURI.Shape, node: Int32)

  /// A match: a form, and the index of the URI's segment that is the first of its pattern.
  struct FormMatch {
    var form: Int
    var start: Int
    var priority = Int.min
  }

  var nodes = [TrieNode](repeating: TrieNode(), count: RootNode.allCases.count)
  var edges = TrieEdgeTable()
  var entries: [IndexedForm] = []
  /// The nodes after an authority that are not those of a path, because global patterns differ in
  /// the case of their first literal.
  var separateAuthorityNodes: Set<Int32> = []
  /// The node after each scheme that patterns name, in the order of scheme and shape.
  var schemes: [SchemeNode] = []

  /// Returns the best match: the highest priority, then the most specific, then the order of
  /// entries.
  func bestMatch(_ split: borrowing SplitURI, in scope: RouteTrie.MatchScope) -> FormMatch? {
    let bytes = split.uri.text.utf8.span
    var best = FormMatch(form: -1, start: 0)
    if let (root, start) = root(of: split, bytes, in: scope) {
      best.start = start
      visit(root, at: start, split, bytes, best: &best)
    }
    if let root = emptyPathRoot(of: split, bytes, in: scope) {
      consider(nodes[Int(root)].wildcard, best: &best)
    }
    return best.form < 0 ? nil : best
  }

  /// Returns all matches, best first.
  func allMatches(_ split: borrowing SplitURI, in scope: RouteTrie.MatchScope) -> [FormMatch] {
    let bytes = split.uri.text.utf8.span
    var found: [FormMatch] = []
    if let (root, start) = root(of: split, bytes, in: scope) {
      collect(root, at: start, split, bytes, start: start, into: &found)
    }
    if let root = emptyPathRoot(of: split, bytes, in: scope) {
      collect(nodes[Int(root)].wildcard, start: 0, into: &found)
    }
    let order = found.indices.sorted { left, right in
      found[left].priority != found[right].priority
        ? found[left].priority > found[right].priority : left < right
    }
    return order.map { found[$0] }
  }

  /// Returns the root of `native:/*` for a URI without segments, which is rootless, with or without
  /// a slash.
  private func emptyPathRoot(
    of split: borrowing SplitURI, _ bytes: Span<UInt8>, in scope: RouteTrie.MatchScope
  ) -> Int32? {
    guard split.count == 0, case .scheme = scope else { return nil }
    let node = edges.child(of: RootNode.rooted.rawValue, split.scheme, in: bytes, folding: true)
    return node < 0 ? nil : node
  }

  func root(
    of split: borrowing SplitURI, _ bytes: Span<UInt8>, in scope: RouteTrie.MatchScope
  ) -> (node: Int32, start: Int)? {
    switch scope {
    case .scheme:
      let node = edges.child(of: split.shape.rawValue, split.scheme, in: bytes, folding: true)
      return node < 0 ? nil : (node, 0)
    case .global:
      if split.isAuthorityGlobal { return (RootNode.globalAuthority.rawValue, 0) }
      guard split.hasGlobalPath else { return nil }
      return (RootNode.global.rawValue, split.shape == .authority ? 1 : 0)
    }
  }

  private func visit(
    _ index: Int32, at position: Int, _ split: borrowing SplitURI, _ bytes: Span<UInt8>,
    best: inout FormMatch
  ) {
    let node = nodes[Int(index)]
    guard best.form < 0 || node.priority > best.priority else { return }
    if position == split.count {
      consider(index, best: &best)
    } else {
      let segment = split[position]
      let child = edges.child(of: index, segment, in: bytes, folding: split.isFolded(position))
      if child >= 0 { visit(child, at: position + 1, split, bytes, best: &best) }
      if node.parameter >= 0, segment.end > segment.start {
        visit(node.parameter, at: position + 1, split, bytes, best: &best)
      }
    }
    consider(node.wildcard, best: &best)
  }

  /// Uses the first entry of a node if it is better.
  @inline(__always)
  private func consider(_ index: Int32, best: inout FormMatch) {
    guard index >= 0, case let first = nodes[Int(index)].firstEntry, first >= 0 else { return }
    let entry = entries[Int(first)]
    if best.form < 0 || entry.priority > best.priority {
      best.form = Int(entry.form)
      best.priority = entry.priority
    }
  }

  func collect(
    _ index: Int32, at position: Int, _ split: borrowing SplitURI, _ bytes: Span<UInt8>, start: Int,
    into found: inout [FormMatch]
  ) {
    let node = nodes[Int(index)]
    if position == split.count {
      collect(index, start: start, into: &found)
    } else {
      let segment = split[position]
      let child = edges.child(of: index, segment, in: bytes, folding: split.isFolded(position))
      if child >= 0 {
        collect(child, at: position + 1, split, bytes, start: start, into: &found)
      }
      if node.parameter >= 0, segment.end > segment.start {
        collect(node.parameter, at: position + 1, split, bytes, start: start, into: &found)
      }
    }
    collect(node.wildcard, start: start, into: &found)
  }

  private func collect(_ index: Int32, start: Int, into found: inout [FormMatch]) {
    guard index >= 0 else { return }
    var next = nodes[Int(index)].firstEntry
    while next >= 0 {
      let entry = entries[Int(next)]
      found.append(FormMatch(form: Int(entry.form), start: start, priority: entry.priority))
      next = entry.next
    }
  }
}
