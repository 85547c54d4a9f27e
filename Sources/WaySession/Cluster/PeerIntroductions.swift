/// The servers that this one has recently requested a message to it alone from. Pure: ``ClusterNode`` sends
/// the requests.
struct PeerIntroductions {
  /// How long the same server receives no other request, in nanoseconds.
  static let interval: UInt64 = 1_000_000_000
  /// How many servers may receive a request in one ``interval``.
  static let maxServers = 1_000

  private var times: [String: UInt64] = [:]

  /// Records a request to a server. Returns false if none may be sent now.
  mutating func record(_ server: String, at now: UInt64) -> Bool {
    times = times.filter { now < $0.value + Self.interval }
    guard times[server] == nil, times.count < Self.maxServers else { return false }
    times[server] = now
    return true
  }
}
