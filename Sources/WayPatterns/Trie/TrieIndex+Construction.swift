// The index is built from forms by their numbers in a list of forms.
extension TrieIndex {
  /// The form of a number. Among forms that end at one node with one priority, those with lower
  /// ranks of types come first, then those of a lower number.
  struct NumberedForm {
    let form: RoutePattern.PatternForm
    let scheme: String?
    let priority: Int
    /// The ranks of the types of its parameters; one that is missing is higher than all others.
    let typeRanks: [UInt8]

    /// Whether the ranks of its types are lower than those of another form of the same shape;
    /// `nil` if they are the same.
    func hasLowerTypeRanks(than other: NumberedForm) -> Bool? {
      for (mine, other) in zip(typeRanks, other.typeRanks) where mine != other {
        return mine < other
      }
      return typeRanks.count == other.typeRanks.count
        ? nil : typeRanks.count > other.typeRanks.count
    }
  }

  /// Creates an index of the forms with the numbers below `count`.
  init(count: Int, _ formLookup: (Int32) -> NumberedForm) {
    // Nodes are created in the order of the forms, and their lists of entries from the end.
    var ends: [(node: Int32, priority: Int)] = []
    ends.reserveCapacity(count)
    var isEven = true
    for number in 0..<Int32(count) {
      let added = formLookup(number)
      ends.append((terminalNode(of: added, number), added.priority))
      isEven = isEven && ends[0].priority == added.priority && added.typeRanks.isEmpty
    }
    var order = Array(ends.indices.reversed())
    if !isEven {
      order.sort { left, right in
        let (first, second) = (ends[left].priority, ends[right].priority)
        guard first == second else { return first < second }
        return formLookup(Int32(right)).hasLowerTypeRanks(than: formLookup(Int32(left)))
          ?? (left > right)
      }
    }
    entries.reserveCapacity(count)
    for number in order {
      let (node, priority) = ends[number]
      entries.append(
        IndexedForm(form: Int32(number), next: nodes[Int(node)].firstEntry, priority: priority))
      nodes[Int(node)].firstEntry = Int32(entries.count - 1)
    }
    for number in 0..<Int32(count) { joinAuthority(number, formLookup) }
    schemes.sort { left, right in
      left.scheme != right.scheme
        ? left.scheme < right.scheme : left.shape.rawValue < right.shape.rawValue
    }
  }

  /// Returns the forms at and below a node, in no order.
  func forms(below node: Int32) -> [Int32] {
    var forms: [Int32] = []
    var left = [RootNode.sharedNode(node)]
    while let node = left.popLast().map({ nodes[Int($0)] }) {
      var next = node.firstEntry
      while next >= 0 {
        forms.append(entries[Int(next)].form)
        next = entries[Int(next)].next
      }
      guard node.lastChild >= 0 else { continue }
      var child = node.lastChild
      repeat {
        left.append(child)
        child = nodes[Int(child)].nextSibling
      } while child != node.lastChild
    }
    return forms
  }
}

extension TrieIndex {
  /// Returns the node at which a form ends, and creates it if it is missing.
  private mutating func terminalNode(of added: NumberedForm, _ number: Int32) -> Int32 {
    var node = RootNode.global.rawValue
    if let scheme = added.scheme {
      let shape = added.form.shape
      let known = nodes.count
      node = child(of: shape.rawValue, literal: Array(scheme.utf8), number)
      if nodes.count > known { schemes.append((scheme, shape, node)) }
      raisePriority(node, added.priority)
    }
    let end = insertPath(from: node, added.form.segments[...], number, added.priority)
    if added.scheme == nil {
      let (root, path) = (
        Int(RootNode.globalAuthority.rawValue), nodes[Int(RootNode.global.rawValue)]
      )
      nodes[root].parameter = path.parameter
      nodes[root].wildcard = path.wildcard
    }
    return end
  }

  private mutating func insertPath(
    from start: Int32, _ segments: ArraySlice<RoutePattern.PatternSegment>, _ number: Int32,
    _ priority: Int
  ) -> Int32 {
    var node = start
    for segment in segments {
      node = step(from: node, segment, number)
      raisePriority(node, priority)
    }
    return node
  }

