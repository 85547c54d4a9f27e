import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// The WebSocket connections of a server on one of its loops.
final class SocketLoopServer: SocketOwner, @unchecked Sendable {  // confined to its loop
  /// A socket that is about to be a connection here.
  private struct Arrival {
    let id: UInt64
    let limits: ConnectionLimits
    /// What it brings from another loop.
    var luggage: SocketConnection.TransferState?
    /// Hands it to its receiver.
    let begin: (SocketConnection) -> Void
  }

  let loop: SocketLoop
  /// How many connections are here or on their way. Any thread may ask.
  let load = Atomic(0)

  private let configuration: SocketServerConfiguration
  private let patience: Patience
  private let budget: SocketQueueBudget
  private var connections: [UInt64: SocketConnection] = [:]
  /// The one whose descriptor is handed to lws, for the callbacks that come before lws returns.
  private var arriving: Arrival?
  private var lifeTimer: (any ScheduledWork)?
  private var isStopping = false
  private var isOver = false
  /// All places of the server, this one among them.
  private var places: [SocketLoopServer] = []
  private var onEnded: @Sendable () -> Void = {}
  private var onOver: @Sendable () -> Void = {}

  /// One of `count` places that share what may wait to be sent.
  init(_ configuration: SocketServerConfiguration, loop: SocketLoop, count: Int) {
    self.configuration = configuration
    self.loop = loop
    patience = Patience(ping: configuration.ping, silence: configuration.silence)
    budget = SocketQueueBudget(limit: configuration.maximumBufferedTotal / max(count, 1))
    super.init()
    budget.makeRoom = { [weak self] in self?.makeRoom($0) }
  }

  /// Takes connections from now on. `onEnded` is told of each that has ended on one of the places,
  /// and `onOver` once, when this place has stopped; both are called on this loop.
  func begin(
    among places: [SocketLoopServer], subprotocols: [String],
    onEnded: @escaping @Sendable () -> Void, onOver: @escaping @Sendable () -> Void
  ) throws(SocketError) {
    _ = try VirtualHost(loop: loop, isServer: true, subprotocols: subprotocols, owner: self)
    self.places = places
    self.onEnded = onEnded
    self.onOver = onOver
    loop.endings[ObjectIdentifier(self)] = { [weak self] in self?.loopEnds() }
  }

  // MARK: Coming

  /// Takes a socket whose handshake is done, from any thread. `id` is made by who hands it out: loops
  /// take what came in no order between them.
  func take(_ descriptor: Int32, _ upgrade: WebSocketUpgrade, id: UInt64) {
    load.add(1, ordering: .relaxed)
    loop.reach { [self] in
      let limits = ConnectionLimits(
        maximumMessage: upgrade.endpoint.maxMessage,
        maximumBuffered: upgrade.endpoint.maxBuffered ?? configuration.maximumBuffered,
        highWater: configuration.highWater, stallTimeout: configuration.stallTimeout,
        budget: budget, closeTimeout: configuration.closeTimeout)
      let arrival = Arrival(id: id, limits: limits) { connection in
        connection.attach(upgrade.endpoint.acceptor.accept(connection, upgrade.handshake))
      }
      adopt(descriptor, arrival)
    }
  }

  /// Takes a socket from another place of the server, from its thread. `goOn` attaches a receiver.
  func take(
    _ descriptor: Int32, _ luggage: SocketConnection.TransferState,
    _ goOn: @escaping @Sendable (any MessageChannel) -> Void
  ) {
    load.add(1, ordering: .relaxed)
    loop.reach { [self] in
      var limits = luggage.limits
      limits.budget = budget
      adopt(
        descriptor, Arrival(id: luggage.id, limits: limits, luggage: luggage, begin: goOn))
    }
  }

