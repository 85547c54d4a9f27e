/// Puts patterns into a ``TrieIndex``.
struct TrieBuilder {
  private var index = TrieIndex()
  /// The entries of each node until all are known.
  private var entries: [[(entry: Int, priority: Int)]]

  /// `entries` in the order that decides between those of one shape and one priority.
  static func index(_ entries: [(pattern: RoutePattern, priority: Int)]) -> TrieIndex {
    var builder = TrieBuilder()
    var byAuthority: [[UInt8]: AuthorityGroup] = [:]
    for (number, entry) in entries.enumerated() {
      let pattern = entry.pattern
      if pattern.scheme == nil {
        let path = builder.insert(pattern.segments[...], at: .global, number, entry.priority)
        guard case .literal(let literal) = pattern.segments.first else { continue }
        byAuthority[literal.map(\.lowercased), default: AuthorityGroup()].add(number, path)
      } else {
        builder.insert(scheme: pattern, number, entry.priority)
      }
    }
    builder.addAuthorities(byAuthority, entries)
    builder.finish()
    return builder.index
  }

  private init() {
    entries = Array(repeating: [], count: index.nodes.count)
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

  /// Lets an authority, which ignores case, be the first segment of a global pattern. Nearly always the nodes
  /// behind it are those of the path; only `/User` beside `/user` needs its own.
  private mutating func addAuthorities(
    _ groups: [[UInt8]: AuthorityGroup], _ entries: [(pattern: RoutePattern, priority: Int)]
  ) {
    let root = TrieIndex.Root.globalAuthority.rawValue
    index.nodes[Int(root)].parameter = index.nodes[Int(TrieIndex.Root.global.rawValue)].parameter
    for (literal, group) in groups {
      if group.isShared {
        index.edges.insert(from: root, literal: literal, to: group.node)
        continue
      }
      for number in group.numbers {
        let segments = [.literal(literal)] + entries[number].pattern.segments.dropFirst()
        insert(segments[...], at: .globalAuthority, number, entries[number].priority)
      }
    }
  }

  private mutating func insert(scheme pattern: RoutePattern, _ number: Int, _ priority: Int) {
    let root = pattern.shape.rawValue
    let node = child(of: root, literal: Array((pattern.scheme ?? "").utf8))
    insert(pattern.segments[...], from: node, number, priority)
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
      if index.nodes[Int(node)].parameter < 0 { index.nodes[Int(node)].parameter = newNode() }
      return index.nodes[Int(node)].parameter
    }
  }

  private mutating func child(of node: Int32, literal: [UInt8]) -> Int32 {
    let found = index.edges.child(of: node, literal: literal)
    if found >= 0 { return found }
    let new = newNode()
    index.edges.insert(from: node, literal: literal, to: new)
    return new
  }

  private mutating func newNode() -> Int32 {
    index.nodes.append(.init())
    entries.append([])
    return Int32(index.nodes.count - 1)
  }

  private mutating func finish() {
    for (node, own) in entries.enumerated() where !own.isEmpty {
      index.nodes[node].firstEntry = Int32(index.entries.count)
      index.nodes[node].entryCount = Int32(own.count)
      let sorted = own.sorted { left, right in
        left.priority != right.priority
          ? left.priority > right.priority : left.entry < right.entry
      }
      index.entries += sorted
    }
  }
}
