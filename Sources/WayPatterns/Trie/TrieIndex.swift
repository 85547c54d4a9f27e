/// Where patterns lead: nodes and edges, without what hangs on them. Immutable once built.
///
/// A lookup walks literals before parameters before wildcards and comes back from dead ends, so
/// that it meets the matches from the most specific to the least. It visits a node once at most.
struct TrieIndex: Sendable {
  struct Node {
    /// The node behind a parameter, or -1.
    var parameter: Int32 = -1
    /// The node that takes all remaining segments, or -1. Nothing lies below it.
    var wildcard: Int32 = -1
    /// The first of the forms that end here, the one with the highest priority, or -1.
    var firstEntry: Int32 = -1
    /// The node below that was made last, or -1. Its next sibling is the one that was made first.
    var lastChild: Int32 = -1
    var nextSibling: Int32 = -1
    /// The form for which the node was made: of all here and below the one with the lowest number.
    var lowest: Int32 = 0
    /// The highest priority here and below, or a higher one where a form was taken out.
    var priority = Int.min
  }

  /// A form that ends at a node.
  struct Entry {
    var form: Int32
    /// The next entry of its node, or -1.
    var next: Int32
    var priority: Int
  }

  /// Where a lookup begins. The raw values are the first nodes.
  enum Root: Int32, CaseIterable {
    /// The schemes, by ``SplitURI/Shape``.
    case authority, rooted, rootless
    /// Global patterns, before the first segment of the path.
    case global
    /// Global patterns, before an authority that counts as the first segment.
    case globalAuthority

    /// The node that has the forms at and below a node: authorities share those of the global
    /// patterns.
    static func shared(_ node: Int32) -> Int32 {
      node == globalAuthority.rawValue ? global.rawValue : node
    }
  }

  typealias Scope = RouteTrie.Scope
  typealias SchemeNode = (scheme: String, shape: SplitURI.Shape, node: Int32)

  /// A match: a form, and which segment of the URI is the first of its pattern.
  struct Found {
    var form: Int
    var start: Int
    var priority = Int.min
  }

  var nodes = [Node](repeating: Node(), count: Root.allCases.count)
  var edges = EdgeTable()
  var entries: [Entry] = []
  /// The nodes behind an authority that are not those of a path, because global patterns differ in
  /// the case of their first literal.
  var apart: Set<Int32> = []
  /// The node behind each scheme that patterns name, in the order of scheme and shape.
  var schemes: [SchemeNode] = []

  /// The best match: the highest priority, then the most specific, then the order of entries.
  func first(_ split: borrowing SplitURI, in scope: Scope) -> Found? {
    let bytes = split.uri.text.utf8.span
    var best = Found(form: -1, start: 0)
    if let (root, start) = root(of: split, bytes, in: scope) {
      best.start = start
      visit(root, at: start, split, bytes, best: &best)
    }
    if let root = emptyPathRoot(of: split, bytes, in: scope) {
      take(nodes[Int(root)].wildcard, best: &best)
    }
    return best.form < 0 ? nil : best
  }

  /// All matches, the best first.
  func all(_ split: borrowing SplitURI, in scope: Scope) -> [Found] {
    let bytes = split.uri.text.utf8.span
    var found: [Found] = []
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

  /// Where `native:/*` begins, for a URI without segments: those are rootless, slash or not.
  private func emptyPathRoot(
    of split: borrowing SplitURI, _ bytes: Span<UInt8>, in scope: Scope
  ) -> Int32? {
    guard split.count == 0, case .scheme = scope else { return nil }
    let node = edges.child(of: Root.rooted.rawValue, split.scheme, in: bytes, folding: true)
    return node < 0 ? nil : node
  }

  func root(
    of split: borrowing SplitURI, _ bytes: Span<UInt8>, in scope: Scope
  ) -> (node: Int32, start: Int)? {
    switch scope {
    case .scheme:
      let node = edges.child(of: split.shape.rawValue, split.scheme, in: bytes, folding: true)
      return node < 0 ? nil : (node, 0)
    case .global:
      if split.isAuthorityGlobal { return (Root.globalAuthority.rawValue, 0) }
      guard split.hasGlobalPath else { return nil }
      return (Root.global.rawValue, split.shape == .authority ? 1 : 0)
    }
  }

  private func visit(
    _ index: Int32, at position: Int, _ split: borrowing SplitURI, _ bytes: Span<UInt8>,
    best: inout Found
  ) {
    let node = nodes[Int(index)]
    guard best.form < 0 || node.priority > best.priority else { return }
    if position == split.count {
      take(index, best: &best)
    } else {
      let segment = split[position]
      let child = edges.child(of: index, segment, in: bytes, folding: split.isFolded(position))
      if child >= 0 { visit(child, at: position + 1, split, bytes, best: &best) }
      if node.parameter >= 0, segment.end > segment.start {
        visit(node.parameter, at: position + 1, split, bytes, best: &best)
      }
    }
    take(node.wildcard, best: &best)
  }

  /// Takes the first entry of a node if it is better.
  @inline(__always)
  private func take(_ index: Int32, best: inout Found) {
    guard index >= 0, case let first = nodes[Int(index)].firstEntry, first >= 0 else { return }
    let entry = entries[Int(first)]
    if best.form < 0 || entry.priority > best.priority {
      best.form = Int(entry.form)
      best.priority = entry.priority
    }
  }

  func collect(
    _ index: Int32, at position: Int, _ split: borrowing SplitURI, _ bytes: Span<UInt8>, start: Int,
    into found: inout [Found]
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

  private func collect(_ index: Int32, start: Int, into found: inout [Found]) {
    guard index >= 0 else { return }
    var next = nodes[Int(index)].firstEntry
    while next >= 0 {
      let entry = entries[Int(next)]
      found.append(Found(form: Int(entry.form), start: start, priority: entry.priority))
      next = entry.next
    }
  }
}
