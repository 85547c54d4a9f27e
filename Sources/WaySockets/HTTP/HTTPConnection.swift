import Glibc
import WayTransport

/// One client that speaks HTTP, up to the point where it upgrades to WebSocket or goes.
///
/// One request at a time: while an answer is made or written, no more is read than tells that the
/// client has gone, so that it cannot make the server hold more than one request.
final class HTTPConnection: @unchecked Sendable {  // confined to the server's loop
  private enum Phase {
    case reading
    case readingBody
    /// Someone has the body, and answers in his time.
    case answering
    case writing
    /// All is said; what the client still sends is read away, since closing on it would reset the
    /// connection and might cost the client the answer.
    case lingering
    case closed
  }

  /// Bytes that are read away after the last answer, at most.
  private static let maximumLingered = 256 * 1024
  /// Bytes that are read at a time.
  private static let chunk = 16 * 1024

  private let descriptor: Int32
  private let peer: SocketPeer
  private let server: ServerSockets
  private var poll: PollHandle?
  private var phase = Phase.reading
  private var input: [UInt8] = []
  private var heads: HeadReader
  private var body: RequestBody?
  /// What makes the answer, and the number by which it is known.
  private var work: (any ScheduledWork)?
  private var workNumber = 0
  private var writer: ResponseWriter?
  private var lastProgress = 0
  /// The handshake that is answered.
  private var upgrade: WebSocketUpgrade?
  private var keepsAlive = false
  private var lingered = 0
  private var timer: (any ScheduledWork)?

  /// Nil where the loop cannot watch the descriptor.
  init?(descriptor: Int32, peer: SocketPeer, server: ServerSockets) {
    self.descriptor = descriptor
    self.peer = peer
    self.server = server
    heads = HeadReader(limit: server.configuration.maximumHead)
    do {
      let poll = try PollHandle(loop: server.loop, descriptor: descriptor) {
        [weak self] readable, writable in
        self?.ready(readable: readable, writable: writable)
      }
      self.poll = poll
      poll.watch(readable: true, writable: false)
    } catch {
      return nil
    }
    startTimer(server.configuration.headTimeout)
  }

  /// No request of it has been read yet.
  var isWaiting: Bool {
    if case .reading = phase { true } else { false }
  }

  /// Closes unless an answer is under way, which then is the last.
  func endUnlessAnswering() {
    keepsAlive = false
    switch phase {
    case .answering, .writing: break
    case .readingBody: refuse(.ending)
    case .reading, .lingering, .closed: close()
    }
  }

  /// Closes at once. Idempotent.
  func close() {
    guard detach() else { return }
    Glibc.close(descriptor)
    server.ended(self)
  }

  /// Refuses whatever was to be asked.
  func turnAway(_ fault: RequestFault) {
    guard detach() else { return }
    OutgoingResponse(fault: fault).sendAndClose(descriptor)
    server.ended(self)
  }

  /// Ends the watch on the descriptor; false where that was done before.
  private func detach() -> Bool {
    if case .closed = phase { return false }
    phase = .closed
    timer?.cancel()
    timer = nil
    poll?.close()
    poll = nil
    writer = nil
    body = nil
    work?.cancel()
    work = nil
    return true
  }

  private func startTimer(_ delay: Duration) {
    timer?.cancel()
    timer = server.loop.schedule(after: delay) { [weak self] in self?.timeIsUp() }
  }

  private func timeIsUp() {
    switch phase {
    case .writing where writer?.progress != lastProgress:
      lastProgress = writer?.progress ?? 0
      startTimer(server.configuration.writeTimeout)
    case .readingBody: refuse(RequestFault(408, "the body did not come in time"))
    case .reading, .answering, .writing, .lingering, .closed: close()
    }
  }

  private func ready(readable: Bool, writable: Bool) {
    switch phase {
    case .reading, .readingBody, .answering, .lingering: if readable { read() }
    case .writing: if writable { write() }
    case .closed: break
    }
  }

  // MARK: Reading

  private func read() {
    withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 1) { buffer in
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      guard count > 0 else { return close() }
      if case .lingering = phase {
        lingered += count
        if lingered > Self.maximumLingered { close() }
        return
      }
      input.append(
        contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
      handleInput()
    }
  }