  /// Hands the descriptor to lws, which owns it from here on. What comes on it are frames, which
  /// lws hands over as it reads them: its own reader takes some that are none.
  private func adopt(_ descriptor: Int32, _ arrival: Arrival) {
    guard !isStopping, let pointer = host?.pointer else {
      Glibc.close(descriptor)
      return left()
    }
    arriving = arrival
    let socket = lws_adopt_descriptor_vhost(
      pointer, LWS_ADOPT_SOCKET, lws_sock_file_fd_type(sockfd: descriptor), nil, nil)
    // Where it has come to nothing lws has closed the descriptor.
    if socket == nil, arriving != nil { left() }
    arriving = nil
  }

  override func established(_ wsi: OpaquePointer) -> SocketConnection? {
    guard let arriving else { return nil }
    let connection = SocketConnection(
      loop: loop, wsi: wsi, limits: arriving.limits, at: self, id: arriving.id)
    connections[connection.id] = connection
    watchLife()
    return connection
  }

  override func accept(_ connection: SocketConnection, _ wsi: OpaquePointer) {
    guard let arrival = arriving else { return }
    arriving = nil
    if let luggage = arrival.luggage { connection.unpack(luggage) }
    arrival.begin(connection)
    connection.readWhatCame()
  }

  // MARK: Going

  /// The place of the server on another loop; nil where it has none there, or takes nobody more.
  func place(on loop: any EventLoop) -> SocketLoopServer? {
    if isStopping { return nil }
    return places.first { $0.loop === loop && $0 !== self }
  }

  /// A connection has ended.
  func ended(_ connection: SocketConnection) {
    connections[connection.id] = nil
    left()
  }

  /// A connection is on its way to another place.
  func moved(_ connection: SocketConnection) {
    connections[connection.id] = nil
    load.subtract(1, ordering: .relaxed)
    finishIfGone()
  }

  private func left() {
    load.subtract(1, ordering: .relaxed)
    onEnded()
    finishIfGone()
  }

  override func socketDestroyed(_ wsi: OpaquePointer) {
    super.socketDestroyed(wsi)
    finishIfGone()
  }

  // MARK: What they take up

  /// One timer for all connections, while there are any.
  private func watchLife() {
    guard lifeTimer == nil, !connections.isEmpty else { return }
    lifeTimer = loop.schedule(after: patience.period) { [weak self] in
      guard let self else { return }
      for connection in connections.values { connection.checkLife(patience) }
      lifeTimer = nil
      watchLife()
    }
  }

  /// Closes those for whom most waits, until so many bytes are left: who reads does not pay for who
  /// does not.
  private func makeRoom(_ size: Int) {
    while !budget.isLeft(size) {
      let queues = connections.values.compactMap { connection in
        connection.openQueue.map { (connection, size: $0) }
      }
      guard let (largest, held) = queues.max(by: { $0.size < $1.size }), held > 0 else { return }
      largest.giveUp("more bytes wait to be read than the server keeps for all")
    }
  }

  var statistics: SocketStatistics {
    SocketStatistics(
      connections: connections.count, queuedBytes: budget.used, queueLimit: budget.limit,
      traffic: loop.traffic)
  }

  // MARK: Stop

  /// Closes every connection with `drain`, and takes no more.
  func stop(drain: CloseCode) {
    isStopping = true
    for connection in Array(connections.values) {
      connection.close(drain, "the server is ending")
    }
    finishIfGone()
  }

  /// Ends what has not ended by itself.
  func cutOff() {
    isStopping = true
    for connection in Array(connections.values) { connection.kill() }
    finishIfGone()
  }

  private func finishIfGone() {
    guard isStopping, !isOver, connections.isEmpty, (host?.socketCount ?? 0) == 0 else { return }
    // lws still counts the socket that it is telling the end of.
    loop.execute { [self] in finish() }
  }

  /// Lets go of lws, also where that keeps a socket.
  func finish() {
    guard !isOver else { return }
    isOver = true
    isStopping = true
    lifeTimer?.cancel()
    lifeTimer = nil
    loop.endings[ObjectIdentifier(self)] = nil
    host?.destroy()
    places = []
    let tell = onOver
    onEnded = {}
    onOver = {}
    tell()
  }

  /// lws closes its sockets with its context.
  private func loopEnds() {
    cutOff()
    loop.execute { [self] in finish() }
  }
}
