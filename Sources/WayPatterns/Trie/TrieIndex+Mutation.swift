// Forms are put in and taken out by their numbers in a list of forms.
extension TrieIndex {
  /// What a number stands for. Of the forms that end at one node with one priority, those of a lower
  /// place come first.
  struct NumberedForm {
    let form: RoutePattern.Form
    let scheme: String?
    let priority: Int
    let place: Int
  }

  /// An index of the forms with the numbers below `count`, whose places rise with their numbers.
  init(count: Int, _ numbered: (Int32) -> NumberedForm) {
    // Nodes are made in the order of the forms, and their lists of entries from the end.
    var ends: [(node: Int32, priority: Int)] = []
    ends.reserveCapacity(count)
    var isEven = true
    for number in 0..<Int32(count) {
      let added = numbered(number)
      ends.append((end(of: added, number), added.priority))
      isEven = isEven && ends[0].priority == added.priority
    }
    var order = Array(ends.indices.reversed())
    if !isEven {
      order.sort { left, right in
        let (first, second) = (ends[left].priority, ends[right].priority)
        return first != second ? first < second : left > right
      }
    }
    entries.reserveCapacity(count)
    for number in order {
      let (node, priority) = ends[number]
      entries.append(
        Entry(form: Int32(number), next: nodes[Int(node)].firstEntry, priority: priority))
      nodes[Int(node)].firstEntry = Int32(entries.count - 1)
    }
    for number in 0..<Int32(count) { joinAuthority(number, numbered) }
    sortSchemes()
  }

  /// Adds a form with a number above all others.
  mutating func insert(_ number: Int32, _ numbered: (Int32) -> NumberedForm) {
    let added = numbered(number)
    let known = schemes.count
    addEntry(number, to: end(of: added, number), numbered)
    joinAuthority(number, numbered)
    if schemes.count > known { sortSchemes() }
  }

  /// Takes out all forms that a pattern has under a place. Their nodes stay.
  mutating func remove(
    _ pattern: RoutePattern, at place: Int, _ numbered: (Int32) -> NumberedForm
  ) {
    for form in pattern.forms {
      if let scheme = pattern.scheme {
        let node = edges.child(of: form.shape.rawValue, literal: Array(scheme.utf8))
        unlink(place, from: node, form.segments[...], numbered)
        continue
      }
      unlink(place, from: Root.global.rawValue, form.segments[...], numbered)
      guard case .literal(let literal) = form.segments.first else { continue }
      let node = edges.child(
        of: Root.globalAuthority.rawValue, literal: literal.map(\.lowercased))
      if apart.contains(node) { unlink(place, from: node, form.segments.dropFirst(), numbered) }
    }
  }

