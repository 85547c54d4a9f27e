import Glibc
import WayTransport

/// A client's HTTP connection, until it upgrades to WebSocket or closes.
///
/// It handles one request at a time. While a response is prepared or written, it reads only enough
/// to notice that the client has closed. So a client cannot make the server hold more than one
/// request.
final class HTTPConnection: @unchecked Sendable {  // confined to the server's loop
  private enum HTTPPhase {
    case reading
    case readingBody
    /// The body is passed to a receiver in parts.
    case streaming
    /// The receiver has a part. Nothing is read until it is done with it.
    case streamPaused
    /// A handler has the body and responds later.
    case responding
    case writing
    /// A producer sends the body of the response in parts.
    case sendingStream(StreamedResponse)
    /// The source of the response makes its next part.
    case awaitingPart
    /// The last response is sent, and further input is discarded. Closing with unread input would
    /// reset the connection, and the client could lose the response.
    case lingering
    case closed
  }

  /// Maximum number of bytes that are discarded after the last response.
  private static let maximumLingered = 256 * 1024
  /// Number of bytes to read at a time.
  private static let chunkSize = 16 * 1024

  /// The id of the connection, also after its upgrade.
  let id = SocketConnection.makeID()
  private let descriptor: Int32
  /// The slot of the peer's address; `nil` if it does not count.
  private let addressSlot: AddressQuota.Slot?
  private let peer: SocketPeer
  private let server: ServerSockets
  private var poll: PollHandle?
  private var phase = HTTPPhase.reading
  private var input: [UInt8] = []
  private var headReader: HeadReader
  private var body: RequestBody?
  private var stream: StreamedBody?
  /// The work that makes the response, and its number.
  private var work: (any ScheduledWork)?
  private var workNumber = 0
  private var writer: ResponseWriter?
  /// The parts of the response that are still to be sent.
  private var responseParts: ResponseParts?
  private var lastProgress = 0
  /// The handshake to complete.
  private var upgrade: WebSocketUpgrade?
  private var keepsAlive = false
  /// The context of the response to the current request.
  private var context = ResponseContext()
  private var isStreamAuthenticated = false
  private var lingered = 0
  private var timer: (any ScheduledWork)?

