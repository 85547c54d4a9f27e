import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// The WebSocket connections of a server on one of its loops, and its streamed HTTP responses there.
final class SocketLoopServer: SocketOwner, @unchecked Sendable {  // confined to its loop
  private static let maxChecksPerTurn = 200
  /// The likely time to write a close frame at the end of the turn, in nanoseconds.
  private static let writeCost: UInt64 = 10_000

  let loop: SocketLoop
  /// Number of connections on this loop or on their way to it. Read it from any thread.
  let assignedConnections = Atomic(0)

  private let configuration: SocketServerConfiguration
  private let livenessCheckInterval: Duration
  private let outbound: SocketMemoryBudget
  private let inbound: SocketMemoryBudget
  private var connections: [UInt64: SocketConnection] = [:]
  /// The streamed HTTP responses on this loop.
  private var streams: [UInt64: StreamedResponse] = [:]
  /// The socket that is passed to lws, for the callbacks before lws returns.
  private var pendingAdoption: PendingAdoption?
  private var livenessTimer: (any ScheduledWork)?
  private var lingerTimer: (any ScheduledWork)?
  private var isStopping = false
  private var isFinished = false
  /// All loop servers of the server, including this one.
  private var loopServers: [SocketLoopServer] = []
  private var onConnectionAdmitted: @Sendable (UInt64) -> Void = { _ in }
  private var onConnectionEnded: @Sendable (UInt64) -> Void = { _ in }
  private var onStopped: @Sendable () -> Void = {}

  /// Creates one of `count` loop servers that share the budgets of unsent and of unfinished data.
  init(_ configuration: SocketServerConfiguration, loop: SocketLoop, count: Int) {
    self.configuration = configuration
    self.loop = loop
    livenessCheckInterval = configuration.limits.livenessCheckInterval
    outbound = SocketMemoryBudget(limit: configuration.limits.maxServerBytes / max(count, 1))
    inbound = SocketMemoryBudget(limit: configuration.limits.maxServerBytes / max(count, 1))
    super.init()
    outbound.makeRoom = { [weak self] in self?.closeLongestQueues(toFree: $0) }
    inbound.makeRoom = { [weak self] in self?.closeOldestUnfinished(toFree: $0) }
  }

  /// Accepts connections from now on. `onConnectionAdmitted` is called for each connection whose
  /// client is authenticated here, `onConnectionEnded` for each that has ended here. `onStopped` is called once, when this loop server has stopped. All are called on
  /// this loop.
  func start(
    among loopServers: [SocketLoopServer], subprotocols: [String],
    onConnectionAdmitted: @escaping @Sendable (UInt64) -> Void,
    onConnectionEnded: @escaping @Sendable (UInt64) -> Void,
    onStopped: @escaping @Sendable () -> Void
  ) throws(SocketError) {
    _ = try VirtualHost(loop: loop, isServer: true, subprotocols: subprotocols, owner: self)
    self.loopServers = loopServers
    self.onConnectionAdmitted = onConnectionAdmitted
    self.onConnectionEnded = onConnectionEnded
    self.onStopped = onStopped
    loop.shutdownHandlers[ObjectIdentifier(self)] = { [weak self] in self?.loopWillEnd() }
  }

  /// Adopts a socket after its handshake, from any thread. The caller makes `id`, because loops run
  /// in no order between them.
  func accept(_ descriptor: Int32, _ upgrade: WebSocketUpgrade, id: UInt64) {
    assignedConnections.add(1, ordering: .relaxed)
    loop.perform { [self] in
      adopt(descriptor, PendingAdoption(upgrade, id: id, configuration))
    }
  }

  /// Adopts a socket from another loop server, called on that loop's thread. `onMoved` attaches a
  /// receiver.
  func receive(
    _ descriptor: Int32, _ transferState: SocketConnection.TransferState,
    _ onMoved: @escaping @Sendable (any MessageChannel) -> Void
  ) {
    assignedConnections.add(1, ordering: .relaxed)
    loop.perform { [self] in
      adopt(descriptor, PendingAdoption(transferState, onMoved))
    }
  }

