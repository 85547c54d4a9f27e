import Glibc
import WayTransport

/// One client that speaks HTTP, up to the point where it upgrades to WebSocket or goes.
///
/// One request at a time: while an answer is written, nothing is read, so that a client cannot make
/// the server hold more than one head.
final class HTTPConnection: @unchecked Sendable {  // confined to the server's loop
  private enum Phase {
    case reading
    case writing
    /// All is said; what the client still sends is read away, since closing on it would reset the
    /// connection and might cost the client the answer.
    case lingering
    case closed
  }

  /// Bytes that are read away after the last answer, at most.
  private static let maximumLingered = 256 * 1024
  /// Bytes of a file that are sent in one turn of the loop.
  private static let fileTurn = 1024 * 1024

  private let descriptor: Int32
  private let server: ServerSockets
  private var poll: PollHandle?
  private var phase = Phase.reading
  private var input: [UInt8] = []
  private var searched = 0
  /// Bytes of empty lines before the request that is read.
  private var skipped = 0
  private var output: [UInt8] = []
  private var written = 0
  private var file: OpenFile?
  /// The handshake that is answered.
  private var upgrade: WebSocketUpgrade?
  private var fileOffset: off_t = 0
  private var keepsAlive = false
  private var lingered = 0
  private var timer: (any ScheduledWork)?
  private var progress = 0
  private var lastProgress = 0

  /// Nil where the loop cannot watch the descriptor.
  init?(descriptor: Int32, server: ServerSockets) {
    self.descriptor = descriptor
    self.server = server
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
    if case .writing = phase { return }
    close()
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
    HTTPAnswer(fault: fault).sendAndClose(descriptor)
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
    file = nil
    return true
  }

  private func startTimer(_ delay: Duration) {
    timer?.cancel()
    timer = server.loop.schedule(after: delay) { [weak self] in self?.timeIsUp() }
  }

  private func timeIsUp() {
    if case .writing = phase, progress != lastProgress {
      lastProgress = progress
      startTimer(server.configuration.writeTimeout)
    } else {
      close()
    }
  }

  private func ready(readable: Bool, writable: Bool) {
    switch phase {
    case .reading, .lingering: if readable { read() }
    case .writing: if writable { write() }
    case .closed: break
    }
  }

  // MARK: Reading

  private func read() {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
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
    while case .reading = phase {
      skipEmptyLines()
      guard skipped <= server.configuration.maximumHead,
        input == [0x0D] || RequestHead.mayBegin(with: input)
      else { return close() }
      guard let end = RequestHead.end(in: input, from: searched - 3) else {
        searched = input.count
        let limit = server.configuration.maximumHead
        if input.count > limit {
          refuse(RequestFault(431, "the head of a request holds at most \(limit) bytes"))
        }
        return
      }
      searched = 0
      skipped = 0
      let head = input[..<end]
      input.removeSubrange(..<end)
      do throws(RequestFault) {
        guard head.count <= server.configuration.maximumHead else {
          throw RequestFault(
            431, "the head of a request holds at most \(server.configuration.maximumHead) bytes")
        }
        handle(try RequestHead(parsing: head))
      } catch {
        refuse(error)
      }
    }
  }

  /// Empty lines before a request are allowed (RFC 9112 §2.2).
  private func skipEmptyLines() {
    var end = 0
    while end + 1 < input.count, input[end] == 0x0D, input[end + 1] == 0x0A { end += 2 }
    guard end > 0 else { return }
    input.removeFirst(end)
    skipped += end
  }

  private func handle(_ head: RequestHead) {
    keepsAlive =
      head.minorVersion == 1 && !head.list("connection").contains("close") && !server.isStopping
    let hasSlot = server.hasSlot(self)
    if !hasSlot { keepsAlive = false }
    let request = HTTPExchange(head: head, server: server, hasSlot: hasSlot)
    switch request.outcome() {
    case .answer(let answer):
      send(answer)
    case .upgrade(let upgrade):
      guard input.isEmpty else {
        return refuse(RequestFault(400, "data came before the WebSocket handshake was answered"))
      }
      self.upgrade = upgrade
      keepsAlive = true
      send(upgrade.answer)
    }
  }

  private func refuse(_ fault: RequestFault) {
    keepsAlive = false
    server.refused(fault)
    send(HTTPAnswer(fault: fault))
  }

  // MARK: Writing

  private func send(_ answer: HTTPAnswer) {
    if answer.endsConnection { keepsAlive = false }
    phase = .writing
    output = answer.bytes(headers: server.configuration.headers, keepsAlive: keepsAlive)
    written = 0
    file = answer.isHeadOnly ? nil : answer.file
    fileOffset = 0
    startTimer(server.configuration.writeTimeout)
    poll?.watch(readable: false, writable: true)
    write()
  }

  private func write() {
    while written < output.count {
      let count = output.withUnsafeBytes { bytes in
        Glibc.send(
          descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
          Int32(MSG_NOSIGNAL))
      }
      guard took(count) else { return }
      written += count
    }
    if let file {
      var turn = Self.fileTurn
      while fileOffset < file.size {
        guard turn > 0 else { return }
        // It has no way to ask for no SIGPIPE; lws has that signal ignored (lws_plat_init).
        let count = sendfile(
          descriptor, file.descriptor, &fileOffset, min(turn, file.size - Int(fileOffset)))
        // A file that has shrunk cannot be sent as long as it was announced.
        guard count != 0 else { return close() }
        guard took(count) else { return }
        turn -= count
      }
    }
    answered()
  }

  /// Whether the socket took anything; where it never will again, closes.
  private func took(_ count: Int) -> Bool {
    if count > 0 {
      progress += 1
      return true
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    close()
    return false
  }

  private func answered() {
    file = nil
    output = []
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
