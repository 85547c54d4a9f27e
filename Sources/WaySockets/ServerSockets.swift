import CLibwebsockets
import Glibc
import WayTransport

/// The listening socket of a server and all connections that came by it.
final class ServerSockets: SocketOwner, @unchecked Sendable {  // confined to its loop
  let configuration: SocketServerConfiguration
  let endpoints: [Endpoint]
  let loop: SocketLoop
  private(set) var responder: HTTPResponder?
  private(set) var files: StaticFiles?
  /// Who may ask; changes with the rules.
  private(set) var access: AccessCheck
  /// What every file is served with; changes with the rules.
  private(set) var fileHeaders: [(String, String)] = []
  /// What the bodies of requests may take up.
  let bodies: ByteBudget
  private(set) var isStopping = false

  private var listener: Listener?
  private var address = ListeningAddress.none
  private var requests: [ObjectIdentifier: HTTPConnection] = [:]
  /// Those of the requests that came when the server was full, in order.
  private var extras: [HTTPConnection] = []
  private var connections: [UInt64: SocketConnection] = [:]
  /// The handshake whose descriptor is handed to lws, for the callback that comes before lws
  /// returns.
  private var upgrading: WebSocketUpgrade?
  private var onStopped: [() -> Void] = []
  private var isStopped = false
  private var graceTimer: (any ScheduledWork)?
  private var lifeTimer: (any ScheduledWork)?
  private let patience: Patience
  private let budget: QueueBudget

  init(
    configuration: SocketServerConfiguration, endpoints: [Endpoint], loop: SocketLoop
  ) {
    self.configuration = configuration
    patience = Patience(ping: configuration.ping, silence: configuration.silence)
    budget = QueueBudget(limit: configuration.maximumBufferedTotal)
    bodies = ByteBudget(.server, configuration.maximumBodies)
    access = AccessCheck(rules: configuration.access, address: .none)
    self.endpoints = endpoints
    self.loop = loop
    super.init()
    budget.makeRoom = { [weak self] in self?.makeRoom($0) }
  }

  // MARK: Start

  func start(_ responder: HTTPResponder?) throws(SocketError) -> ListeningAddress {
    guard listener == nil, !isStopping else {
      throw SocketError(.ended, "a server starts once")
    }
    try configuration.check()
    if let root = configuration.webRoot { files = try StaticFiles(root: root) }
    var subprotocols: [String] = []
    for name in endpoints.flatMap(\.subprotocols) where !subprotocols.contains(name) {
      guard name.utf8.allSatisfy(isTokenByte), (1...64).contains(name.utf8.count) else {
        throw SocketError(.invalid, "\(quoted(name)) is no name of a subprotocol")
      }
      subprotocols.append(name)
    }
    let host = try VirtualHost(
      loop: loop, isServer: true, subprotocols: subprotocols, owner: self)
    do {
      let listener = try Listener(
        configuration, loop: loop, onTaken: { [weak self] in self?.take($0, $1) },
        onTurnedAway: { [weak self] in self?.refused(.exhausted) })
      self.listener = listener
      address = listener.socket.address
      set(access.rules)
      loop.endings[ObjectIdentifier(self)] = { [weak self] in self?.end() }
      self.responder = responder
      return address
    } catch {
      closeListener()
      host.destroy()
      throw error
    }
  }

  /// From the next request on these rules hold.
  func set(_ rules: AccessRules) {
    access = AccessCheck(
      rules: rules, address: address,
      handshakeHeaders: configuration.handshakeHeaders.map { $0.lowercased() })
    fileHeaders = FileHeaders.fields(
      policy: configuration.contentSecurityPolicy, origins: rules.origins)
  }

  private func closeListener() {
    listener?.close()
    listener = nil
  }

  // MARK: Connections

  private func take(_ descriptor: Int32, _ peer: SocketPeer) {
    let isExtra = isFull
    if isExtra, extras.count >= configuration.maximumExtraConnections {
      refused(.full)
      guard let oldest = extras.first(where: \.isWaiting) else {
        return HTTPAnswer(fault: .full).sendAndClose(descriptor)
      }
      oldest.turnAway(.full)
    }
    guard let request = HTTPConnection(descriptor: descriptor, peer: peer, server: self) else {
      Glibc.close(descriptor)
      return
    }
    requests[ObjectIdentifier(request)] = request
    if isExtra { extras.append(request) }
  }

  private var isFull: Bool {
    requests.count - extras.count + connections.count >= configuration.maximumConnections
  }

