import Synchronization

/// Tells the other servers that this one is there, by a key that goes by itself when it is not
/// renewed: by the engine's clock, so that those of the servers do not matter. Confined as its
/// connection is.
final class ServerLease {
  /// After so long a server that was not heard of is gone.
  static let lifetime: Duration = .seconds(4)
  static let renewal: Duration = .seconds(1)
  private static let bucket = "waybridge-servers"

  private let keys: NATSKeys
  private let owner: String

  /// Begins that of a server, by a name that none has had.
  init(of owner: String, on connection: NATSConnection) throws(ClusterError) {
    keys = try connection.makeKeys(Self.bucket, lifetime: Self.lifetime)
    self.owner = owner
    try renew()
  }

  func renew() throws(ClusterError) { try keys.put(Self.key(owner), "") }

  func giveBack() { keys.remove(Self.key(owner)) }

  /// The revisions of the leases of those of these servers that have one, which it has until so
  /// long after it was renewed last.
  func revisions(of owners: some Sequence<String>) throws(ClusterError) -> [String: UInt64] {
    var revisions: [String: UInt64] = [:]
    for owner in owners { revisions[owner] = try keys.revision(of: Self.key(owner)) }
    return revisions
  }

  /// Keys have letters, digits, `-`, `_`, `=` and `.`: a name's bytes in hex have no others.
  private static func key(_ owner: String) -> String {
    "server." + owner.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
