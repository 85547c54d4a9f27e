import WaySession

/// Compares a server with the others of its cluster again and again. The settings of the server that has
/// joined first count, in the order of NATS. A server that differs from an earlier one that differs
/// itself continues: the other one has to stop. Pure: ``NATSServerLeases`` reads the keys.
struct NATSLeaseComparison {
  /// The number of the last message of each key at the last comparison.
  private var revisions: [String: UInt64] = [:]

  /// Compares the lease of this server with the `values` of all keys, each with the number of the key's
  /// last message. Returns the reason why this server must stop; nil if it may continue. A server whose
  /// key was not renewed since the last comparison does not count: it may be down.
  mutating func update(
    _ own: NATSLeaseValue, with values: [(revision: UInt64, bytes: [UInt8])]
  ) -> ClusterConflict? {
    let previous = revisions
    revisions = [:]
    guard let place = own.joined else { return nil }
    var earlier: [(place: UInt64, value: NATSLeaseValue)] = []
    for (revision, bytes) in values {
      guard let other = NATSLeaseValue(bytes), other.server != own.server else { continue }
      revisions[other.server] = revision
      guard let last = previous[other.server], revision > last, let joined = other.joined,
        joined < place
      else { continue }
      earlier.append((joined, other))
    }
    var agreeing: [NATSLeaseValue] = []
    for (_, other) in earlier.sorted(by: { $0.place < $1.place })
    where agreeing.allSatisfy({ other.conflict(with: $0) == nil }) {
      if let conflict = own.conflict(with: other) { return conflict }
      agreeing.append(other)
    }
    return nil
  }
}
