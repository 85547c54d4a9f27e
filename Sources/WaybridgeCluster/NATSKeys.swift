import CWayNATS

/// A key-value bucket. Confined as the connection is, which must outlive it.
final class NATSKeys {
  private let place: String
  private let keys: OpaquePointer

  init(_ place: String, _ keys: OpaquePointer) {
    (self.place, self.keys) = (place, keys)
  }

  deinit { kvStore_Destroy(keys) }

  /// Writes a key anew, so that it stays.
  func put(_ key: String, _ text: String) throws(ClusterError) {
    let status = kvStore_PutString(nil, keys, key, text)
    guard status == NATS_OK else {
      throw ClusterError(place, "the lease of the server cannot be renewed", status)
    }
  }

  /// The revision of a key; nil where it is not there.
  func revision(of key: String) throws(ClusterError) -> UInt64? {
    var entry: OpaquePointer?
    defer { kvEntry_Destroy(entry) }
    let status = kvStore_Get(&entry, keys, key)
    if status == NATS_NOT_FOUND { return nil }
    guard status == NATS_OK else {
      throw ClusterError(place, "the leases of servers cannot be read", status)
    }
    return kvEntry_Revision(entry)
  }

  /// Has a key go. It goes by itself where that cannot be said.
  func remove(_ key: String) { _ = kvStore_Purge(keys, key, nil) }
}
