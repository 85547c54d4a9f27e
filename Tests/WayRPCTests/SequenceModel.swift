import WayRPC
import WayValues

/// A model of two peers that number their messages, and of the connection between them. It is a
/// value: every possible event produces another one.
///
/// A peer sends requests and responds to requests at any time. A connection is lost for both peers,
/// or for the client alone. In the second case the server still processes the messages in flight.
/// Its own messages reach no client until a new connection replaces the old one.
struct SequenceModel: Hashable {
  /// A sent or received message: a request is its number, a response is that number plus 10.
  typealias MessageCode = UInt8

  struct ModelPeer: Hashable {
    var sequence = SequenceState()
    var pendingRequests: [MessageCode]
    var sent: [MessageCode] = []
    var received: [MessageCode] = []

    init(requests: [MessageCode]) {
      self.pendingRequests = requests
    }

    /// The received requests that this peer has not responded to.
    var unansweredRequests: [MessageCode] { received.filter { $0 < 10 && !sent.contains($0 + 10) } }
  }

  enum ModelFrame: Hashable {
    case message([UInt8])
    case ack(UInt64)
    /// `session.resume` with the number of the last message that the client accepted.
    case resume(UInt64)
    /// Its result, with the number of the last message that the server accepted.
    case resumeResult(UInt64)
  }

  enum ModelSide: Hashable {
    case client, server
  }

  enum ModelEvent: Hashable {
    case request(ModelSide)
    case respond(ModelSide, MessageCode)
    case ack(ModelSide)
    /// This side receives its next frame.
    case deliver(ModelSide)
    /// The server receives a frame that the client sent over a connection that it has since
    /// abandoned.
    case deliverLate
    case disconnect
    case disconnectClient
    /// The server detects the loss of a connection that the client has abandoned.
    case disconnectServer
    case connect
  }

  enum ModelConnectionState: Hashable {
    case closed, resuming, open
  }

  var client: ModelPeer
  var server: ModelPeer
  var clientConnection = ModelConnectionState.open
  /// Whether the server has a connection, even one that the client has abandoned.
  var isServerConnected = true
  var framesToClient: [ModelFrame] = []
  var framesToServer: [ModelFrame] = []
  var lateFrames: [ModelFrame] = []
  /// How many times a connection may still be lost.
  var remainingLosses: Int
  /// The first error.
  var fault: String?

  init(clientRequests: [MessageCode], serverRequests: [MessageCode], remainingLosses: Int) {
    client = ModelPeer(requests: clientRequests)
    server = ModelPeer(requests: serverRequests)
    self.remainingLosses = remainingLosses
  }

  /// The possible next events.
  var possibleEvents: [ModelEvent] {
    var events: [ModelEvent] = []
    for (side, peer) in [(ModelSide.client, client), (.server, server)] {
      if !peer.pendingRequests.isEmpty { events.append(.request(side)) }
      events += peer.unansweredRequests.map { .respond(side, $0) }
      let isOpen = side == .client ? clientConnection == .open : isServerConnected
      if isOpen, peer.sequence.hasUnacknowledged { events.append(.ack(side)) }
    }
    if !framesToClient.isEmpty { events.append(.deliver(.client)) }
    if !framesToServer.isEmpty { events.append(.deliver(.server)) }
    if !lateFrames.isEmpty { events.append(.deliverLate) }
    if clientConnection != .closed, remainingLosses > 0 {
      events += [.disconnect, .disconnectClient]
    }
    if clientConnection == .closed, isServerConnected { events.append(.disconnectServer) }
    // A `session.resume` that is still in flight arrives or is lost before the next one.
    if clientConnection == .closed, !lateFrames.contains(where: \.isResume) {
      events.append(.connect)
    }
    return events
  }

  func applying(_ event: ModelEvent) -> SequenceModel {
    var next = self
    next.apply(event)
    return next
  }

  private mutating func apply(_ event: ModelEvent) {
    switch event {
    case .request(let side): send(self[side].pendingRequests.removeFirst(), side)
    case .respond(let side, let request): send(request + 10, side)
    case .ack(let side): transmit(.ack(self[side].sequence.acknowledge()), from: side)
    case .deliver(.client): receive(framesToClient.removeFirst(), at: .client)
    case .deliver(.server): receive(framesToServer.removeFirst(), at: .server)
    case .deliverLate: receive(lateFrames.removeFirst(), at: .server)
    case .disconnect:
      disconnectClient()
      disconnectServer()
    case .disconnectClient:
      let onTheWay = framesToServer
      disconnectClient()
      lateFrames = onTheWay
    case .disconnectServer: disconnectServer()
    case .connect:
      clientConnection = .resuming
      framesToServer = [.resume(client.sequence.acknowledge())]
    }
  }

