import Glibc
import Synchronization
import WayTransport

/// The listening sockets of a server, and all its connections until they upgrade to WebSocket. One
/// of the server's loops then adopts them.
final class ServerSockets: @unchecked Sendable {  // confined to its loop
  /// The likely time to write to a connection or to close it, in nanoseconds.
  private static let writeCost: UInt64 = 10_000

  let configuration: SocketServerConfiguration
  let endpoints: [Endpoint]
  let loop: SocketLoop
  private(set) var responder: HTTPResponder?
  private(set) var files: StaticFiles?
  /// The access check; changes with the rules.
  private(set) var access: AccessCheck
  /// The header fields of every file; change with the rules.
  private var fileHeaders: [(String, String)] = []
  /// The header fields of files in folders with a policy of their own.
  private var folderHeaders: [String: [(String, String)]] = [:]
  /// The memory budget of request bodies.
  let bodyBudget: ByteBudget
  /// The memory budget of long request heads.
  let headBudget: ByteBudget
  private(set) var isStopping = false

  private var listener: SocketListener?
  private var address = SocketListenAddress.none
  private var httpConnections: [UInt64: HTTPConnection] = [:]
  /// Connections that were accepted when the server was full, in order.
  private var overflowConnections: [HTTPConnection] = []
  /// The WebSocket connections of each loop. The first loop is that of this object.
  private let loopServers: [SocketLoopServer]
  private var admission: ConnectionAdmission
  /// Number of loop servers that have not stopped.
  private var runningLoopServers = 0
  /// The index of the loop server that was selected last.
  private var lastLoopServer = 0
  private var onStopped: [() -> Void] = []
  private var isStopped = false
  private var graceTimer: (any ScheduledWork)?

  /// Creates the sockets of a server that listens on the first of the loops.
  init(
    configuration: SocketServerConfiguration, endpoints: [Endpoint], loop: SocketLoop,
    loopServers: [SocketLoopServer]
  ) {
    self.configuration = configuration
    self.loopServers = loopServers
    bodyBudget = ByteBudget(
      .server, min(configuration.maximumBodies, configuration.limits.maxServerBytes))
    headBudget = ByteBudget(
      .server, min(configuration.maximumHeads, configuration.limits.maxServerBytes))
    access = AccessCheck(rules: configuration.access, address: .none)
    admission = ConnectionAdmission(configuration)
    self.endpoints = endpoints
    self.loop = loop
  }

  /// Checks the configuration, and returns the names of the subprotocols.
  func check() throws(SocketError) -> [String] {
    guard listener == nil, !isStopping else {
      throw SocketError(.ended, "a server can be started only once")
    }
    try configuration.check()
    if let root = configuration.web.root { files = try StaticFiles(root: root) }
    var subprotocols: [String] = []
    for name in endpoints.flatMap(\.subprotocols) where !subprotocols.contains(name) {
      guard name.utf8.allSatisfy(isTokenByte), (1...64).contains(name.utf8.count) else {
        throw SocketError(.invalid, "\(quoted(name)) is not a name of a subprotocol")
      }
      subprotocols.append(name)
    }
    return subprotocols
  }

  /// Starts to listen, once every loop server has started.
  func listen(_ responder: HTTPResponder?) throws(SocketError) -> SocketListenAddress {
    let listener = try SocketListener(
      configuration, loop: loop, onAccept: { [weak self] in self?.accept($0, $1) },
      onReject: { [weak self] in self?.recordRejection(.exhausted, from: nil) })
    self.listener = listener
    address = listener.address
    runningLoopServers = loopServers.count
    apply(access.rules)
    loop.shutdownHandlers[ObjectIdentifier(self)] = { [weak self] in self?.end() }
    self.responder = responder
    return address
  }

  /// Applies the rules to all following requests.
  func apply(_ rules: AccessRules) {
    access = AccessCheck(
      rules: rules, address: address,
      handshakeHeaders: configuration.network.handshakeHeaders.map { $0.lowercased() })
    fileHeaders = FileHeaders.fields(
      policy: configuration.web.contentSecurityPolicy, origins: rules.origins)
    folderHeaders = configuration.folderPolicies.mapValues {
      FileHeaders.fields(policy: $0, origins: rules.origins)
    }
  }