  /// Returns `nil` if the loop cannot watch the descriptor.
  init?(
    descriptor: Int32, peer: SocketPeer, slot: AddressQuota.Slot?, server: ServerSockets
  ) {
    self.descriptor = descriptor
    addressSlot = slot
    self.peer = peer
    self.server = server
    headReader = HeadReader(
      limit: server.configuration.limits.maxHead, budget: server.headBudget)
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

  var peerText: String { peer.text }

  /// Whether no request has been read from it yet.
  var isAwaitingRequest: Bool {
    if case .reading = phase { true } else { false }
  }

  /// Whether it sends a streamed response.
  var isStreaming: Bool {
    if case .sendingStream = phase { true } else { false }
  }

  /// Closes unless a response is in progress, which is then the last one. A streamed one ends soon.
  func closeUnlessResponding() {
    keepsAlive = false
    switch phase {
    case .responding, .writing, .awaitingPart: break
    case .sendingStream(let stream): stream.finishEarly()
    case .readingBody, .streaming, .streamPaused: reject(.ending)
    case .reading, .lingering, .closed: close()
    }
  }

  /// Closes immediately, and ends a streamed response for the given reason. Idempotent.
  func close(_ end: HTTPStreamEnd = .disconnected) {
    guard detach(end) else { return }
    Glibc.close(descriptor)
    server.ended(self)
  }

  /// Rejects the request before it has been read, or ends a streamed response, and closes.
  func rejectAndClose(_ rejection: HTTPRequestRejection) {
    if isStreaming { return close(.closedByServer) }
    guard detach() else { return }
    OutgoingResponse(rejection: rejection).sendAndClose(descriptor)
    server.ended(self)
  }

  /// Stops watching the descriptor. Returns false if it was detached before.
  private func detach(_ end: HTTPStreamEnd = .disconnected) -> Bool {
    if case .closed = phase { return false }
    let previous = phase
    phase = .closed
    if case .sendingStream(let stream) = previous {
      server.streamEnded(id, wasAuthenticated: false)
      stream.ended(end)
    }
    timer?.cancel()
    timer = nil
    poll?.close()
    poll = nil
    writer = nil
    responseParts = nil
    body = nil
    cancelStream()
    work?.cancel()
    work = nil
    return true
  }

  private func startTimer(_ delay: Duration) {
    timer?.cancel()
    timer = server.loop.schedule(after: delay) { [weak self] in self?.timerFired() }
  }

  private func timerFired() {
    switch phase {
    case .writing where writer?.progress != lastProgress:
      lastProgress = writer?.progress ?? 0
      startTimer(server.configuration.writeTimeout)
    case .readingBody, .streaming:
      reject(HTTPRequestRejection(408, "the body did not arrive in time"))
    case .reading, .streamPaused, .responding, .writing, .awaitingPart, .lingering, .closed:
      close()
    case .sendingStream: break
    }
  }

  private func ready(readable: Bool, writable: Bool) {
    switch phase {
    case .reading, .readingBody, .streaming, .responding, .lingering: if readable { read() }
    case .writing: if writable { write() }
    case .sendingStream(let stream):
      if writable { stream.becameWritable() }
      if readable, isStreaming { read() }
    case .streamPaused, .awaitingPart, .closed: break
    }
  }

  private func read() {
    let size =
      isStreaming ? heldInputRoom : stream == nil ? Self.chunkSize : StreamedBody.partSize
    guard size > 0 else { return }
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
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
      case .streaming: guard readStream() else { return }
      case .responding:
        // The next request stays in `input`; further data stays at the client.
        if input.count >= Self.chunkSize { poll?.watch(readable: false, writable: false) }
        return
      case .sendingStream: return watchStream()
      case .streamPaused, .writing, .awaitingPart, .lingering, .closed: return
      }
    }
  }

  /// Number of bytes of the next requests that may wait here while a streamed response is sent: it
  /// may take hours.
  private var heldInputRoom: Int { max(HeadReader.includedSize - input.count, 0) }

  /// Watches the descriptor while a streamed response is sent.
  func watchStream() {
    guard case .sendingStream(let stream) = phase else { return }
    poll?.watch(readable: heldInputRoom > 0, writable: stream.isBlocked)
  }

  /// Returns false if more input is needed.
  private func readHead() -> Bool {
    do throws(HTTPRequestRejection) {
      switch try headReader.next(from: &input) {
      case .incomplete: return false
      case .notHTTP: close()
      case .head(let head): handle(head)
      }
    } catch {
      context = ResponseContext()
      reject(error)
    }
    return true
  }

  private func handle(_ head: RequestHead) {
    keepsAlive =
      head.minorVersion == 1 && !head.list("connection").contains("close") && !server.isStopping
    let hasSlot = server.hasSlot(self)
    if !hasSlot { keepsAlive = false }
    var request = HTTPExchange(head: head, peer: peer, server: server, hasSlot: hasSlot)
    let action = request.resolve()
    context = ResponseContext(
      isHead: head.method == "HEAD", minorVersion: head.minorVersion, hasSlot: hasSlot,
      isDraining: server.isStopping, client: request.forwardedClient)
    switch action {
    case .respond(let response):
      send(response)
    case .upgrade(let upgrade):
      guard input.isEmpty else {
        return reject(
          HTTPRequestRejection(400, "data arrived before the response to the WebSocket handshake"),
          isHandshake: true)
      }
      self.upgrade = upgrade
      // Else it is the slot of the address that a proxy names.
      if let addressSlot { self.upgrade?.addressSlot = addressSlot }
      keepsAlive = true
      send(upgrade.response)
    case .respondLater(let work): startWork(work)
    case .readBody(let body):
      self.body = body
      startReadingBody(.readingBody, head)
    case .streamBody(let stream):
      self.stream = stream
      startReadingBody(.streaming, head)
    }
  }

  private func startReadingBody(_ phase: HTTPPhase, _ head: RequestHead) {
    self.phase = phase
    startTimer(server.configuration.bodyTimeout)
    if head.minorVersion == 1, input.isEmpty, head.list("expect").contains("100-continue") {
      sendContinue()
    }
  }

  /// Sends 100 Continue (RFC 9110 §15.2.1). If the socket accepts nothing, the client sends its
  /// body after a while.
  private func sendContinue() {
    let text = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    let count = Glibc.send(descriptor, text, text.count, Int32(MSG_NOSIGNAL))
    if count >= 0, count < text.count { close() }
  }

  /// Returns false if more input is needed.
  private func readBody() -> Bool {
    do throws(HTTPRequestRejection) {
      try body?.append(from: &input)
    } catch {
      reject(error)
      return false
    }
    guard let body, body.isComplete else { return false }
    startWork(body.deliver)
    return true
  }

  /// Passes the next part of the body to its receiver. Returns false if more input is needed, or the
  /// receiver is not done with the part.
  private func readStream() -> Bool {
    let part: [UInt8]
    do throws(HTTPRequestRejection) {
      part = try stream?.nextPart(of: &input) ?? []
    } catch {
      reject(error)
      return false
    }
    guard let stream else { return false }
    guard part.isEmpty else {
      pass(part, to: stream.receiver)
      return false
    }
    guard stream.isComplete else { return false }
    self.stream = nil
    startWork { [loop = server.loop] respond in
      stream.receiver.finish { response in loop.execute { respond(response) } }
      return StreamWork(stream.receiver)
    }
    return true
  }

  private func pass(_ part: [UInt8], to receiver: any HTTPBodyReceiver) {
    phase = .streamPaused
    timer?.cancel()
    poll?.watch(readable: false, writable: false)
    workNumber += 1
    receiver.receive(part) { [weak self, workNumber, loop = server.loop] response in
      loop.execute { [weak self] in self?.partReceived(workNumber, response) }
    }
  }

  /// Continues reading the body, or ends the request with a response.
  private func partReceived(_ number: Int, _ response: HTTPResponse?) {
    guard case .streamPaused = phase, number == workNumber else {
      response?.discardStream(on: server.loop)
      return
    }
    if let response {
      if stream?.isComplete != true {
        keepsAlive = false
        input = []
      }
      stream = nil
      return send(OutgoingResponse(response))
    }
    phase = .streaming
    startTimer(server.configuration.bodyTimeout)
    poll?.watch(readable: true, writable: false)
    handleInput()
  }

  private func cancelStream() {
    stream?.receiver.cancel()
    stream = nil
  }

  /// The wait for the response to a streamed body.
  private final class StreamWork: ScheduledWork {
    private let receiver: any HTTPBodyReceiver

    init(_ receiver: any HTTPBodyReceiver) {
      self.receiver = receiver
    }

    func cancel() { receiver.cancel() }
  }

  /// Starts the work that responds, immediately or later.
  private func startWork(
    _ start: (@escaping @Sendable (HTTPResponse) -> Void) -> any ScheduledWork
  ) {
    timer?.cancel()
    phase = .responding
    workNumber += 1
    let work = start { [weak self, workNumber, loop = server.loop] response in
      guard let self else { return response.discardStream(on: loop) }
      respond(response, to: workNumber)
    }
    // The work may have responded synchronously.
    if case .responding = phase { self.work = work }
  }

  private func respond(_ response: HTTPResponse, to number: Int) {
    guard case .responding = phase, number == workNumber else {
      return response.discardStream(on: server.loop)
    }
    work = nil
    do throws(HTTPRequestRejection) {
      send(try OutgoingResponse(response, budget: server.bodyBudget))
    } catch {
      reject(error)
    }
  }

  private func reject(_ rejection: HTTPRequestRejection, isHandshake: Bool = false) {
    keepsAlive = false
    // Nothing that follows a rejected request is read as another one.
    input = []
    server.recordRejection(
      rejection, from: context.client?.text ?? peer.text, isHandshake: isHandshake)
    send(OutgoingResponse(rejection: rejection))
  }

  private func send(_ response: OutgoingResponse) {
    var response = response
    if context.isHead || !response.mayHaveBody { response.isHeadOnly = true }
    if response.endsConnection { keepsAlive = false }
    body = nil
    cancelStream()
    if let stream = response.stream {
      if !response.isHeadOnly { return send(response, stream) }
      server.loop.execute { stream.producer.ended(.notStarted) }
    }
    responseParts = response.isHeadOnly ? nil : ResponseParts(response)
    startWriting(
      ResponseWriter(
        descriptor,
        response.bytes(
          headers: server.configuration.headers, framing: context.framing, keepsAlive: keepsAlive),
        then: response.isHeadOnly ? nil : response.file, fileBytes: response.fileBytes))
  }

  private func startWriting(_ writer: ResponseWriter) {
    phase = .writing
    self.writer = writer
    lastProgress = 0
    startTimer(server.configuration.writeTimeout)
    poll?.watch(readable: false, writable: true)
    write()
  }

  /// Sends the head of a streamed response, and starts its producer.
  private func send(_ response: OutgoingResponse, _ stream: HTTPResponseStream) {
    let slot: AddressQuota.Slot?
    do throws(HTTPRequestRejection) {
      slot = try context.admitStream(at: server)
    } catch {
      server.loop.execute { stream.producer.ended(.notStarted) }
      return reject(error)
    }
    timer?.cancel()
    timer = nil
    let limits = server.configuration.limits
    let streamed = StreamedResponse(
      stream, context.framing, of: self, descriptor: descriptor, loop: server.loop,
      limits: server.streamLimits,
      maxHeldBytes: stream.maxHeldBytes ?? limits.maxQueueBytes, addressSlot: slot)
    phase = .sendingStream(streamed)
    isStreamAuthenticated = stream.isAuthenticated
    server.streamStarted(streamed, isAuthenticated: stream.isAuthenticated)
    watchStream()
    streamed.start(
      response.bytes(
        headers: server.configuration.headers, framing: context.framing, keepsAlive: keepsAlive))
    if server.isStopping { streamed.finishEarly() }
  }

  /// Continues after the last byte of a streamed response was written.
  func streamCompleted() {
    guard isStreaming else { return }
    server.streamEnded(id, wasAuthenticated: isStreamAuthenticated)
    finishResponse()
  }

  /// Waits for the next part of the response. Nothing is read or written meanwhile.
  private func awaitPart(of source: any HTTPBodySource) {
    phase = .awaitingPart
    writer = nil
    startTimer(server.configuration.writeTimeout)
    poll?.watch(readable: false, writable: false)
    workNumber += 1
    source.nextPart { [weak self, workNumber, loop = server.loop] part in
      loop.execute { [weak self] in self?.partMade(workNumber, part) }
    }
  }

  private func partMade(_ number: Int, _ part: [UInt8]?) {
    guard case .awaitingPart = phase, number == workNumber else { return }
    guard let part, responseParts?.accept(part) == true else { return close() }
    startWriting(ResponseWriter(descriptor, part, then: nil))
  }

  private func write() {
    switch writer?.write() {
    case .done:
      if let source = responseParts?.source { awaitPart(of: source) } else { finishResponse() }
    case .blocked: break
    case .failed, nil: close()
    }
  }

  private func finishResponse() {
    writer = nil
    responseParts = nil
    if let upgrade, !server.isStopping {
      guard detach() else { return }
      server.upgrade(descriptor, upgrade, id: id)
      server.ended(self)
    } else if keepsAlive, !server.isStopping {
      phase = .reading
      startTimer(server.configuration.headTimeout)
      poll?.watch(readable: true, writable: false)
      if !input.isEmpty { server.loop.execute { [self] in handleInput() } }
    } else {
      phase = .lingering
      Glibc.shutdown(descriptor, Int32(SHUT_WR))
      startTimer(server.isStopping ? server.configuration.lingerTimeout : .seconds(2))
      poll?.watch(readable: true, writable: false)
    }
  }
}
