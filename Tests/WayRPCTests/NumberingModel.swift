import WayRPC
import WayValues

/// Two peers that number what they say to each other, and the connection between them, as a value:
/// every event that may happen makes another one of it.
///
/// A peer makes its requests, and answers what it was asked, whenever it likes. A connection is
/// lost for both of them, or for the client alone: then the server goes on with what has been on its
/// way, and speaks to nobody, until it hears of a new connection, which steals the client.
struct NumberingModel: Hashable {
  /// What was said and taken, in its order: requests by their number, answers by 10 more.
  typealias Word = UInt8

  struct Peer: Hashable {
    var numbering = SequenceState()
    var toAsk: [Word]
    var said: [Word] = []
    var taken: [Word] = []

    init(asking toAsk: [Word]) {
      self.toAsk = toAsk
    }

    /// What it was asked and has not answered.
    var owed: [Word] { taken.filter { $0 < 10 && !said.contains($0 + 10) } }
  }

  enum Frame: Hashable {
    case message([UInt8])
    case ack(UInt64)
    /// `session.resume` with the last number that the client took.
    case resume(UInt64)
    /// Its answer, with the last that the server took.
    case welcome(UInt64)
  }

  enum Side: Hashable {
    case client, server
  }

  enum Event: Hashable {
    case ask(Side)
    case answer(Side, Word)
    case ack(Side)
    /// The next frame comes to this side.
    case deliver(Side)
    /// What a client has sent over a connection that it has given up comes to the server.
    case deliverLate
    case lose
    case loseAtClient
    /// The server hears that what the client has given up is lost.
    case loseAtServer
    case connect
  }

  enum Line: Hashable {
    case none, greeting, open
  }

  var client: Peer
  var server: Peer
  var clientLine = Line.open
  /// Whether the server has a connection, be it one that the client has given up.
  var isServerConnected = true
  var toClient: [Frame] = []
  var toServer: [Frame] = []
  var late: [Frame] = []
  /// How often a connection may still be lost.
  var losses: Int
  /// What has gone wrong.
  var fault: String?

  init(clientAsks: [Word], serverAsks: [Word], losses: Int) {
    client = Peer(asking: clientAsks)
    server = Peer(asking: serverAsks)
    self.losses = losses
  }

  /// What may happen next.
  var events: [Event] {
    var events: [Event] = []
    for (side, peer) in [(Side.client, client), (.server, server)] {
      if !peer.toAsk.isEmpty { events.append(.ask(side)) }
      events += peer.owed.map { .answer(side, $0) }
      let isOpen = side == .client ? clientLine == .open : isServerConnected
      if isOpen, peer.numbering.owesAck { events.append(.ack(side)) }
    }
    if !toClient.isEmpty { events.append(.deliver(.client)) }
    if !toServer.isEmpty { events.append(.deliver(.server)) }
    if !late.isEmpty { events.append(.deliverLate) }
    if clientLine != .none, losses > 0 { events += [.lose, .loseAtClient] }
    if clientLine == .none, isServerConnected { events.append(.loseAtServer) }
    // A hello that is still under way comes, or is lost, before the next.
    if clientLine == .none, !late.contains(where: \.isResume) { events.append(.connect) }
    return events
  }

  func after(_ event: Event) -> NumberingModel {
    var next = self
    next.happen(event)
    return next
  }

  private mutating func happen(_ event: Event) {
    switch event {
    case .ask(let side): say(self[side].toAsk.removeFirst(), side)
    case .answer(let side, let request): say(request + 10, side)
    case .ack(let side): transmit(.ack(self[side].numbering.acknowledge()), from: side)
    case .deliver(.client): take(toClient.removeFirst(), at: .client)
    case .deliver(.server): take(toServer.removeFirst(), at: .server)
    case .deliverLate: take(late.removeFirst(), at: .server)
    case .lose:
      clientIsAlone()
      loseAtServer()
    case .loseAtClient:
      let onTheWay = toServer
      clientIsAlone()
      late = onTheWay
    case .loseAtServer: loseAtServer()
    case .connect:
      clientLine = .greeting
      toServer = [.resume(client.numbering.acknowledge())]
    }
  }