  /// The header fields that protect the file of a path, which begins after the server's prefix.
  func fileHeaders(of path: String) -> [(String, String)] {
    guard !folderHeaders.isEmpty else { return fileHeaders }
    let folder = path.dropFirst().prefix { $0 != "/" }
    return folderHeaders[String(folder)] ?? fileHeaders
  }

  private func closeListener() {
    listener?.close()
    listener = nil
  }

  private func accept(_ descriptor: Int32, _ peer: SocketPeer) {
    do throws(HTTPRequestRejection) {
      let slot = try access.countedClient(of: peer).map(slot)
      if let id = try admission.connectionToReplace(isFull: isFull, where: mayReplace) {
        closeUnadmitted(id)
      }
      accept(descriptor, peer, slot)
    } catch {
      recordRejection(error, from: peer.text)
      OutgoingResponse(rejection: error).sendAndClose(descriptor)
    }
  }

  private func accept(_ descriptor: Int32, _ peer: SocketPeer, _ slot: AddressQuota.Slot?) {
    let isExtra = isFull
    if isExtra, overflowConnections.count >= configuration.maximumOverflowConnections {
      recordRejection(.full, from: peer.text)
      guard let oldest = overflowConnections.first(where: \.isAwaitingRequest) else {
        return OutgoingResponse(rejection: .full).sendAndClose(descriptor)
      }
      oldest.rejectAndClose(.full)
    }
    guard
      let request = HTTPConnection(descriptor: descriptor, peer: peer, slot: slot, server: self)
    else {
      Glibc.close(descriptor)
      return
    }
    httpConnections[request.id] = request
    admission.accepted(request.id)
    if isExtra { overflowConnections.append(request) }
  }

  private var isFull: Bool {
    httpConnections.count - overflowConnections.count + admission.countedWebSockets
      >= configuration.limits.maxConnections
  }

  /// Takes a slot of a client's address.
  func slot(of client: SocketForwardedNode) throws(HTTPRequestRejection) -> AddressQuota.Slot {
    try admission.slot(of: client, at: loop.nanoseconds)
  }

  /// Whether a connection without an authenticated client may be closed for another one. It is not
  /// while it receives a response.
  private func mayReplace(_ id: UInt64) -> Bool {
    guard let request = httpConnections[id] else { return true }
    guard !request.isStreaming else { return true }
    return request.isAwaitingRequest && !overflowConnections.contains { $0 === request }
  }

  private func closeUnadmitted(_ id: UInt64) {
    if let request = httpConnections[id] {
      recordRejection(.unauthenticated, from: request.peerText)
      request.rejectAndClose(.unauthenticated)
    } else {
      for loopServer in loopServers {
        loopServer.loop.execute { loopServer.abortUnadmitted(id) }
      }
    }
  }

  /// Makes room for a WebSocket connection of an administrator, when the server is full.
  func reserveWebSocket() throws(HTTPRequestRejection) {
    if let id = try admission.reservedConnectionToReplace() { closeUnadmitted(id) }
  }

  /// Whether a connection counts toward the server's limit. An overflow connection gets a slot if
  /// one is free by now.
  func hasSlot(_ request: HTTPConnection) -> Bool {
    guard let index = overflowConnections.firstIndex(where: { $0 === request }) else { return true }
    if isFull { return false }
    overflowConnections.remove(at: index)
    return true
  }

  /// Counts and reports a rejected request. A request that was not read does not count as a
  /// handshake. `address` is the client's address, and `origin` its Origin header; `nil` if they are
  /// unknown.
  func recordRejection(
    _ rejection: HTTPRequestRejection, from address: String?, origin: String? = nil,
    isHandshake: Bool = false
  ) {
    loop.traffic.recordRejection(rejection.kind, isHandshake: isHandshake)
    configuration.onRejection(RejectedRequest(rejection, from: address, origin: origin))
  }

  func ended(_ request: HTTPConnection) {
    httpConnections[request.id] = nil
    admission.ended(request.id, isWebSocket: false)
    overflowConnections.removeAll { $0 === request }
    finishIfEmpty()
  }

