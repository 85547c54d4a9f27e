import WayValues

/// The parts of one session that a store holds in memory, by name. Names are equal if their bytes
/// are.
package struct SessionParts: Sendable {
  private var parts: [UTF8Key: [UInt8]] = [:]

  package init() {}

  /// Applies one step of a change.
  package mutating func apply(_ step: SessionChange.ChangeStep) {
    switch step {
    case .put(let part, let bytes): parts[UTF8Key(part)] = bytes
    case .remove(let part): parts[UTF8Key(part)] = nil
    case .removeRange(let first, let last):
      parts = parts.filter { part, _ in
        part.text.utf8.lexicographicallyPrecedes(first.utf8)
          || last.utf8.lexicographicallyPrecedes(part.text.utf8)
      }
    case .removeAll: parts = [:]
    }
  }

  /// All parts.
  package var all: [String: [UInt8]] {
    Dictionary(parts.map { ($0.key.text, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