  /// Passes the descriptor to lws, which owns it from then on, as a raw file: the connection reads
  /// from it. lws would close a raw socket as soon as its peer has, however many others do the same
  /// in that turn. ``FrameReader`` reads the frames, because lws's own reader accepts some invalid
  /// ones.
  private func adopt(_ descriptor: Int32, _ adoption: PendingAdoption) {
    guard !isStopping, let pointer = virtualHost?.pointer else {
      Glibc.close(descriptor)
      return connectionEnded(adoption.id)
    }
    pendingAdoption = adoption
    let socket = lws_adopt_descriptor_vhost(
      pointer, LWS_ADOPT_RAW_FILE_DESC, lws_sock_file_fd_type(filefd: descriptor), nil, nil)
    // If this failed, lws has closed the descriptor.
    if socket == nil, pendingAdoption != nil { connectionEnded(adoption.id) }
    pendingAdoption = nil
  }

  override func makeConnection(_ wsi: OpaquePointer) -> SocketConnection? {
    guard let pendingAdoption else { return nil }
    var limits = pendingAdoption.limits
    limits.outbound = outbound
    limits.inbound = inbound
    let connection = SocketConnection(
      loop: loop, wsi: wsi, limits: limits, at: self, id: pendingAdoption.id)
    connections[connection.id] = connection
    scheduleLivenessCheck()
    return connection
  }

  override func accept(_ connection: SocketConnection, _ wsi: OpaquePointer) {
    guard let adoption = pendingAdoption else { return }
    pendingAdoption = nil
    if let transferState = adoption.transferState { connection.restore(transferState) }
    adoption.attachReceiver(connection)
    connection.scheduleUnread()
  }

  /// The loop server on another loop; `nil` if there is none, or if the server is stopping.
  func loopServer(on loop: any EventLoop) -> SocketLoopServer? {
    if isStopping { return nil }
    return loopServers.first { $0.loop === loop && $0 !== self }
  }

  /// Records that the client of a connection is authenticated.
  func admitted(_ connection: SocketConnection) { onConnectionAdmitted(connection.id) }

  /// Ends a connection at once, unless it is on another loop, or its client is authenticated by now.
  func abortUnadmitted(_ id: UInt64) {
    connections[id]?.abortUnadmitted(
      .overloaded, "too many clients are not authenticated yet; try again later")
  }

  /// Removes a connection that has ended.
  func ended(_ connection: SocketConnection) {
    connections[connection.id] = nil
    connectionEnded(connection.id)
  }

  /// Removes a connection that moves to another loop server.
  func moved(_ connection: SocketConnection) {
    connections[connection.id] = nil
    assignedConnections.subtract(1, ordering: .relaxed)
    finishIfEmpty()
  }

  private func connectionEnded(_ id: UInt64) {
    assignedConnections.subtract(1, ordering: .relaxed)
    onConnectionEnded(id)
    finishIfEmpty()
  }

  override func socketDestroyed(_ wsi: OpaquePointer) {
    super.socketDestroyed(wsi)
    finishIfEmpty()
  }

  /// Watches over a streamed response until ``streamEnded(_:)``.
  func streamStarted(_ stream: StreamedResponse) {
    streams[stream.id] = stream
    scheduleLivenessCheck()
  }

  func streamEnded(_ id: UInt64) { streams[id] = nil }

  /// The limits of streamed responses on this loop, with its budget of unsent data.
  var streamLimits: ConnectionLimits {
    var limits = configuration.connection
    limits.outbound = outbound
    return limits
  }

  /// Starts one timer for all connections, while there are any.
  private func scheduleLivenessCheck() {
    guard livenessTimer == nil, !isFinished, !connections.isEmpty || !streams.isEmpty else {
      return
    }
    livenessTimer = loop.schedule(after: livenessCheckInterval) { [weak self] in
      guard let self else { return }
      let senders: [any OutboundConnection] =
        connections.values.map { $0 } + streams.values.map { $0 }
      checkLiveness(senders[...])
    }
  }

  /// Checks some connections in this turn, because each may have to be written to at its end, and
  /// the rest in later turns.
  private func checkLiveness(_ remaining: ArraySlice<any OutboundConnection>) {
    for connection in remaining.prefix(Self.maxChecksPerTurn) {
      connection.checkLiveness(every: livenessCheckInterval, configuration.limits)
    }
    let rest = remaining.dropFirst(Self.maxChecksPerTurn)
    if rest.isEmpty {
      livenessTimer = nil
      scheduleLivenessCheck()
    } else {
      loop.executeLater { [weak self] in self?.checkLiveness(rest) }
    }
  }