  /// Records that a connection sends a streamed response.
  func streamStarted(_ stream: StreamedResponse, isAuthenticated: Bool) {
    loopServers[0].streamStarted(stream)
    if isAuthenticated { admission.admitted(stream.id) }
  }

  /// Records that the streamed response of a connection has ended. The connection may get another
  /// request, whose client is not known yet.
  func streamEnded(_ id: UInt64, wasAuthenticated: Bool) {
    loopServers[0].streamEnded(id)
    if wasAuthenticated { admission.accepted(id) }
  }

  /// The limits of streamed responses.
  var streamLimits: ConnectionLimits { loopServers[0].streamLimits }

  /// Passes a socket after its handshake to the loop with the fewest connections.
  func upgrade(_ descriptor: Int32, _ upgrade: WebSocketUpgrade, id: UInt64) {
    admission.upgraded(id, upgrade)
    // Round robin between loops with the same number.
    let candidates = (1...loopServers.count).map { (lastLoopServer + $0) % loopServers.count }
    lastLoopServer =
      candidates.min { one, other in
        loopServers[one].assignedConnections.load(ordering: .relaxed)
          < loopServers[other].assignedConnections.load(ordering: .relaxed)
      } ?? 0
    loopServers[lastLoopServer].accept(descriptor, upgrade, id: id)
  }

  /// Records that the client of a WebSocket connection is authenticated, on any loop.
  func connectionAdmitted(_ id: UInt64) {
    loop.perform { [self] in admission.admitted(id) }
  }

  /// Records that a WebSocket connection has ended, on any loop.
  func connectionEnded(_ id: UInt64) {
    loop.perform { [self] in
      admission.ended(id, isWebSocket: true)
      finishIfEmpty()
    }
  }

  var admissionStatistics: AdmissionStatistics { admission.statistics }

  /// Records that a loop server has stopped.
  func loopServerStopped() {
    loop.perform { [self] in
      runningLoopServers -= 1
      finishIfEmpty()
    }
  }

  func stop(drain: CloseCode, grace: Duration, _ done: @escaping () -> Void) {
    if isStopped { return done() }
    onStopped.append(done)
    guard !isStopping else { return }
    isStopping = true
    for loopServer in loopServers { loopServer.loop.execute { loopServer.stop(drain: drain) } }
    for request in Array(httpConnections.values) {
      // Thousands of streamed responses may have to be written to.
      if request.isStreaming {
        loop.executeInShare(cost: Self.writeCost) { request.closeUnlessResponding() }
      } else {
        request.closeUnlessResponding()
      }
    }
    graceTimer = loop.schedule(after: grace) { [weak self] in self?.forceClose() }
    finishIfEmpty()
  }

  private func forceClose() {
    closeListener()
    for request in httpConnections.values {
      loop.executeInShare(cost: Self.writeCost) { request.close(.closedByServer) }
    }
    for loopServer in loopServers { loopServer.loop.execute { loopServer.forceClose() } }
    // Closed sockets end within a turn or two. The server does not wait for sockets that lws keeps
    // even so.
    graceTimer = loop.schedule(after: .seconds(2)) { [weak self] in
      guard let self else { return }
      for loopServer in loopServers { loopServer.loop.execute { loopServer.finish() } }
      finish()
    }
    finishIfEmpty()
  }

  private func finishIfEmpty() {
    guard isStopping, !isStopped, runningLoopServers == 0 else { return }
    // Until now the server has rejected requests with the reason that it is ending.
    closeListener()
    if httpConnections.isEmpty { finish() }
  }

  private func finish() {
    guard !isStopped else { return }
    isStopped = true
    graceTimer?.cancel()
    graceTimer = nil
    loop.shutdownHandlers[ObjectIdentifier(self)] = nil
    // The responder may refer to this server.
    responder = nil
    let handlers = onStopped
    onStopped = []
    for done in handlers { done() }
  }

  /// Releases all handles, because the loop ends.
  private func end() {
    isStopping = true
    closeListener()
    for request in Array(httpConnections.values) { request.close(.closedByServer) }
    loop.execute { [self] in finish() }
  }
}
