/// Decides by the votes of several NATS servers how long a lease lasts that cannot be renewed. Pure:
/// ``NATSQuorumMonitor`` sends and receives the signals. All times are nanoseconds of one clock that
/// includes the time for which the machine was suspended.
///
/// JetStream does not work while it elects a leader, so that no server can renew its lease. In this
/// time each server sends signals through a direct connection to each of the NATS servers, the
/// voters. A voter does not need to store anything: it passes on each signal to all servers that are
/// connected to it.
///
/// - A server extends its lease, while it is valid, to 3.5 seconds after it has sent signals that a
///   majority of the voters have passed on. It does so for at most 20 seconds after its last
///   renewal.
/// - Another server may remove a lease if it has seen no renewal for more than 4 seconds, and a
///   majority of the voters have passed on no signal of the lease's server for more than 4 seconds.
///   If it has seen no renewal for more than 21 seconds, it needs no votes.
///
/// Two majorities have a voter in common. Either that voter passed on the last signal before the
/// other server began to observe, so that the extension has ended by now. Or it passed the signal on
/// after the observation, when the lease was no longer valid and therefore was not extended.
/// This needs clocks whose rates differ by less than 5 %, and no synchronized time.
struct NATSQuorum {
  /// A lease that was not renewed for so long has ended, unless voters have extended it.
  static let lifetime: UInt64 = 4_000_000_000
  /// How long a server may treat its sessions as its own after it has sent a renewal, or a signal
  /// that a majority has passed on. It is shorter than ``lifetime``, since the others receive it
  /// later.
  static let validity: UInt64 = 3_500_000_000
  /// How long a lease can be extended after its last renewal was sent.
  static let maxExtension: UInt64 = 20_000_000_000
  /// A lease that was not renewed for so long has ended for certain.
  static let maxLifetime: UInt64 = 21_000_000_000
  /// How many voters make sense. Of two, a majority is both.
  static let voterCounts = 3...15
  /// How many servers are observed through one voter.
  static let maxServers = 10_000

  /// What is known through one voter.
  private struct VoterState {
    /// The NATS server at the other end of the connection; nil if there is no connection.
    var natsServer: String?
    /// Whether the address of the voter leads to several NATS servers.
    var isAmbiguous = false
    /// Since when all signals arrive that the voter passes on.
    var observedSince: UInt64 = 0
    /// When the signals of each server arrived last.
    var signals: [String: UInt64] = [:]
    /// When the last round began after whose signal everything had arrived that the voter had passed
    /// on before; nil if there was none since ``observedSince``.
    var checkedAt: UInt64?
    /// When the last signal was sent that the voter has passed on, and which NATS server that was.
    var confirmation: (sentAt: UInt64, natsServer: String)?
  }

  private var states: [String: VoterState] = [:]
  /// The addresses of the voters.
  let voters: [String]

  init(voters: [String]) {
    self.voters = voters
    for voter in voters { states[voter] = VoterState() }
  }

  /// The number of voters that are connected.
  var connectedCount: Int { states.values.count { $0.natsServer != nil && !$0.isAmbiguous } }

  /// Records a new connection to a voter. All signals that it passes on after `time` will arrive.
  mutating func connect(_ voter: String, to natsServer: String, at time: UInt64) {
    guard let state = states[voter] else { return }
    states[voter] = VoterState(
      natsServer: natsServer, observedSince: time, confirmation: state.confirmation)
  }

  /// Records that a connection has ended: signals may be missing.
  mutating func disconnect(_ voter: String) {
    guard let state = states[voter] else { return }
    states[voter] = VoterState(confirmation: state.confirmation)
  }

  /// Records a signal that a voter has passed on.
  mutating func receive(_ signal: NATSQuorumSignal, through voter: String, at time: UInt64) {
    guard var state = states[voter], let natsServer = state.natsServer else { return }
    defer { states[voter] = state }
    // The other server has the same address for another NATS server. The two would not know of each
    // other if the NATS servers did not reach each other.
    if signal.natsServer != natsServer { state.isAmbiguous = true }
    guard signal.isLeaseHolder else { return }
    if state.signals.count >= Self.maxServers, state.signals[signal.server] == nil {
      // The signals of another server are forgotten.
      state.signals = [:]
      state.observedSince = time
    }
    state.signals[signal.server] = time
  }

  /// Records a round with a voter: it has passed on the signal that was sent at `time`, and
  /// everything that it had passed on before has been received. `extends` if the signal extends this
  /// server's lease.
  mutating func complete(_ voter: String, sentAt time: UInt64, extends: Bool) {
    guard var state = states[voter], let natsServer = state.natsServer, !state.isAmbiguous else {
      return
    }
    state.checkedAt = time
    state.signals = state.signals.filter { $0.value &+ Self.maxLifetime > time }
    if extends { state.confirmation = (time, natsServer) }
    states[voter] = state
  }

  /// Returns until when this server's lease can be extended that was last renewed at `renewal`; nil
  /// if no majority has passed on a signal. The lease must still be valid after this call.
  func extensionEnd(renewedAt renewal: UInt64) -> UInt64? {
    var natsServers: Set<String> = []
    for (sentAt, natsServer) in states.values.compactMap(\.confirmation).sorted(by: { $0 > $1 }) {
      natsServers.insert(natsServer)
      if natsServers.count * 2 > voters.count {
        return min(sentAt + Self.validity, renewal + Self.maxExtension)
      }
    }
    return nil
  }

  /// Returns whether a lease has ended that has not changed since `renewal`, according to the clock
  /// at `time`. `voters` are those of the lease's server; a server without voters does not extend its
  /// lease.
  func hasEnded(
    leaseOf server: String, voters: [String], unchangedSince renewal: UInt64, at time: UInt64
  ) -> Bool {
    guard time > renewal, time - renewal > Self.lifetime else { return false }
    guard !voters.isEmpty, time - renewal <= Self.maxLifetime else { return true }
    let observed = voters.compactMap { states[$0] }.filter {
      $0.natsServer != nil && !$0.isAmbiguous && $0.checkedAt != nil
    }
    return observed.contains { state in
      guard let start = state.checkedAt, start > renewal + Self.lifetime else { return false }
      let silent = observed.filter {
        let last = max($0.observedSince, $0.signals[server] ?? 0)
        return $0.checkedAt ?? 0 >= start && last + Self.lifetime < start
      }
      return Set(silent.compactMap(\.natsServer)).count * 2 > voters.count
    }
  }
}
