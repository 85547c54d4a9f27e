import WayValues

/// What a server knows of its peers: when each was last seen, and whether messages between the two
/// are missing. Pure: it decides, ``ClusterNode`` acts.
struct PeerTable {
  struct Peer {
    var presence: ValueObject?
    /// When the presence was received, in nanoseconds of the loops' clock.
    var lastSeen: UInt64
    /// The number of the last message to the peer, and from it; nil before the first.
    var lastSent: UInt64 = 0
    var lastReceived: UInt64?
    /// How many heartbeats are left to send, so that the peer notices a lost message. They last
    /// longer than ``silenceTimeout``.
    var heartbeatsLeft = 0
    /// The fragments of a large message that have arrived so far.
    var fragments: [UInt8] = []
  }

  /// Nanoseconds of silence after which a server counts as lost: all that is in progress with it
  /// ends.
  static let silenceTimeout: UInt64 = 4_000_000_000
  /// Nanoseconds for which a server counts as up after its last presence.
  static let freshnessLimit: UInt64 = 2_500_000_000
  /// Heartbeats after the last message, one each second.
  static let heartbeatCount = 6
  /// The maximum size of a message in fragments, in bytes.
  static let maxFragmentBytes = 64 << 20

  private(set) var peers: [String: Peer] = [:]

  /// Returns the number for the next message to a server.
  mutating func nextMessageNumber(
    to server: String, at now: UInt64, needsHeartbeats: Bool = true
  ) -> UInt64 {
    peers[server, default: Peer(lastSeen: now)].lastSent += 1
    if needsHeartbeats { peers[server]?.heartbeatsLeft = Self.heartbeatCount }
    return peers[server]?.lastSent ?? 0
  }

  /// Records a message of a peer; returns true if an earlier one is missing.
  mutating func receive(_ number: UInt64, from server: String, at now: UInt64) -> Bool {
    var peer = peers[server] ?? Peer(lastSeen: now)
    defer { peers[server] = peer }
    let expected = (peer.lastReceived ?? 0) &+ 1
    peer.lastReceived = number
    if number == expected { return false }
    peer.fragments = []
    return true
  }

  /// Adds a fragment of a message; returns false if the message is too large.
  mutating func addFragment(_ fragment: [UInt8], from server: String) -> Bool {
    guard let peer = peers[server], peer.fragments.count + fragment.count <= Self.maxFragmentBytes
    else {
      return false
    }
    peers[server]?.fragments += fragment
    return true
  }

  /// Removes and returns the fragments that have arrived, as one message.
  mutating func removeFragments(from server: String) -> [UInt8] {
    defer { peers[server]?.fragments = [] }
    return peers[server]?.fragments ?? []
  }

  /// Records the presence of a server; returns true if it was unknown, or lost.
  mutating func receivePresence(_ presence: ValueObject, from server: String, at now: UInt64)
    -> Bool
  {
    var peer = peers[server] ?? Peer(lastSeen: now)
    let isNew = peer.presence == nil
    peer.presence = presence
    peer.lastSeen = now
    peers[server] = peer
    return isNew
  }

  /// Removes the peers that have become silent, and returns them with their last presence.
  mutating func removeSilent(at now: UInt64) -> [(server: String, presence: ValueObject)] {
    let silent = peers.filter {
      now > $0.value.lastSeen && now - $0.value.lastSeen > Self.silenceTimeout
    }
    for server in silent.keys { peers[server] = nil }
    return silent.map { ($0.key, $0.value.presence ?? [:]) }.sorted { $0.0 < $1.0 }
  }

  /// Removes a server that has left, or is down.
  mutating func remove(_ server: String) { peers[server] = nil }

  /// Returns the servers that need a heartbeat now, and counts it.
  mutating func dequeueHeartbeats() -> [String] {
    let servers = peers.filter { $0.value.heartbeatsLeft > 0 }.keys.sorted()
    for server in servers { peers[server]?.heartbeatsLeft -= 1 }
    return servers
  }

  /// The servers that have sent their presence.
  var present: [(server: String, presence: ValueObject)] {
    peers.compactMap { server, peer in peer.presence.map { (server, $0) } }
      .sorted { $0.0 < $1.0 }
  }

  /// The last presence of a server.
  func presence(of server: String) -> ValueObject? { peers[server]?.presence }

  /// Resets the silence of all peers after this process was stopped: it could not receive their
  /// messages.
  mutating func resetSilence(until now: UInt64) {
    for server in peers.keys { peers[server]?.lastSeen = now }
  }

  /// A server that can take over new sessions while this one shuts down; nil if there is none.
  func successor(at now: UInt64) -> String? {
    present.filter { isFresh($0.server, at: now) && $0.presence["draining"] != true }
      .min { one, other in
        (one.presence["sessions"]?.integer ?? 0) < (other.presence["sessions"]?.integer ?? 0)
      }?.server
  }

  /// Whether a server was seen within ``freshnessLimit``.
  func isFresh(_ server: String, at now: UInt64) -> Bool {
    guard let peer = peers[server], peer.presence != nil else { return false }
    return now <= peer.lastSeen || now - peer.lastSeen <= Self.freshnessLimit
  }
}
