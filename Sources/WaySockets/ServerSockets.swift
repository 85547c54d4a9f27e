import Glibc
import Synchronization
import WayTransport

/// The listening socket of a server, and all connections that came by it until they speak WebSocket,
/// when one of the server's loops takes them.
final class ServerSockets: @unchecked Sendable {  // confined to its loop
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
  private var address = ListenAddress.none
  private var requests: [ObjectIdentifier: HTTPConnection] = [:]
  /// Those of the requests that came when the server was full, in order.
  private var extras: [HTTPConnection] = []
  /// The WebSocket connections, by their loops; the first is this one.
  private let places: [SocketLoopServer]
  /// How many WebSocket connections there are.
  private var connectionCount = 0
  /// How many of the places have not stopped.
  private var runningPlaces = 0
  /// The place that was chosen last.
  private var lastPlace = 0
  private var onStopped: [() -> Void] = []
  private var isStopped = false
  private var graceTimer: (any ScheduledWork)?

  /// Listens on the first of the loops.
  init(
    configuration: SocketServerConfiguration, endpoints: [Endpoint], loop: SocketLoop,
    places: [SocketLoopServer]
  ) {
    self.configuration = configuration
    self.places = places
    bodies = ByteBudget(.server, configuration.maximumBodies)
    access = AccessCheck(rules: configuration.access, address: .none)
    self.endpoints = endpoints
    self.loop = loop
  }

  // MARK: Start

  /// Sees whether all that it was told can be done, and gives the names of the subprotocols.
  func check() throws(SocketError) -> [String] {
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
    return subprotocols
  }

  /// Listens, when every place has begun.
  func listen(_ responder: HTTPResponder?) throws(SocketError) -> ListenAddress {
    let listener = try Listener(
      configuration, loop: loop, onTaken: { [weak self] in self?.take($0, $1) },
      onTurnedAway: { [weak self] in self?.refused(.exhausted, from: nil) })
    self.listener = listener
    address = listener.socket.address
    runningPlaces = places.count
    set(access.rules)
    loop.endings[ObjectIdentifier(self)] = { [weak self] in self?.end() }
    self.responder = responder
    return address
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
      refused(.full, from: peer.text)
      guard let oldest = extras.first(where: \.isWaiting) else {
        return OutgoingResponse(fault: .full).sendAndClose(descriptor)
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
    requests.count - extras.count + connectionCount >= configuration.maximumConnections
  }

  /// Whether a connection is one of those that the server takes of any kind; one that came when it
  /// was full becomes one where there is room by now.
  func hasSlot(_ request: HTTPConnection) -> Bool {
    guard let index = extras.firstIndex(where: { $0 === request }) else { return true }
    if isFull { return false }
    extras.remove(at: index)
    return true
  }

  /// Counts and tells a request that is refused; whether it was a handshake cannot be told where
  /// it was not read. `address` is whose it was; nil where that is not known.
  func refused(_ fault: RequestFault, from address: String?, isHandshake: Bool = false) {
    loop.traffic.refused(fault.kind, isHandshake: isHandshake)
    configuration.onRefused(fault.status, fault.reason, fault.hint, address)
  }

  func ended(_ request: HTTPConnection) {
    requests[ObjectIdentifier(request)] = nil
    extras.removeAll { $0 === request }
    finishIfGone()
  }

  /// Hands a socket whose handshake is done to the loop that has the fewest.
  func upgrade(_ descriptor: Int32, _ upgrade: WebSocketUpgrade) {
    connectionCount += 1
    // In turn where they have the same.
    let turns = (1...places.count).map { (lastPlace + $0) % places.count }
    lastPlace =
      turns.min { one, other in
        places[one].load.load(ordering: .relaxed) < places[other].load.load(ordering: .relaxed)
      } ?? 0
    places[lastPlace].take(descriptor, upgrade, id: SocketConnection.makeID())
  }

  /// A WebSocket connection has ended, on any loop.
  func connectionEnded() {
    loop.reach { [self] in
      connectionCount -= 1
      finishIfGone()
    }
  }

  /// A place has stopped.
  func placeIsOver() {
    loop.reach { [self] in
      runningPlaces -= 1
      finishIfGone()
    }
  }

  // MARK: Stop

  func stop(drain: CloseCode, grace: Duration, _ done: @escaping () -> Void) {
    if isStopped { return done() }
    onStopped.append(done)
    guard !isStopping else { return }
    isStopping = true
    for place in places { place.loop.execute { place.stop(drain: drain) } }
    for request in Array(requests.values) { request.endUnlessAnswering() }
    graceTimer = loop.schedule(after: grace) { [weak self] in self?.cutOff() }
    finishIfGone()
  }

  private func cutOff() {
    closeListener()
    for request in Array(requests.values) { request.close() }
    for place in places { place.loop.execute { place.cutOff() } }
    // Cut off sockets end within a turn or two; what lws should keep even so is not waited for.
    graceTimer = loop.schedule(after: .seconds(2)) { [weak self] in
      guard let self else { return }
      for place in places { place.loop.execute { place.finish() } }
      finish()
    }
    finishIfGone()
  }

  private func finishIfGone() {
    guard isStopping, !isStopped, runningPlaces == 0 else { return }
    // Until then whoever asks is told that the server is ending.
    closeListener()
    if requests.isEmpty { finish() }
  }

  private func finish() {
    guard !isStopped else { return }
    isStopped = true
    graceTimer?.cancel()
    graceTimer = nil
    loop.endings[ObjectIdentifier(self)] = nil
    // It may refer to this server.
    responder = nil
    let waiting = onStopped
    onStopped = []
    for done in waiting { done() }
  }

  /// The loop ends: lets go of all handles.
  private func end() {
    isStopping = true
    closeListener()
    for request in Array(requests.values) { request.close() }
    loop.execute { [self] in finish() }
  }
}