  /// Closes the connections with most unsent data until `size` bytes are free. So slow clients do
  /// not affect fast ones.
  private func closeLongestQueues(toFree size: Int) {
    while !outbound.hasRoom(size) {
      let senders: [any OutboundConnection] =
        connections.values.map { $0 } + streams.values.map { $0 }
      let queues = senders.compactMap { sender in
        sender.openQueueSize.map { (sender, size: $0) }
      }
      guard let (largest, queuedBytes) = queues.max(by: { $0.size < $1.size }), queuedBytes > 0
      else { return }
      largest.closeSlowConsumer("more bytes wait for clients than the server may hold")
    }
  }

  /// Closes connections until `size` bytes are free, and a sixteenth of the budget too: finding them
  /// is a walk over all connections. Those that hold less than half of the average stay, because they
  /// are not the cause. Of the others, the messages that began first are closed: a client that sends
  /// without delay has begun its message last.
  private func closeOldestUnfinished(toFree size: Int) {
    let holders = connections.values.compactMap { connection in
      connection.heldInput.map { (connection, size: $0.size, arrival: $0.arrival) }
    }
    let heldBytes = holders.reduce(0) { $0 + $1.size }
    let large = holders.filter { $0.size * 2 * holders.count >= heldBytes }
    for (connection, _, _) in large.sorted(by: { $0.arrival < $1.arrival }) {
      if inbound.hasRoom(max(size, inbound.limit / 16)) { return }
      connection.closeSlowSender()
    }
  }

  var statistics: SocketStatistics {
    SocketStatistics(
      connections: connections.count, streams: streams.count, queuedBytes: outbound.used,
      queueLimit: outbound.limit,
      unfinishedBytes: inbound.used, unfinishedLimit: inbound.limit, traffic: loop.traffic)
  }

  /// Closes every connection with `drain`, and accepts no more. Connections end when their clients
  /// confirm the close, or have received everything and do not confirm it within the linger
  /// timeout.
  func stop(drain: CloseCode) {
    isStopping = true
    visitConnections(cost: Self.writeCost) { $0.close(drain, "the server is shutting down") }
    scheduleLingerCheck()
    finishIfEmpty()
  }

  /// Calls `visit` for each connection, in this turn or later ones. `cost` is the time, in
  /// nanoseconds, that a visit takes later in the turn.
  private func visitConnections(
    cost: UInt64 = 0, _ visit: @escaping @Sendable (SocketConnection) -> Void
  ) {
    for connection in connections.values {
      loop.executeInShare(cost: cost) { visit(connection) }
    }
  }

  /// Checks twice in each linger timeout which connections make no progress: the first check of a
  /// connection only records its state.
  private func scheduleLingerCheck() {
    lingerTimer = loop.schedule(after: configuration.lingerTimeout / 2) { [weak self] in
      guard let self, !isFinished else { return }
      visitConnections { $0.endIfStalled() }
      scheduleLingerCheck()
    }
  }

  /// Closes forcibly every connection that is still open.
  func forceClose() {
    isStopping = true
    visitConnections { $0.kill() }
    finishIfEmpty()
  }

  private func finishIfEmpty() {
    guard isStopping, !isFinished, connections.isEmpty, (virtualHost?.socketCount ?? 0) == 0 else {
      return
    }
    // lws still counts the socket whose end it is reporting, and the receivers of the last
    // connections may not have been notified.
    loop.executeInShare { [self] in finish() }
  }

  /// Releases the vhost, even if lws keeps a socket.
  func finish() {
    guard !isFinished else { return }
    isFinished = true
    isStopping = true
    livenessTimer?.cancel()
    livenessTimer = nil
    lingerTimer?.cancel()
    lingerTimer = nil
    loop.shutdownHandlers[ObjectIdentifier(self)] = nil
    virtualHost?.destroy()
    loopServers = []
    let handler = onStopped
    onConnectionAdmitted = { _ in }
    onConnectionEnded = { _ in }
    onStopped = {}
    handler()
  }

  /// Closes all connections, because lws closes its sockets with its context.
  private func loopWillEnd() {
    isStopping = true
    for connection in Array(connections.values) { connection.kill() }
    finishIfEmpty()
    loop.execute { [self] in finish() }
  }
}
