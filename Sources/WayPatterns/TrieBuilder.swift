/// Puts patterns into a ``TrieIndex``.
struct TrieBuilder {
  private var index = TrieIndex()
  /// The entries of each node until all are known.
  private var entries: [[(entry: Int, priority: Int)]]
  /// The node that each node was made below, or -1. It comes before those below it.
  private var parents: [Int32]

  /// A form of a pattern with the scheme and the priority of its pattern.
  typealias Entry = (scheme: String?, form: RoutePattern.Form, priority: Int)

  /// `entries` in the order that decides between those of one shape and one priority.
  static func index(_ entries: [Entry]) -> TrieIndex {
    var builder = TrieBuilder()
    var byAuthority: [[UInt8]: AuthorityGroup] = [:]
    for (number, entry) in entries.enumerated() {
      let segments = entry.form.segments
      if let scheme = entry.scheme {
        builder.insert(scheme, entry.form, number, entry.priority)
      } else {
        let path = builder.insert(segments[...], at: .global, number, entry.priority)
        guard case .literal(let literal) = segments.first else { continue }
        byAuthority[literal.map(\.lowercased), default: AuthorityGroup()].add(number, path)
      }
    }
    builder.addAuthorities(byAuthority, entries)
    builder.finish()
    return builder.index
  }

  private init() {
    entries = Array(repeating: [], count: index.nodes.count)
    parents = Array(repeating: -1, count: index.nodes.count)
  }

  /// The global patterns whose first literals differ in nothing but case.
  private struct AuthorityGroup {
    var numbers: [Int] = []
    /// The node behind the first literal, while it is one and the same.
    var node: Int32 = -1
    var isShared = true

    mutating func add(_ number: Int, _ node: Int32) {
      isShared = isShared && (numbers.isEmpty || node == self.node)
      self.node = node
      numbers.append(number)
    }
  }

  /// Lets an authority, which ignores case, be the first segment of a global pattern. Nearly always
  /// the nodes behind it are those of the path; only `/User` beside `/user` needs its own.
  private mutating func addAuthorities(
    _ groups: [[UInt8]: AuthorityGroup], _ entries: [Entry]
  ) {
    let root = TrieIndex.Root.globalAuthority.rawValue
    let path = index.nodes[Int(TrieIndex.Root.global.rawValue)]
    index.nodes[Int(root)].parameter = path.parameter
    index.nodes[Int(root)].wildcard = path.wildcard
    for (literal, group) in groups {
      if group.isShared {
        index.edges.insert(from: root, literal: literal, to: group.node)
        continue
      }
      for number in group.numbers {
        let segments = [.literal(literal)] + entries[number].form.segments.dropFirst()
        insert(segments[...], at: .globalAuthority, number, entries[number].priority)
      }
    }
  }

  private mutating func insert(
    _ scheme: String, _ form: RoutePattern.Form, _ number: Int, _ priority: Int
  ) {
    let root = form.shape.rawValue
    let known = index.nodes.count
    let node = child(of: root, literal: Array(scheme.utf8))
    if index.nodes.count > known { index.schemes.append((scheme, form.shape, node)) }
    insert(form.segments[...], from: node, number, priority)
  }

  /// Returns the node behind the first segment.
  @discardableResult
  private mutating func insert(
    _ segments: ArraySlice<RoutePattern.Segment>, at root: TrieIndex.Root, _ number: Int,
    _ priority: Int
  ) -> Int32 {
    guard let first = segments.first else {
      entries[Int(root.rawValue)].append((number, priority))
      return -1
    }
    let node = step(from: root.rawValue, first)
    insert(segments.dropFirst(), from: node, number, priority)
    return node
  }

  private mutating func insert(
    _ segments: ArraySlice<RoutePattern.Segment>, from start: Int32, _ number: Int, _ priority: Int
  ) {
    var node = start
    raise(node, priority)
    for segment in segments {
      node = step(from: node, segment)
      raise(node, priority)
    }
    entries[Int(node)].append((number, priority))
  }

  private mutating func raise(_ node: Int32, _ priority: Int) {
    index.nodes[Int(node)].priority = max(index.nodes[Int(node)].priority, priority)
  }

  private mutating func step(from node: Int32, _ segment: RoutePattern.Segment) -> Int32 {
    switch segment {
    case .literal(let literal): return child(of: node, literal: literal)
    case .parameter:
      if index.nodes[Int(node)].parameter < 0 {
        index.nodes[Int(node)].parameter = newNode(below: node)
      }
      return index.nodes[Int(node)].parameter
    case .wildcard:
      if index.nodes[Int(node)].wildcard < 0 {
        index.nodes[Int(node)].wildcard = newNode(below: node)
      }
      return index.nodes[Int(node)].wildcard
    }
  }

  private mutating func child(of node: Int32, literal: [UInt8]) -> Int32 {
    let found = index.edges.child(of: node, literal: literal)
    if found >= 0 { return found }
    let new = newNode(below: node)
    index.edges.insert(from: node, literal: literal, to: new)
    return new
  }

  private mutating func newNode(below parent: Int32) -> Int32 {
    index.nodes.append(.init())
    entries.append([])
    parents.append(parent)
    return Int32(index.nodes.count - 1)
  }

  /// Lays the entries out so that those at and below a node stand next to each other.
  private mutating func finish() {
    var counts = entries.map(\.count)
    for node in counts.indices.reversed() where parents[node] >= 0 {
      counts[Int(parents[node])] += counts[node]
    }
    index.entries = Array(repeating: (0, 0), count: entries.reduce(0) { $0 + $1.count })
    var end = 0
    // Where the next node below each node has its entries.
    var next = counts
    for (node, own) in entries.enumerated() {
      let first: Int
      if parents[node] < 0 {
        first = end
        end += counts[node]
      } else {
        first = next[Int(parents[node])]
        next[Int(parents[node])] += counts[node]
      }
      next[node] = first + own.count
      index.nodes[node].firstEntry = Int32(first)
      index.nodes[node].entryCount = Int32(own.count)
      index.nodes[node].lastEntry = Int32(first + counts[node])
      let sorted = own.sorted { left, right in
        left.priority != right.priority
          ? left.priority > right.priority : left.entry < right.entry
      }
      for (offset, entry) in sorted.enumerated() { index.entries[first + offset] = entry }
    }
  }
}
