/// The servers that a starting server must not share sessions with. The key of a server that is down
/// stays for a while, so a conflict counts when that server renews its key. Pure:
/// ``NATSServerLeases`` reads the keys.
struct NATSLeaseConflicts {
  /// The conflict with each server, and the number of the last message of its key.
  private var conflicts: [String: (revision: UInt64, conflict: ClusterConflict)] = [:]

  /// Compares the lease of this server with the `values` of all keys, each with the number of the
  /// key's last message.
  init(of own: NATSLeaseValue, with values: [(revision: UInt64, bytes: [UInt8])]) {
    for (revision, bytes) in values {
      guard let other = NATSLeaseValue(bytes), other.server != own.server,
        let conflict = own.conflict(with: other)
      else { continue }
      conflicts[other.server] = (revision, conflict)
    }
  }

  /// The servers whose keys must be read again.
  var servers: [String] { conflicts.keys.sorted() }

  /// Records the current entry of a server's key, nil if there is none. Returns the conflict if the
  /// server has renewed its key, so that it is up. A deleted key ends the conflict.
  mutating func update(
    _ server: String, _ entry: KeyValueBucket.BucketEntry?
  ) -> ClusterConflict? {
    guard let entry, !entry.message.isDeletion else {
      conflicts[server] = nil
      return nil
    }
    guard let observed = conflicts[server], entry.lastSequence != observed.revision else {
      return nil
    }
    return observed.conflict
  }
}
