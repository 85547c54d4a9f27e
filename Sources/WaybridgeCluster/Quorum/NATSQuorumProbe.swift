import WayStore

/// Exchanges signals with one voter, on a thread of its own.
actor NATSQuorumProbe {
  private let queue = SQLiteWorkQueue("waybridge.quorum")
  private let configuration: NATSClusterConfiguration
  /// The address of the NATS server.
  nonisolated let voter: String
  private let server: String
  private var connection: NATSQuorumConnection?
  private var number: UInt64 = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  init(_ configuration: NATSClusterConfiguration, _ voter: String, server: String) {
    (self.configuration, self.voter, self.server) = (configuration, voter, server)
  }

  /// Connects if necessary, exchanges a signal if the monitor needs one, and reports what it has
  /// received; blocks for some seconds at most.
  func runRound(for monitor: NATSQuorumMonitor) {
    do throws(NATSClusterError) {
      guard let connection else { return try connect(monitor) }
      guard let purpose = monitor.nextSignal else {
        return monitor.receive(try connection.receive(), through: self)
      }
      let sendTime = NATSClusterClock.boottime
      let isLeaseHolder = purpose == .leaseExtension
      let signals = try connection.exchange(
        nextSignal(for: connection.natsServer, isLeaseHolder: isLeaseHolder))
      monitor.receive(signals, through: self)
      monitor.complete(self, sentAt: sendTime, extends: isLeaseHolder)
    } catch {
      connection = nil
      monitor.disconnect(self)
    }
  }

  private func connect(_ monitor: NATSQuorumMonitor) throws(NATSClusterError) {
    let connection = try NATSQuorumConnection(configuration, voter)
    let signals = try connection.exchange(
      nextSignal(for: connection.natsServer, isLeaseHolder: false))
    self.connection = connection
    monitor.connect(self, to: connection.natsServer)
    monitor.receive(signals, through: self)
  }

  private func nextSignal(for natsServer: String, isLeaseHolder: Bool) -> NATSQuorumSignal {
    number += 1
    return NATSQuorumSignal(
      server: server, natsServer: natsServer, number: number, isLeaseHolder: isLeaseHolder)
  }
}
