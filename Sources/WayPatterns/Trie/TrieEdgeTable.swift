/// The edges of a trie: from a node by a literal to the next node. One hash table holds those of
/// all nodes, so that the cost of a step does not depend on their number.
package struct TrieEdgeTable: Sendable {
  private struct Edge {
    var parent: Int32 = 0
    /// -1 marks a free slot.
    var child: Int32 = -1
    var hash: UInt32 = 0
    var length: Int32 = 0
    var start = 0
  }

  private var slots = [Edge](repeating: Edge(), count: 8)
  private var literals: [UInt8] = []
  private var count = 0

  package init() {}

  /// Returns the node after `literal`, or -1.
  package func child(of parent: Int32, literal: [UInt8]) -> Int32 {
    slots[slot(of: parent, literal)].child
  }

  /// Redirects an existing edge to another node.
  mutating func redirect(from parent: Int32, literal: [UInt8], to child: Int32) {
    slots[slot(of: parent, literal)].child = child
  }

  /// Returns the slot of an edge, or a free slot.
  private func slot(of parent: Int32, _ literal: [UInt8]) -> Int {
    let hash = Self.hash(literal)
    var slot = Self.slot(parent, hash) & (slots.count - 1)
    while slots[slot].child >= 0 {
      let edge = slots[slot]
      if edge.parent == parent, edge.hash == hash,
        literals[edge.start..<edge.start + Int(edge.length)].elementsEqual(literal)
      {
        break
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return slot
  }

  /// Returns the node after a segment of `bytes`, or -1. If `folding` is `true`, the segment
  /// matches without case.
  @inline(__always)
  func child(
    of parent: Int32, _ segment: SplitURI.URISegment, in bytes: Span<UInt8>, folding: Bool
  ) -> Int32 {
    let mask = slots.count - 1
    var slot = Self.slot(parent, segment.hash) & mask
    while slots[slot].child >= 0 {
      let edge = slots[slot]
      if edge.parent == parent, edge.hash == segment.hash,
        matches(edge, segment, in: bytes, folding: folding)
      {
        return edge.child
      }
      slot = (slot + 1) & mask
    }
    return -1
  }

  /// Returns the node after the scheme of a URI, which matches without case, or -1.
  package func child(of parent: Int32, schemeOf split: borrowing SplitURI) -> Int32 {
    child(of: parent, split.scheme, in: split.uri.text.utf8.span, folding: true)
  }

  /// Adds a new edge.
  package mutating func insert(from parent: Int32, literal: [UInt8], to child: Int32) {
    count += 1
    if count * 2 > slots.count { grow() }
    let hash = Self.hash(literal)
    let edge = Edge(
      parent: parent, child: child, hash: hash,
      length: Int32(literal.count), start: literals.count)
    literals += literal
    place(edge)
  }

  private mutating func grow() {
    let old = slots
    slots = [Edge](repeating: Edge(), count: old.count * 2)
    for edge in old where edge.child >= 0 {
      place(edge)
    }
  }

  private mutating func place(_ edge: Edge) {
    var slot = Self.slot(edge.parent, edge.hash) & (slots.count - 1)
    while slots[slot].child >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = edge
  }

  private func matches(
    _ edge: Edge, _ segment: SplitURI.URISegment, in bytes: Span<UInt8>, folding: Bool
  ) -> Bool {
    var position = Int(segment.start)
    var expected = edge.start
    let expectedEnd = edge.start + Int(edge.length)
    while position < Int(segment.end), expected < expectedEnd {
      let isTriplet = bytes[position] == .percent
      let byte = isTriplet ? bytes.percentDecodedByte(at: position) : bytes[position]
      guard (folding ? byte.lowercased : byte) == literals[expected] else { return false }
      position += isTriplet ? 3 : 1
      expected += 1
    }
    return position == Int(segment.end) && expected == expectedEnd
  }

  private static func hash(_ literal: some Sequence<UInt8>) -> UInt32 {
    var hash = SegmentHash()
    for byte in literal { hash.add(byte) }
    return hash.value
  }

  @inline(__always)
  private static func slot(_ parent: Int32, _ hash: UInt32) -> Int {
    let key = UInt64(UInt32(bitPattern: parent)) &<< 32 | UInt64(hash)
    return Int(truncatingIfNeeded: SegmentHash.mixed(key))
  }
}
