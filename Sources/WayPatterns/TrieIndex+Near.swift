extension TrieIndex {
  /// How many nodes a search for near misses visits at most.
  private static let maxVisits = 4096

  /// At most `limit` entries that share a beginning with the URI, the longest beginning first, and
  /// not those that have nothing but the scheme in common with it unless `fromRoot`. Those that
  /// match may be among them.
  func near(
    _ split: borrowing SplitURI, in scope: Scope, limit: Int, fromRoot: Bool = false
  ) -> [Int] {
    guard let (root, start) = root(of: split, split.uri.text.utf8.span, in: scope) else {
      return []
    }
    var visited: [(node: Int32, position: Int)] = [(root, start)]
    var next = 0
    while next < visited.count, visited.count < Self.maxVisits {
      let (node, position) = visited[next]
      next += 1
      guard position < split.count else { continue }
      let child = edges.child(
        of: node, split[position], in: split.uri.text.utf8.span, folding: split.isFolded(position))
      if child >= 0 { visited.append((child, position + 1)) }
      if nodes[Int(node)].parameter >= 0 {
        visited.append((nodes[Int(node)].parameter, position + 1))
      }
    }
    var found: [Int] = []
    var seen: Set<Int> = []
    // Visited in the order of their depth.
    for (node, _) in visited[(fromRoot ? 0 : 1)...].reversed() {
      // Authorities share the nodes of the global patterns.
      let isShared = node == Root.globalAuthority.rawValue
      let owner = nodes[Int(isShared ? Root.global.rawValue : node)]
      for position in Int(owner.firstEntry)..<Int(owner.lastEntry) {
        guard found.count < limit else { return found }
        let entry = entries[position].entry
        if seen.insert(entry).inserted { found.append(entry) }
      }
    }
    return found
  }

  /// At most `limit` entries that would match if the URI had another scheme, or began in another
  /// way after it.
  func elsewhere(_ split: borrowing SplitURI, limit: Int) -> [Int] {
    let bytes = split.uri.text.utf8.span
    let own = edges.child(of: split.shape.rawValue, split.scheme, in: bytes, folding: true)
    var found: [Found] = []
    for (_, shape, node) in schemes where node != own {
      // Of `native:` and `native:/*` one begins in another way and matches all the same.
      guard shape == split.shape || split.count > 0 else { continue }
      collect(node, at: 0, split, bytes, start: 0, into: &found)
      if found.count >= limit { break }
    }
    return found.prefix(limit).map(\.entry)
  }
}
