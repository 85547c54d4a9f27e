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
    /// The entries that end here, the one with the highest priority first.
    var firstEntry: Int32 = 0
    var entryCount: Int32 = 0
    /// Behind the last entry of those that end here or below: they stand next to each other.
    var lastEntry: Int32 = 0
    /// The highest priority here and below.
    var priority = Int.min
  }

  /// Where a lookup begins. The raw values are the first nodes.
  enum Root: Int32, CaseIterable {
    /// The schemes, by ``SplitURI/Shape``.
    case authority, rooted, rootless
    /// Global patterns, before the first segment of the path.
    case global
    /// Global patterns, before an authority that counts as the first segment.
    case globalAuthority
  }

  typealias Scope = RouteTrie.Scope

  /// A match: an entry, and which segment of the URI is the first of its pattern.
  struct Found {
    var entry: Int
    var start: Int
    var priority = Int.min
  }

  var nodes = [Node](repeating: Node(), count: Root.allCases.count)
  var edges = EdgeTable()
  /// The entries of all nodes, a node's next to each other, and behind them those below it.
  var entries: [(entry: Int, priority: Int)] = []
  /// The node behind each scheme that patterns name, by the form of what follows it.
  var schemes: [(scheme: String, shape: SplitURI.Shape, node: Int32)] = []

  /// The best match: the highest priority, then the most specific, then the order of entries.
  func first(_ split: borrowing SplitURI, in scope: Scope) -> Found? {
    let bytes = split.uri.text.utf8.span
    var best = Found(entry: -1, start: 0)
    if let (root, start) = root(of: split, bytes, in: scope) {
      best.start = start
      visit(root, at: start, split, bytes, best: &best)
    }
    if best.entry < 0, let root = emptyPathRoot(of: split, bytes, in: scope) {
      take(nodes[Int(root)].wildcard, best: &best)
    }
    return best.entry < 0 ? nil : best
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
    guard best.entry < 0 || node.priority > best.priority else { return }
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
    guard index >= 0 else { return }
    let node = nodes[Int(index)]
    guard node.entryCount > 0 else { return }
    let (entry, priority) = entries[Int(node.firstEntry)]
    if best.entry < 0 || priority > best.priority {
      best.entry = entry
      best.priority = priority
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
    let node = nodes[Int(index)]
    for offset in 0..<Int(node.entryCount) {
      let (entry, priority) = entries[Int(node.firstEntry) + offset]
      found.append(Found(entry: entry, start: start, priority: priority))
    }
  }
}
