import WayValues

/// What a server knows of the others: when it has heard of each last, and whether messages between
/// the two are missing. Pure: it decides, ``ClusterMember`` acts.
struct PeerTable {
  struct Peer {
    var presence: ValueObject?
    /// When that was heard, in nanoseconds of the loops' clock.
    var heardAt: UInt64
    /// The number of the last message to it, and from it; nil before the first.
    var sent: UInt64 = 0
    var received: UInt64?
    /// How many beats it is still to be sent, so that a loss is seen: more than silence takes.
    var beatsLeft = 0
    /// What of a large message has come so far.
    var pieces: [UInt8] = []
  }

  /// A server that was not heard of for so long is away: what is under way with it is over.
  static let silence: UInt64 = 4_000_000_000
  /// One that was heard of within so long is likely to be there.
  static let freshness: UInt64 = 2_500_000_000
  /// Beats after the last message, one each second.
  static let beats = 6
  /// Bytes of a message in pieces.
  static let maxPieces = 64 << 20

  private(set) var peers: [String: Peer] = [:]

  /// The number for a message to a server.
  mutating func numberForMessage(
    to server: String, at now: UInt64, isUse: Bool = true
  ) -> UInt64 {
    peers[server, default: Peer(heardAt: now)].sent += 1
    if isUse { peers[server]?.beatsLeft = Self.beats }
    return peers[server]?.sent ?? 0
  }

  /// A message has come; true where one before it is missing.
  mutating func received(_ number: UInt64, from server: String, at now: UInt64) -> Bool {
    var peer = peers[server] ?? Peer(heardAt: now)
    defer { peers[server] = peer }
    let expected = (peer.received ?? 0) &+ 1
    peer.received = number
    if number == expected { return false }
    peer.pieces = []
    return true
  }

  /// A piece has come of a message; false where it has too many.
  mutating func add(_ piece: [UInt8], from server: String) -> Bool {
    guard let peer = peers[server], peer.pieces.count + piece.count <= Self.maxPieces else {
      return false
    }
    peers[server]?.pieces += piece
    return true
  }

  /// The whole of the pieces that have come.
  mutating func takePieces(from server: String) -> [UInt8] {
    defer { peers[server]?.pieces = [] }
    return peers[server]?.pieces ?? []
  }

  /// A server tells of itself; true where it was not known, or away.
  mutating func heard(_ presence: ValueObject, from server: String, at now: UInt64) -> Bool {
    var peer = peers[server] ?? Peer(heardAt: now)
    let isNew = peer.presence == nil
    peer.presence = presence
    peer.heardAt = now
    peers[server] = peer
    return isNew
  }

  /// Those that have become silent, with what they told of themselves; they are not known any more.
  mutating func takeSilent(at now: UInt64) -> [(server: String, presence: ValueObject)] {
    let silent = peers.filter { now > $0.value.heardAt && now - $0.value.heardAt > Self.silence }
    for server in silent.keys { peers[server] = nil }
    return silent.map { ($0.key, $0.value.presence ?? [:]) }.sorted { $0.0 < $1.0 }
  }

  /// A server has left, or is gone.
  mutating func remove(_ server: String) { peers[server] = nil }

  /// Those that are to be told now up to which number they were sent something.
  mutating func takeUsed() -> [String] {
    let used = peers.filter { $0.value.beatsLeft > 0 }.keys.sorted()
    for server in used { peers[server]?.beatsLeft -= 1 }
    return used
  }

  /// The servers that have told of themselves.
  var present: [(server: String, presence: ValueObject)] {
    peers.compactMap { server, peer in peer.presence.map { (server, $0) } }
      .sorted { $0.0 < $1.0 }
  }

  /// What a server has told of itself last.
  func presence(of server: String) -> ValueObject? { peers[server]?.presence }

  /// Those that know nothing of the time that has passed are not silent: this server was stopped.
  mutating func overslept(until now: UInt64) {
    for server in peers.keys { peers[server]?.heardAt = now }
  }

  /// A server that goes on where this one ends; nil for none.
  func successor(at now: UInt64) -> String? {
    present.filter { isFresh($0.server, at: now) && $0.presence["draining"] != true }
      .min { one, other in
        (one.presence["sessions"]?.integer ?? 0) < (other.presence["sessions"]?.integer ?? 0)
      }?.server
  }

  /// Whether a server was heard of a moment ago.
  func isFresh(_ server: String, at now: UInt64) -> Bool {
    guard let peer = peers[server], peer.presence != nil else { return false }
    return now <= peer.heardAt || now - peer.heardAt <= Self.freshness
  }
}