  private mutating func disconnectClient() {
    remainingLosses -= 1
    clientConnection = .closed
    (framesToClient, framesToServer) = ([], [])
  }

  private mutating func disconnectServer() {
    isServerConnected = false
    lateFrames = []
  }

  private subscript(side: ModelSide) -> ModelPeer {
    get { side == .client ? client : server }
    set { if side == .client { client = newValue } else { server = newValue } }
  }

  private mutating func send(_ word: MessageCode, _ side: ModelSide) {
    self[side].sent.append(word)
    var writer = MessageWriter()
    try? writer.writeNotification("\(word)")
    let isOpen = side == .client ? clientConnection == .open : isServerConnected
    guard isOpen else { return self[side].sequence.outbox.enqueue(writer.bytes) }
    var frames: [ModelFrame] = []
    self[side].sequence.outbox.add(writer.bytes) { frames.append(.message($0.bytes)) }
    for frame in frames { transmit(frame, from: side) }
  }

  private mutating func transmit(_ frame: ModelFrame, from side: ModelSide) {
    if side == .client {
      framesToServer.append(frame)
    } else if clientConnection != .closed, !isServerConnectionStale {
      framesToClient.append(frame)
    }
  }

  /// Whether the server sends over a connection that the client has abandoned.
  private var isServerConnectionStale: Bool {
    clientConnection == .closed || framesToServer.contains(where: \.isResume)
  }

  private mutating func receive(_ frame: ModelFrame, at side: ModelSide) {
    switch frame {
    case .message(let bytes): receive(bytes, at: side)
    case .ack(let number):
      if !self[side].sequence.outbox.acknowledge(number) { fault = "an ack of \(number)" }
    case .resume(let received):
      lateFrames = []
      isServerConnected = true
      transmit(.resumeResult(server.sequence.received), from: .server)
      resume(after: received, at: .server)
    case .resumeResult(let received):
      clientConnection = .open
      resume(after: received, at: .client)
    }
  }

  private mutating func resume(after number: UInt64, at side: ModelSide) {
    guard
      self[side].sequence.resumePoint(after: number, isReloaded: false) == .after(number)
    else {
      fault = "\(side) cannot go on after \(number)"
      return
    }
    var frames: [ModelFrame] = []
    self[side].sequence.resume(after: number, { frames.append(.message($0.bytes)) })
    for frame in frames { transmit(frame, from: side) }
  }

  private mutating func receive(_ bytes: [UInt8], at side: ModelSide) {
    var numbers = SequenceNumbers.none
    let incoming = MessageDecoder().decode(bytes.span.bytes, &numbers)
    guard case .message(.notification(let notification)) = incoming,
      let word = MessageCode(notification.method)
    else {
      fault = "no message"
      return
    }
    switch self[side].sequence.receive(numbers, bytes: bytes.count) {
    case .accept: self[side].received.append(word)
    case .duplicate: break
    case .gap: fault = "\(side) misses what comes before \(numbers.first)"
    }
  }

  /// The violated invariant, if any. Invariants hold in every state.
  var violation: String? {
    if let fault { return fault }
    for (peer, other) in [(client, server), (server, client)] {
      guard other.sent.starts(with: peer.received) else {
        return "\(peer.received) was received of \(other.sent)"
      }
      let outbox = peer.sequence.outbox
      guard outbox.count == peer.sent.count - Int(outbox.acknowledged) else {
        return "\(outbox.count) are kept of \(peer.sent.count), \(outbox.acknowledged) acknowledged"
      }
      guard outbox.acknowledged <= other.sequence.received else {
        return "\(outbox.acknowledged) acknowledged of \(other.sequence.received)"
      }
    }
    return nil
  }

  /// The violated final condition, if any: when no event is possible, each request has exactly one
  /// response and no message is retained.
  var violationAtEnd: String? {
    for (peer, other) in [(client, server), (server, client)] {
      let requests = peer.sent.filter { $0 < 10 }
      for request in requests {
        let responses = peer.received.filter { $0 == request + 10 }.count
        if responses != 1 { return "\(request) has \(responses) responses" }
      }
      guard peer.pendingRequests.isEmpty, peer.received == other.sent,
        peer.sequence.outbox.count == 0
      else {
        return "\(peer.sent) was sent and \(other.received) received"
      }
    }
    return nil
  }
}

extension SequenceModel.ModelFrame {
  fileprivate var isResume: Bool {
    if case .resume = self { true } else { false }
  }
}

extension RawSpan {
  fileprivate var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}