  private func handleInput() {
    while true {
      switch phase {
      case .reading: guard readHead() else { return }
      case .readingBody: guard readBody() else { return }
      case .answering:
        // The next request waits here, and what is more waits at the client.
        if input.count >= Self.chunk { poll?.watch(readable: false, writable: false) }
        return
      case .writing, .lingering, .closed: return
      }
    }
  }

  /// False where more must come.
  private func readHead() -> Bool {
    do throws(RequestFault) {
      switch try heads.next(from: &input) {
      case .incomplete: return false
      case .garbage: close()
      case .head(let head): handle(head)
      }
    } catch {
      refuse(error)
    }
    return true
  }

  private func handle(_ head: RequestHead) {
    keepsAlive =
      head.minorVersion == 1 && !head.list("connection").contains("close") && !server.isStopping
    let hasSlot = server.hasSlot(self)
    if !hasSlot { keepsAlive = false }
    let request = HTTPExchange(head: head, peer: peer, server: server, hasSlot: hasSlot)
    switch request.outcome() {
    case .answer(let answer):
      send(answer)
    case .upgrade(let upgrade):
      guard input.isEmpty else {
        return refuse(
          RequestFault(400, "data came before the WebSocket handshake was answered"),
          isHandshake: true)
      }
      self.upgrade = upgrade
      keepsAlive = true
      send(upgrade.answer)
    case .later(let work): begin(work)
    case .body(let body):
      self.body = body
      phase = .readingBody
      startTimer(server.configuration.bodyTimeout)
      if head.minorVersion == 1, input.isEmpty, head.list("expect").contains("100-continue") {
        askForBody()
      }
    }
  }

  /// RFC 9110 §15.2.1. Where the socket takes nothing, the client sends its body after a while.
  private func askForBody() {
    let text = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    let count = Glibc.send(descriptor, text, text.count, Int32(MSG_NOSIGNAL))
    if count >= 0, count < text.count { close() }
  }

  /// False where more must come.
  private func readBody() -> Bool {
    do throws(RequestFault) {
      try body?.take(from: &input)
    } catch {
      refuse(error)
      return false
    }
    guard let body, body.isWhole else { return false }
    begin(body.finish)
    return true
  }

  /// Has somebody answer, then or later.
  private func begin(
    _ take: (@escaping @Sendable (HTTPResponse) -> Void) -> any ScheduledWork
  ) {
    timer?.cancel()
    phase = .answering
    workNumber += 1
    let work = take { [weak self, workNumber] in self?.answer($0, to: workNumber) }
    // It may have been answered on the spot.
    if case .answering = phase { self.work = work }
  }

  private func answer(_ response: HTTPResponse, to number: Int) {
    guard case .answering = phase, number == workNumber else { return }
    work = nil
    send(OutgoingResponse(response))
  }

  private func refuse(_ fault: RequestFault, isHandshake: Bool = false) {
    keepsAlive = false
    server.refused(fault, from: peer.text, isHandshake: isHandshake)
    send(OutgoingResponse(fault: fault))
  }

  // MARK: Writing

  private func send(_ answer: OutgoingResponse) {
    if answer.endsConnection { keepsAlive = false }
    body = nil
    phase = .writing
    writer = ResponseWriter(
      descriptor, answer.bytes(headers: server.configuration.headers, keepsAlive: keepsAlive),
      then: answer.isHeadOnly ? nil : answer.file)
    lastProgress = 0
    startTimer(server.configuration.writeTimeout)
    poll?.watch(readable: false, writable: true)
    write()
  }

  private func write() {
    switch writer?.write() {
    case .done: answered()
    case .waiting: break
    case .failed, nil: close()
    }
  }

  private func answered() {
    writer = nil
    if let upgrade, !server.isStopping {
      guard detach() else { return }
      server.upgrade(descriptor, upgrade)
      server.ended(self)
    } else if keepsAlive, !server.isStopping {
      phase = .reading
      startTimer(server.configuration.headTimeout)
      poll?.watch(readable: true, writable: false)
      if !input.isEmpty { server.loop.execute { [self] in handleInput() } }
    } else {
      phase = .lingering
      Glibc.shutdown(descriptor, Int32(SHUT_WR))
      startTimer(.seconds(2))
      poll?.watch(readable: true, writable: false)
    }
  }
}
