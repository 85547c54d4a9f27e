// The parts of near misses.
extension TrieIndex {
  /// Returns the next nodes for a segment of a URI: that of a literal, then that of a parameter.
  func children(of node: Int32, at position: Int, _ split: borrowing SplitURI) -> [Int32] {
    let literal = edges.child(
      of: node, split[position], in: split.uri.text.utf8.span, folding: split.isFolded(position))
    return [literal, nodes[Int(node)].parameter].filter { $0 >= 0 }
  }

  /// Returns the node after the scheme of a URI, or -1.
  func node(ofScheme split: borrowing SplitURI) -> Int32 {
    edges.child(
      of: split.shape.rawValue, split.scheme, in: split.uri.text.utf8.span, folding: true)
  }

  /// Returns the forms that match the URI after its scheme, beginning at a node.
  func allMatches(_ split: borrowing SplitURI, from node: Int32) -> [FormMatch] {
    var found: [FormMatch] = []
    collect(node, at: 0, split, split.uri.text.utf8.span, start: 0, into: &found)
    return found
  }

  /// Iterates over the forms at and below a node in the order of their numbers. The cost of the
  /// first forms is linear in their number, not in that of all forms.
  struct OrderedFormIterator {
    private enum PendingItem {
      case form
      /// One of the children of a node, the last of which is `last`.
      case child(Int32, last: Int32)
    }

    private let index: TrieIndex
    /// The pending items; the one with the lowest number is last.
    private var pending: [(lowest: Int32, item: PendingItem)] = []

    init(_ index: TrieIndex, below node: Int32) {
      self.index = index
      expand(RootNode.sharedNode(node))
    }

    mutating func next() -> Int32? {
      while let (lowest, item) = pending.popLast() {
        guard case .child(let child, let last) = item else { return lowest }
        if child != last { add(index.nodes[Int(child)].nextSibling, last: last) }
        expand(child)
      }
      return nil
    }

    private mutating func expand(_ node: Int32) {
      let node = index.nodes[Int(node)]
      var next = node.firstEntry
      while next >= 0 {
        let entry = index.entries[Int(next)]
        pending.append((entry.form, .form))
        next = entry.next
      }
      if node.lastChild >= 0 {
        add(index.nodes[Int(node.lastChild)].nextSibling, last: node.lastChild)
      }
      // Few items are pending at once.
      if pending.count > 1 { pending.sort { $0.lowest > $1.lowest } }
    }

    private mutating func add(_ child: Int32, last: Int32) {
      pending.append((index.nodes[Int(child)].lowestForm, .child(child, last: last)))
    }
  }
}