  /// Whether a connection is one of those that the server takes of any kind; one that came when it
  /// was full becomes one where there is room by now.
  func hasSlot(_ request: HTTPConnection) -> Bool {
    guard let index = extras.firstIndex(where: { $0 === request }) else { return true }
    if isFull { return false }
    extras.remove(at: index)
    return true
  }

  /// Counts and tells a request that is refused.
  func refused(_ fault: RequestFault) {
    loop.traffic.refused(fault.kind)
    configuration.onRefused(fault.status, fault.text)
  }

  func ended(_ request: HTTPConnection) {
    requests[ObjectIdentifier(request)] = nil
    extras.removeAll { $0 === request }
    finishIfGone()
  }

  /// Hands the descriptor to lws, which owns it from here on. What comes on it are frames, which
  /// lws hands over as it reads them: its own reader takes some that are none.
  func upgrade(_ descriptor: Int32, _ upgrade: WebSocketUpgrade) {
    guard let pointer = host?.pointer else {
      Glibc.close(descriptor)
      return
    }
    upgrading = upgrade
    _ = lws_adopt_descriptor_vhost(
      pointer, LWS_ADOPT_SOCKET, lws_sock_file_fd_type(sockfd: descriptor), nil, nil)
    upgrading = nil
  }

  override func established(_ wsi: OpaquePointer) -> SocketConnection? {
    guard let upgrading else { return nil }
    let limits = ConnectionLimits(
      maximumMessage: upgrading.endpoint.maxMessage,
      maximumBuffered: upgrading.endpoint.maxBuffered ?? configuration.maximumBuffered,
      highWater: configuration.highWater, stallTimeout: configuration.stallTimeout,
      budget: budget, closeTimeout: configuration.closeTimeout)
    let connection = SocketConnection(loop: loop, wsi: wsi, limits: limits, isClient: false)
    let id = connection.id
    connections[id] = connection
    watchLife()
    connection.onClosed = { [weak self] in
      self?.connections[id] = nil
      self?.finishIfGone()
    }
    return connection
  }

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

  override func accept(_ connection: SocketConnection, _ wsi: OpaquePointer) {
    guard let upgrading else { return }
    connection.attach(upgrading.endpoint.acceptor.accept(connection, upgrading.handshake))
  }

  override func socketDestroyed() {
    super.socketDestroyed()
    finishIfGone()
  }

  var statistics: SocketStatistics {
    SocketStatistics(
      connections: connections.count,
      queuedBytes: budget.used, queueLimit: budget.limit, traffic: loop.traffic)
  }

  // MARK: Stop

  func stop(drain: CloseCode, grace: Duration, _ done: @escaping () -> Void) {
    if isStopped { return done() }
    onStopped.append(done)
    guard !isStopping else { return }
    isStopping = true
    for connection in Array(connections.values) {
      connection.close(drain, "the server is ending")
    }
    for request in Array(requests.values) { request.endUnlessAnswering() }
    graceTimer = loop.schedule(after: grace) { [weak self] in self?.cutOff() }
    finishIfGone()
  }

  private func cutOff() {
    closeListener()
    for request in Array(requests.values) { request.close() }
    for connection in connections.values { connection.kill() }
    // Cut off sockets end within a turn or two; what lws should keep even so is not waited for.
    graceTimer = loop.schedule(after: .seconds(2)) { [weak self] in self?.finish() }
    finishIfGone()
  }

  private func finishIfGone() {
    guard isStopping, !isStopped, connections.isEmpty, (host?.socketCount ?? 0) == 0 else {
      return
    }
    // Until then whoever asks is told that the server is ending.
    closeListener()
    guard requests.isEmpty else { return }
    // lws still counts the socket that it is telling the end of.
    loop.execute { [self] in finish() }
  }

  private func finish() {
    guard !isStopped else { return }
    isStopped = true
    graceTimer?.cancel()
    graceTimer = nil
    lifeTimer?.cancel()
    lifeTimer = nil
    loop.endings[ObjectIdentifier(self)] = nil
    host?.destroy()
    // It may refer to this server.
    responder = nil
    let waiting = onStopped
    onStopped = []
    for done in waiting { done() }
  }

  /// The loop ends: lets go of all handles. lws closes its sockets with its context.
  private func end() {
    isStopping = true
    closeListener()
    for request in Array(requests.values) { request.close() }
    for connection in connections.values { connection.kill() }
    loop.execute { [self] in finish() }
  }
}
