import WaySession

/// The servers that have joined before this one, and that must not share sessions with it. The key of
/// a server that is down stays for a while, so a conflict counts when that server renews its key.
/// Pure: ``NATSServerLeases`` reads the keys.
struct NATSLeaseConflicts {
  private let own: NATSLeaseValue
  /// The number of the last message of the key of each server with a conflict.
  private(set) var revisions: [String: UInt64] = [:]

  /// Compares the lease of this server with the `values` of all keys, each with the number of the
  /// key's last message. Leaves out servers that were found to be `silent` at a number.
  init(
    of own: NATSLeaseValue, with values: [(revision: UInt64, bytes: [UInt8])],
    except silent: [String: UInt64] = [:]
  ) {
    self.own = own
    for (revision, bytes) in values {
      guard let other = NATSLeaseValue(bytes), other.server != own.server,
        own.conflict(with: other) != nil, silent[other.server] != revision
      else { continue }
      revisions[other.server] = revision
    }
  }

  /// The servers whose keys must be read again.
  var servers: [String] { revisions.keys.sorted() }

  /// Records the current entry of a server's key, nil if there is none. Returns the conflict if the
  /// server has renewed its key, so that it is up, and has joined before this one. A deleted key ends
  /// the conflict, and so do other settings. A server that has joined later ends the conflict itself.
  mutating func update(
    _ server: String, _ entry: KeyValueBucket.BucketEntry?
  ) -> ClusterConflict? {
    guard let entry, !entry.message.isDeletion else {
      revisions[server] = nil
      return nil
    }
    guard let revision = revisions[server], entry.lastSequence != revision else { return nil }
    guard let other = NATSLeaseValue(entry.message.bytes), let conflict = own.conflict(with: other)
    else {
      revisions[server] = nil
      return nil
    }
    // A server that joins just now writes its number with its next renewal.
    guard let joined = other.joined else { return nil }
    guard joined < own.joined ?? .max else {
      revisions[server] = nil
      return nil
    }
    return conflict
  }
}
