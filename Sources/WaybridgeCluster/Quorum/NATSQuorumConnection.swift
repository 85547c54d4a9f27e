import CWayNATS

/// A connection to one NATS server. It is never made again by itself, so no message of the server is
/// missing before its end. Confined to one thread at a time; its methods block.
final class NATSQuorumConnection {
  /// How long the NATS server may take to respond, in milliseconds.
  private static let timeout: Int64 = 1_000
  /// Bytes of signals that may wait.
  private static let maxPendingBytes: Int32 = 16 << 20
  /// The maximum length of the id of a NATS server, in bytes.
  private static let maxNATSServer = 128

  /// The id of the NATS server, which differs after its restart.
  let natsServer: String
  private let endpoint: String
  private let subject: String
  private let connection: OpaquePointer
  private let subscription: OpaquePointer

  /// Connects to a voter, one of the addresses of the configuration.
  init(
    _ configuration: NATSClusterConfiguration, _ voter: String
  ) throws(NATSClusterError) {
    let endpoint = configuration.address.url(of: voter)
    let options = try NATSOptions.make(configuration, urls: [endpoint])
    defer { natsOptions_Destroy(options) }
    var connection: OpaquePointer?
    var subscription: OpaquePointer?
    func check(_ status: natsStatus, _ operation: String) throws(NATSClusterError) {
      guard status != NATS_OK else { return }
      natsSubscription_Destroy(subscription)
      natsConnection_Destroy(connection)
      throw NATSClusterError(endpoint, operation, status)
    }
    for status in [
      natsOptions_SetAllowReconnect(options, false),
      natsOptions_SetIgnoreDiscoveredServers(options, true),
    ] { try check(status, "the connection cannot be created") }
    try check(NATSOptions.connect(&connection, options), "the connection failed")
    var id = [CChar](repeating: 0, count: Self.maxNATSServer)
    try check(
      natsConnection_GetConnectedServerId(connection, &id, id.count), "its id is not known")
    natsServer = String(
      decoding: id.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    subject = configuration.names.quorumSubject(of: voter)
    try check(
      natsConnection_SubscribeSync(&subscription, connection, subject),
      "signals cannot be received")
    guard let connection, let subscription else {
      throw NATSClusterError(endpoint, "the connection cannot be created")
    }
    self.endpoint = endpoint
    self.connection = connection
    self.subscription = subscription
    natsSubscription_SetPendingLimits(subscription, -1, Self.maxPendingBytes)
  }

  deinit {
    natsSubscription_Destroy(subscription)
    natsConnection_Destroy(connection)
  }

  /// Sends a signal. Returns all signals that the NATS server has passed on before it, and itself,
  /// which all other servers with a connection have received or will receive. Throws if one of them
  /// may be missing.
  func exchange(_ signal: NATSQuorumSignal) throws(NATSClusterError) -> [NATSQuorumSignal] {
    let status = signal.bytes.withUnsafeBytes { bytes in
      natsConnection_Publish(connection, subject, bytes.baseAddress, Int32(bytes.count))
    }
    try check(status, "a signal cannot be sent")
    // The NATS server responds after it has put the signal into the queues of all receivers, and
    // after everything in the queue of this one.
    try check(natsConnection_FlushTimeout(connection, Self.timeout), "a signal was not answered")
    let signals = try receive()
    // A NATS server that does not permit the subject reports no error here.
    guard signals.contains(signal) else {
      throw NATSClusterError(endpoint, "signals are not passed on")
    }
    return signals
  }

  /// Returns the signals that have arrived. Throws if one of them may be missing.
  func receive() throws(NATSClusterError) -> [NATSQuorumSignal] {
    guard !natsConnection_IsClosed(connection) else {
      throw NATSClusterError(endpoint, "the connection has ended")
    }
    var count: UInt64 = 0
    var dropped: Int64 = 0
    try check(natsSubscription_QueuedMsgs(subscription, &count), "signals cannot be received")
    var signals: [NATSQuorumSignal] = []
    for _ in 0..<count {
      var message: OpaquePointer?
      defer { natsMsg_Destroy(message) }
      try check(
        natsSubscription_NextMsg(&message, subscription, Self.timeout),
        "signals cannot be received")
      if let signal = NATSQuorumSignal(NATSConnection.bytes(of: message)) { signals.append(signal) }
    }
    try check(natsSubscription_GetDropped(subscription, &dropped), "signals cannot be received")
    guard dropped == 0 else { throw NATSClusterError(endpoint, "there are too many signals") }
    return signals
  }

  private func check(_ status: natsStatus, _ operation: String) throws(NATSClusterError) {
    guard status == NATS_OK else { throw NATSClusterError(endpoint, operation, status) }
  }
}
