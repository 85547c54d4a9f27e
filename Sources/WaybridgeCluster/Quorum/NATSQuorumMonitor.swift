import WaySession
import WayTransport

/// Extends this server's lease while it cannot be renewed, and observes the other servers, through a
/// direct connection to each NATS server. ``NATSQuorum`` has the rules. While all leases are renewed,
/// nothing is sent. May be used on any thread.
final class NATSQuorumMonitor: Sendable {
  /// Why a signal is sent.
  enum SignalPurpose: Sendable {
    /// This server's lease is to be extended.
    case leaseExtension
    /// Another server may be down: has all that it sent been received?
    case observation
  }

  private static let roundInterval: Duration = .milliseconds(500)
  /// A lease that was not renewed for so long needs an extension, in nanoseconds.
  private static let renewalDelay: UInt64 = 1_500_000_000
  /// How long another server is observed after the last question about it, in nanoseconds.
  private static let observationTime: UInt64 = 3_000_000_000
  /// Extensions are reported at this interval, in nanoseconds.
  private static let reportInterval: UInt64 = 1_000_000_000

  private struct MonitorState {
    var quorum: NATSQuorum
    /// When the last renewal was sent that has succeeded; nil before the first one.
    var renewalTime: UInt64?
    var observationEnd: UInt64 = 0
    var reportTime: UInt64 = 0
    /// The running probes, each with the voter that it exchanges signals with; empty after ``end()``.
    var probes: [String: ActiveProbe] = [:]
  }

  private struct ActiveProbe {
    let probe: NATSQuorumProbe
    let rounds: Task<Void, Never>
  }

  private let configuration: NATSClusterConfiguration
  private let leaseValidity: SessionLeaseValidity
  private let state: Locked<MonitorState>
  private let leaseExtended = Locked<(@Sendable () -> Void)?>(nil)

  /// Creates a monitor that uses the addresses of the configuration as voters. Nil if there are too
  /// few of them, or too many.
  init?(_ configuration: NATSClusterConfiguration, _ leaseValidity: SessionLeaseValidity) {
    let voters = configuration.address.voters
    guard NATSQuorum.voterCounts.contains(voters.count) else { return nil }
    self.configuration = configuration
    self.leaseValidity = leaseValidity
    state = Locked(MonitorState(quorum: NATSQuorum(voters: voters)))
  }

  /// The addresses of the voters.
  var voters: [String] { state.withLock { $0.quorum.voters } }

  /// How many voters are connected.
  var connectedCount: Int { state.withLock { $0.quorum.connectedCount } }

  /// Observes the other servers from now on, until ``end()``. Does nothing if it does that already.
  func begin(as server: String) {
    state.withLock { state in
      guard state.probes.isEmpty else { return }
      for voter in state.quorum.voters {
        let probe = NATSQuorumProbe(configuration, voter, server: server)
        let rounds = Task { [weak self] in
          while !Task.isCancelled, let self {
            await probe.runRound(for: self)
            try? await Task.sleep(for: Self.roundInterval)
          }
        }
        state.probes[voter] = ActiveProbe(probe: probe, rounds: rounds)
      }
    }
  }

  /// Calls `leaseExtended` about once a second while the lease is extended.
  func reportExtensions(to leaseExtended: @escaping @Sendable () -> Void) {
    self.leaseExtended.withLock { $0 = leaseExtended }
  }

  /// Ends all connections, until ``begin(as:)``. The lease is not extended by rounds that are in
  /// progress.
  func end() {
    let probes = state.withLock { state in
      defer { state.probes = [:] }
      for voter in state.quorum.voters { state.quorum.disconnect(voter) }
      return state.probes.values
    }
    for probe in probes { probe.rounds.cancel() }
  }

  /// Records that this server has renewed its lease, by a request that was sent at `time`.
  func recordRenewal(sentAt time: UInt64) { state.withLock { $0.renewalTime = time } }

  /// Returns whether the lease of another server has ended that has not changed for `age`
  /// nanoseconds. It takes a moment of repeated calls until that is known.
  func hasEnded(leaseOf server: String, voters: [String], unchangedFor age: UInt64) -> Bool {
    let now = NATSClusterClock.boottime
    return state.withLock { state in
      state.observationEnd = now + Self.observationTime
      return state.quorum.hasEnded(
        leaseOf: server, voters: voters, unchangedSince: now > age ? now - age : 0, at: now)
    }
  }

  /// Why the next signal has to be sent; nil if there is no need.
  var nextSignal: SignalPurpose? {
    let isValid = !leaseValidity.hasExpired(at: NATSClusterClock.nanoseconds)
    let now = NATSClusterClock.boottime
    return state.withLock { state in
      if isValid, let renewal = state.renewalTime, now > renewal + Self.renewalDelay,
        now < renewal + NATSQuorum.maxExtension
      {
        return .leaseExtension
      }
      return now < state.observationEnd ? .observation : nil
    }
  }
}

// Reports of the probes. Those of a probe that has ended do not count.
extension NATSQuorumMonitor {
  func connect(_ probe: NATSQuorumProbe, to natsServer: String) {
    let now = NATSClusterClock.boottime
    update(by: probe) { $0.quorum.connect(probe.voter, to: natsServer, at: now) }
  }

  func disconnect(_ probe: NATSQuorumProbe) {
    update(by: probe) { $0.quorum.disconnect(probe.voter) }
  }

  /// Records signals that have arrived by now.
  func receive(_ signals: [NATSQuorumSignal], through probe: NATSQuorumProbe) {
    guard !signals.isEmpty else { return }
    let now = NATSClusterClock.boottime
    update(by: probe) { state in
      for signal in signals { state.quorum.receive(signal, through: probe.voter, at: now) }
    }
  }

  private func update(by probe: NATSQuorumProbe, _ change: (inout MonitorState) -> Void) {
    state.withLock { state in
      if state.probes[probe.voter]?.probe === probe { change(&state) }
    }
  }

  /// Records a round, and extends the lease if that is possible now.
  func complete(_ probe: NATSQuorumProbe, sentAt time: UInt64, extends: Bool) {
    let now = NATSClusterClock.boottime
    var end: UInt64?
    update(by: probe) { state in
      state.quorum.complete(probe.voter, sentAt: time, extends: extends)
      if extends { end = state.renewalTime.flatMap(state.quorum.extensionEnd) }
    }
    // In this order: the voters have responded before it is checked whether the lease is valid.
    guard let end, leaseValidity.extend(until: end, at: NATSClusterClock.nanoseconds) else {
      return
    }
    let isReported = state.withLock { state in
      guard now >= state.reportTime + Self.reportInterval else { return false }
      state.reportTime = now
      return true
    }
    if isReported { leaseExtended.withLock { $0 }?() }
  }
}