  /// Makes an authority, which ignores case, the first segment of a global pattern. Usually the
  /// nodes after it are those of the path; only `/DemoUser` beside `/user` needs its own.
  private mutating func joinAuthority(_ number: Int32, _ formLookup: (Int32) -> NumberedForm) {
    let added = formLookup(number)
    guard added.scheme == nil, case .literal(let literal) = added.form.segments.first else {
      return
    }
    let root = RootNode.globalAuthority.rawValue
    let folded = literal.map(\.lowercased)
    let path = edges.child(of: RootNode.global.rawValue, literal: literal)
    let known = edges.child(of: root, literal: folded)
    if known == path { return }
    if known < 0 {
      edges.insert(from: root, literal: folded, to: path)
      return
    }
    if separateAuthorityNodes.contains(known) {
      insertTail(known, number, formLookup)
      return
    }
    let own = makeNode(below: root, for: number)
    edges.redirect(from: root, literal: folded, to: own)
    separateAuthorityNodes.insert(own)
    // Forms with higher numbers are inserted later.
    for other in forms(below: known).sorted() where other < number {
      insertTail(own, other, formLookup)
    }
    insertTail(own, number, formLookup)
  }

  /// Inserts a form without its first segment.
  private mutating func insertTail(
    _ node: Int32, _ number: Int32, _ formLookup: (Int32) -> NumberedForm
  ) {
    let added = formLookup(number)
    raisePriority(node, added.priority)
    nodes[Int(node)].lowestForm = min(nodes[Int(node)].lowestForm, number)
    let end = insertPath(from: node, added.form.segments.dropFirst(), number, added.priority)
    addEntry(number, to: end, formLookup)
  }

  private mutating func addEntry(
    _ number: Int32, to node: Int32, _ formLookup: (Int32) -> NumberedForm
  ) {
    let added = formLookup(number)
    var previous: Int32 = -1
    var next = nodes[Int(node)].firstEntry
    while next >= 0, case let entry = entries[Int(next)],
      entry.priority > added.priority
        || entry.priority == added.priority
          && formLookup(entry.form).hasLowerTypeRanks(than: added) ?? (entry.form <= number)
    {
      previous = next
      next = entry.next
    }
    entries.append(IndexedForm(form: number, next: next, priority: added.priority))
    if previous < 0 {
      nodes[Int(node)].firstEntry = Int32(entries.count - 1)
    } else {
      entries[Int(previous)].next = Int32(entries.count - 1)
    }
  }

  private mutating func raisePriority(_ node: Int32, _ priority: Int) {
    nodes[Int(node)].priority = max(nodes[Int(node)].priority, priority)
  }

  private mutating func step(
    from node: Int32, _ segment: RoutePattern.PatternSegment, _ number: Int32
  ) -> Int32 {
    switch segment {
    case .literal(let literal): return child(of: node, literal: literal, number)
    case .parameter:
      if nodes[Int(node)].parameter < 0 {
        nodes[Int(node)].parameter = makeNode(below: node, for: number)
      }
      return nodes[Int(node)].parameter
    case .wildcard:
      if nodes[Int(node)].wildcard < 0 {
        nodes[Int(node)].wildcard = makeNode(below: node, for: number)
      }
      return nodes[Int(node)].wildcard
    }
  }

  private mutating func child(of node: Int32, literal: [UInt8], _ number: Int32) -> Int32 {
    let found = edges.child(of: node, literal: literal)
    if found >= 0 { return found }
    let new = makeNode(below: node, for: number)
    edges.insert(from: node, literal: literal, to: new)
    return new
  }

  private mutating func makeNode(below parent: Int32, for number: Int32) -> Int32 {
    let new = Int32(nodes.count)
    let last = nodes[Int(parent)].lastChild
    nodes.append(TrieNode(lowestForm: number))
    nodes[Int(new)].nextSibling = last < 0 ? new : nodes[Int(last)].nextSibling
    if last >= 0 { nodes[Int(last)].nextSibling = new }
    nodes[Int(parent)].lastChild = new
    return new
  }
}