  private mutating func clientIsAlone() {
    losses -= 1
    clientLine = .none
    (toClient, toServer) = ([], [])
  }

  private mutating func loseAtServer() {
    isServerConnected = false
    late = []
  }

  private subscript(side: Side) -> Peer {
    get { side == .client ? client : server }
    set { if side == .client { client = newValue } else { server = newValue } }
  }

  private mutating func say(_ word: Word, _ side: Side) {
    self[side].said.append(word)
    var writer = MessageWriter()
    try? writer.notification("\(word)")
    let isOpen = side == .client ? clientLine == .open : isServerConnected
    guard isOpen else { return self[side].numbering.outbox.hold(writer.bytes) }
    var frames: [Frame] = []
    self[side].numbering.outbox.add(writer.bytes) { frames.append(.message($0.bytes)) }
    for frame in frames { transmit(frame, from: side) }
  }

  private mutating func transmit(_ frame: Frame, from side: Side) {
    if side == .client {
      toServer.append(frame)
    } else if clientLine != .none, !isLate {
      toClient.append(frame)
    }
  }

  /// Whether the server speaks over a connection that the client has given up.
  private var isLate: Bool { clientLine == .none || toServer.contains(where: \.isResume) }

  private mutating func take(_ frame: Frame, at side: Side) {
    switch frame {
    case .message(let bytes): take(bytes, at: side)
    case .ack(let number):
      if !self[side].numbering.outbox.acknowledge(number) { fault = "an ack of \(number)" }
    case .resume(let received):
      late = []
      isServerConnected = true
      transmit(.welcome(server.numbering.received), from: .server)
      goOn(after: received, at: .server)
    case .welcome(let received):
      clientLine = .open
      goOn(after: received, at: .client)
    }
  }

  private mutating func goOn(after number: UInt64, at side: Side) {
    guard
      self[side].numbering.resumption(after: number, isReloaded: false) == .after(number)
    else {
      fault = "\(side) cannot go on after \(number)"
      return
    }
    var frames: [Frame] = []
    self[side].numbering.resume(after: number, { frames.append(.message($0.bytes)) })
    for frame in frames { transmit(frame, from: side) }
  }

  private mutating func take(_ bytes: [UInt8], at side: Side) {
    var numbers = SequenceNumbers.none
    let incoming = MessageDecoder().decode(bytes.span.bytes, &numbers)
    guard case .message(.notification(let notification)) = incoming,
      let word = Word(notification.method)
    else {
      fault = "no message"
      return
    }
    switch self[side].numbering.receive(numbers, bytes: bytes.count) {
    case .take: self[side].taken.append(word)
    case .drop: break
    case .gap: fault = "\(side) misses what comes before \(numbers.first)"
    }
  }

  /// What does not hold, though it must in every state.
  var violation: String? {
    if let fault { return fault }
    for (peer, other) in [(client, server), (server, client)] {
      guard other.said.starts(with: peer.taken) else {
        return "\(peer.taken) was taken of \(other.said)"
      }
      let outbox = peer.numbering.outbox
      guard outbox.count == peer.said.count - Int(outbox.acknowledged) else {
        return "\(outbox.count) are kept of \(peer.said.count), \(outbox.acknowledged) acknowledged"
      }
      guard outbox.acknowledged <= other.numbering.received else {
        return "\(outbox.acknowledged) acknowledged of \(other.numbering.received)"
      }
    }
    return nil
  }

  /// What does not hold where nothing can happen any more: each request has its one answer, and
  /// nothing is kept.
  var violationAtEnd: String? {
    for (peer, other) in [(client, server), (server, client)] {
      let requests = peer.said.filter { $0 < 10 }
      for request in requests {
        let answers = peer.taken.filter { $0 == request + 10 }.count
        if answers != 1 { return "\(request) has \(answers) answers" }
      }
      guard peer.toAsk.isEmpty, peer.taken == other.said, peer.numbering.outbox.count == 0 else {
        return "\(peer.said) was said and \(other.taken) taken"
      }
    }
    return nil
  }
}

extension NumberingModel.Frame {
  fileprivate var isResume: Bool {
    if case .resume = self { true } else { false }
  }
}

extension RawSpan {
  fileprivate var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}