  /// The forms at and below a node, in no order.
  func forms(below node: Int32) -> [Int32] {
    var forms: [Int32] = []
    var left = [Root.shared(node)]
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
  /// The node at which a form ends, made where it is not there.
  private mutating func end(of added: NumberedForm, _ number: Int32) -> Int32 {
    var node = Root.global.rawValue
    if let scheme = added.scheme {
      let shape = added.form.shape
      let known = nodes.count
      node = child(of: shape.rawValue, literal: Array(scheme.utf8), number)
      if nodes.count > known { schemes.append((scheme, shape, node)) }
      raise(node, added.priority)
    }
    let end = walk(from: node, added.form.segments[...], number, added.priority)
    if added.scheme == nil {
      let (root, path) = (Int(Root.globalAuthority.rawValue), nodes[Int(Root.global.rawValue)])
      nodes[root].parameter = path.parameter
      nodes[root].wildcard = path.wildcard
    }
    return end
  }

  private mutating func walk(
    from start: Int32, _ segments: ArraySlice<RoutePattern.Segment>, _ number: Int32,
    _ priority: Int
  ) -> Int32 {
    var node = start
    for segment in segments {
      node = step(from: node, segment, number)
      raise(node, priority)
    }
    return node
  }

  /// Lets an authority, which ignores case, be the first segment of a global pattern. Nearly always
  /// the nodes behind it are those of the path; only `/DemoUser` beside `/user` needs its own.
  private mutating func joinAuthority(_ number: Int32, _ numbered: (Int32) -> NumberedForm) {
    let added = numbered(number)
    guard added.scheme == nil, case .literal(let literal) = added.form.segments.first else {
      return
    }
    let root = Root.globalAuthority.rawValue
    let folded = literal.map(\.lowercased)
    let path = edges.child(of: Root.global.rawValue, literal: literal)
    let known = edges.child(of: root, literal: folded)
    if known == path { return }
    if known < 0 {
      edges.insert(from: root, literal: folded, to: path)
      return
    }
    if apart.contains(known) {
      insertBehind(known, number, numbered)
      return
    }
    let own = newNode(below: root, for: number)
    edges.redirect(from: root, literal: folded, to: own)
    apart.insert(own)
    // Those with higher numbers come by themselves.
    for other in forms(below: known).sorted() where other < number {
      insertBehind(own, other, numbered)
    }
    insertBehind(own, number, numbered)
  }

  /// Adds a form without its first segment.
  private mutating func insertBehind(
    _ node: Int32, _ number: Int32, _ numbered: (Int32) -> NumberedForm
  ) {
    let added = numbered(number)
    raise(node, added.priority)
    nodes[Int(node)].lowest = min(nodes[Int(node)].lowest, number)
    let end = walk(from: node, added.form.segments.dropFirst(), number, added.priority)
    addEntry(number, to: end, numbered)
  }

  private mutating func addEntry(
    _ number: Int32, to node: Int32, _ numbered: (Int32) -> NumberedForm
  ) {
    let added = numbered(number)
    var previous: Int32 = -1
    var next = nodes[Int(node)].firstEntry
    while next >= 0, case let entry = entries[Int(next)],
      entry.priority > added.priority
        || entry.priority == added.priority && numbered(entry.form).place <= added.place
    {
      previous = next
      next = entry.next
    }
    entries.append(Entry(form: number, next: next, priority: added.priority))
    link(Int32(entries.count - 1), behind: previous, of: node)
  }

  private mutating func unlink(
    _ place: Int, from start: Int32, _ segments: ArraySlice<RoutePattern.Segment>,
    _ numbered: (Int32) -> NumberedForm
  ) {
    var node = start
    for segment in segments where node >= 0 {
      node =
        switch segment {
        case .literal(let literal): edges.child(of: node, literal: literal)
        case .parameter: nodes[Int(node)].parameter
        case .wildcard: nodes[Int(node)].wildcard
        }
    }
    guard node >= 0 else { return }
    var previous: Int32 = -1
    var next = nodes[Int(node)].firstEntry
    while next >= 0 {
      let entry = entries[Int(next)]
      if numbered(entry.form).place == place {
        link(entry.next, behind: previous, of: node)
      } else {
        previous = next
      }
      next = entry.next
    }
  }

  /// Puts an entry behind another one, or at the head of its node's.
  private mutating func link(_ entry: Int32, behind previous: Int32, of node: Int32) {
    if previous < 0 {
      nodes[Int(node)].firstEntry = entry
    } else {
      entries[Int(previous)].next = entry
    }
  }

  private mutating func raise(_ node: Int32, _ priority: Int) {
    nodes[Int(node)].priority = max(nodes[Int(node)].priority, priority)
  }

  private mutating func step(
    from node: Int32, _ segment: RoutePattern.Segment, _ number: Int32
  ) -> Int32 {
    switch segment {
    case .literal(let literal): return child(of: node, literal: literal, number)
    case .parameter:
      if nodes[Int(node)].parameter < 0 {
        nodes[Int(node)].parameter = newNode(below: node, for: number)
      }
      return nodes[Int(node)].parameter
    case .wildcard:
      if nodes[Int(node)].wildcard < 0 {
        nodes[Int(node)].wildcard = newNode(below: node, for: number)
      }
      return nodes[Int(node)].wildcard
    }
  }

  private mutating func child(of node: Int32, literal: [UInt8], _ number: Int32) -> Int32 {
    let found = edges.child(of: node, literal: literal)
    if found >= 0 { return found }
    let new = newNode(below: node, for: number)
    edges.insert(from: node, literal: literal, to: new)
    return new
  }

  private mutating func newNode(below parent: Int32, for number: Int32) -> Int32 {
    let new = Int32(nodes.count)
    let last = nodes[Int(parent)].lastChild
    nodes.append(Node(lowest: number))
    nodes[Int(new)].nextSibling = last < 0 ? new : nodes[Int(last)].nextSibling
    if last >= 0 { nodes[Int(last)].nextSibling = new }
    nodes[Int(parent)].lastChild = new
    return new
  }

  private mutating func sortSchemes() { schemes.sort(by: Self.isInOrder) }

  /// The order of ``schemes``.
  static func isInOrder(_ left: SchemeNode, _ right: SchemeNode) -> Bool {
    left.scheme != right.scheme
      ? left.scheme < right.scheme : left.shape.rawValue < right.shape.rawValue
  }
}
