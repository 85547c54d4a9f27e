// For those who ask what a URI nearly leads to.
extension TrieIndex {
  /// The nodes that a segment of a URI leads to, a literal's and a parameter's; -1 for none.
  typealias Steps = (literal: Int32, parameter: Int32)

  static var noSteps: Steps { (-1, -1) }

  /// Where a segment of a URI leads from a node, or from none (-1).
  func steps(from node: Int32, at position: Int, _ split: borrowing SplitURI) -> Steps {
    guard node >= 0 else { return Self.noSteps }
    let literal = edges.child(
      of: node, split[position], in: split.uri.text.utf8.span, folding: split.isFolded(position))
    return (literal, nodes[Int(node)].parameter)
  }

  /// The node behind the scheme of a URI, or -1.
  func node(ofScheme split: borrowing SplitURI) -> Int32 {
    edges.child(
      of: split.shape.rawValue, split.scheme, in: split.uri.text.utf8.span, folding: true)
  }

  /// The forms that match what follows the scheme of a URI from a node on.
  func all(_ split: borrowing SplitURI, from node: Int32) -> [Found] {
    var found: [Found] = []
    collect(node, at: 0, split, split.uri.text.utf8.span, start: 0, into: &found)
    return found
  }

  /// The forms at and below a node in the order of their numbers, of an index whose forms were all
  /// put in at once. The first ones cost by how many they are, not by how many there are.
  struct Rising {
    private enum Item {
      case form
      /// One of the children of a node, of which `last` is the last one.
      case child(Int32, last: Int32)
    }

    private let index: TrieIndex
    /// The lowest number last.
    private var left: [(lowest: Int32, item: Item)] = []

    init(_ index: TrieIndex, below node: Int32) {
      self.index = index
      if node >= 0 { open(Root.shared(node)) }
    }

    mutating func next() -> Int32? {
      while let (lowest, item) = left.popLast() {
        guard case .child(let child, let last) = item else { return lowest }
        if child != last { add(index.nodes[Int(child)].nextSibling, last: last) }
        open(child)
      }
      return nil
    }

    private mutating func open(_ node: Int32) {
      let node = index.nodes[Int(node)]
      var next = node.firstEntry
      while next >= 0 {
        let entry = index.entries[Int(next)]
        left.append((entry.form, .form))
        next = entry.next
      }
      if node.lastChild >= 0 {
        add(index.nodes[Int(node.lastChild)].nextSibling, last: node.lastChild)
      }
      // Few are open at once.
      if left.count > 1 { left.sort { $0.lowest > $1.lowest } }
    }

    private mutating func add(_ child: Int32, last: Int32) {
      left.append((index.nodes[Int(child)].lowest, .child(child, last: last)))
    }
  }
}
