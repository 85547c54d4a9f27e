import CLibwebsockets
import Glibc
import Synchronization
import WayTransport

/// One established WebSocket connection, of a server or a client.
///
/// lws holds the only reference that keeps it alive, from ESTABLISHED to CLOSED.
///
/// Properties that every message uses are not checked for exclusive access. They are confined to
/// one loop, and call no other code while they change.
final class SocketConnection: MessageChannel, @unchecked Sendable {  // confined to its loop
  private enum SocketState {
    case open
    /// The connection moves to another loop server as soon as all data is sent.
    case moving(to: SocketLoopServer, then: @Sendable (any MessageChannel) -> Void)
    /// The close frame was sent, or is queued after earlier data.
    case closing
    case closed
  }

  /// The state of a connection that moves to another loop.
  struct TransferState: Sendable {
    let id: UInt64
    let limits: ConnectionLimits
    let frameReader: FrameReader
    let assembly: MessageAssembly
    let unread: [UInt8]
  }

  let id: UInt64
  var loop: any EventLoop { socketLoop }
  /// The loop server of a server's connection; `nil` for a client's.
  private var loopServer: SocketLoopServer?

  private let socketLoop: SocketLoop
  private let limits: ConnectionLimits
  private let isClient: Bool
  private let traffic: SocketTraffic
  @exclusivity(unchecked) private var wsi: OpaquePointer?
  @exclusivity(unchecked) private var receiver: (any MessageReceiver)?
  @exclusivity(unchecked) private var state = SocketState.open
  @exclusivity(unchecked) private var writer: SocketWriter
  @exclusivity(unchecked) private var isUnflushed = false
  @exclusivity(unchecked) private var frameReader = FrameReader()
  /// Nothing more is read from the peer: it has closed, or sent an invalid frame.
  @exclusivity(unchecked) private var isReadClosed = false
  private var isPeerClosed = false
  @exclusivity(unchecked) private var assembly = MessageAssembly()
  @exclusivity(unchecked) private var readPause = ReadPause()
  /// Data that a server's connection had read when reading was paused.
  @exclusivity(unchecked) private var unread: [UInt8] = []
  /// Fires if the peer of a congested connection has read nothing for too long.
  private var stallTimer: (any ScheduledWork)?
  private var isPeerConsuming = false
  private var closeCode: UInt16?
  /// Set when the peer sends or reads anything. It is a flag, so that a message does not need to
  /// read the clock.
  @exclusivity(unchecked) var hasActivity = false
  private var liveness = SocketLiveness()
  private var killTimer: (any ScheduledWork)?
  /// Number of written bytes that the peer's system had not confirmed at the last call of
  /// ``endIfStalled()``.
  private var unconfirmedBytes: Int32?

  private static let pingPayload = Array("life".utf8)

  /// Makes an id for a connection. Later connections have larger ids.
  static func makeID() -> UInt64 { ChannelIDs.make() }

  /// Creates a server's connection if `loopServer` is set, else a client's. `id` is the one that
  /// the server made when it accepted the connection.
  init(
    loop: SocketLoop, wsi: OpaquePointer?, limits: ConnectionLimits,
    at loopServer: SocketLoopServer? = nil, id: UInt64? = nil
  ) {
    self.id = id ?? Self.makeID()
    socketLoop = loop
    self.wsi = wsi
    self.limits = limits
    self.loopServer = loopServer
    isClient = loopServer == nil
    traffic = loop.traffic
    writer = SocketWriter(isClient: isClient, pool: loop.buffers, budget: limits.budget)
  }

  func attach(_ receiver: any MessageReceiver) { self.receiver = receiver }

  var bufferedBytes: Int { writer.cost }

  func send(_ message: RawSpan, as kind: MessageKind) {
    guard case .open = state, enqueue(message, as: FrameHeader.Opcode(kind)) else { return }
    traffic.messagesSent.add(1)
    traffic.bytesSent.add(message.byteCount)
    if writer.isFlushDue { _ = flush() }
  }

  /// Queues a frame. If there is no room, closes the connection and returns false.
  private func enqueue(_ payload: RawSpan, as opcode: FrameHeader.Opcode) -> Bool {
    guard bufferedBytes + payload.byteCount <= limits.maximumBuffered else {
      closeSlowConsumer("more than \(limits.maximumBuffered) bytes wait for the client")
      return false
    }
    let growth = writer.growth(for: payload.byteCount)
    if growth > 0 {
      limits.budget.reserve(growth)
      // Making room may have closed this connection.
      guard case .open = state else { return false }
      guard limits.budget.hasRoom(growth) else {
        closeSlowConsumer("more bytes wait for clients than the server may hold")
        return false
      }
    }
    writer.append(payload, as: opcode)
    flushLater()
    if bufferedBytes > limits.highWater, !readPause.isCongested { exceededHighWater() }
    return true
  }

  /// Stops reading from a peer that does not read its responses, so that it sends no more requests.
  private func exceededHighWater() {
    updateReadPause { $0.isCongested = true }
    startStallTimer()
  }

  private func startStallTimer() {
    isPeerConsuming = false
    stallTimer = socketLoop.schedule(after: limits.stallTimeout) { [weak self] in
      guard let self, readPause.isCongested else { return }
      if isPeerConsuming {
        startStallTimer()
      } else {
        closeSlowConsumer("the client read nothing for too long")
      }
    }
  }

  private func fellBelowLowWater() {
    stallTimer?.cancel()
    stallTimer = nil
    updateReadPause { $0.isCongested = false }
  }

  /// Closes a connection whose peer reads too slowly. Unsent data is dropped.
  func closeSlowConsumer(_ reason: String) {
    guard case .open = state else { return }
    writer.removeUnsent()
    close(.slowConsumer, reason)
  }

  /// Number of bytes of memory for unsent data; `nil` if the connection is closing.
  var openQueueSize: Int? { if case .open = state { writer.capacity } else { nil } }

  private func flushLater() {
    guard !isUnflushed else { return }
    isUnflushed = true
    socketLoop.flushLater(self)
  }

  func flushAtTurnEnd() {
    isUnflushed = false
    guard wsi != nil else { return }
    if !flush() { kill() }
  }

  /// Writes as much as the socket accepts. Returns false if the socket has failed, or if the
  /// connection is finished.
  private func flush() -> Bool {
    guard let wsi else { return true }
    guard writer.write(to: wsi) else { return false }
    if readPause.isCongested, bufferedBytes <= limits.highWater / 4 { fellBelowLowWater() }
    return !writer.isEmpty || !finishSending(wsi)
  }

  /// Ends sending once all data is sent, if a server's connection closes and reads no more from its
  /// peer. Returns whether the connection can end immediately.
  ///
  /// After a protocol error the peer may still be sending. Closing then would reset the connection,
  /// and the peer could lose the close frame.
  private func finishSending(_ wsi: OpaquePointer) -> Bool {
    guard isReadClosed, case .closing = state else { return false }
    if isPeerClosed { return true }
    Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_WR))
    return false
  }

  /// WRITEABLE: lws has sent its buffered data. Returns the result of the callback.
  func becameWritable() -> Int32 {
    writer.becameWritable()
    hasActivity = true
    isPeerConsuming = true
    guard flush() else { return -1 }
    if case .moving = state { scheduleTransfer() }
    return 0
  }

  /// Pings a peer that has been inactive, and closes the connection if the peer stays inactive.
  func checkLiveness(_ timeouts: IdleTimeouts) {
    switch state {
    case .open, .moving: break
    case .closing, .closed: return
    }
    defer { hasActivity = false }
    switch liveness.advance(timeouts, hasActivity: hasActivity) {
    case .nothing: break
    case .expire where isMoving: kill()
    case .ping: _ = enqueue(Self.pingPayload.span.bytes, as: .ping)
    case .expire: close(.noPong, "nothing arrived for \(timeouts.silence), not even a pong")
    }
  }

  func pause() { updateReadPause { $0.isPaused = true } }

  func resume() { updateReadPause { $0.isPaused = false } }

  /// Pauses or resumes reading. For a client, lws keeps the data that it has read
  /// (lws_rx_flow_control); for a server it is in `unread`.
  private func updateReadPause(_ change: (inout ReadPause) -> Void) {
    let wasOpen = readPause.allowsReading
    change(&readPause)
    guard let wsi, readPause.allowsReading != wasOpen else { return }
    if wasOpen {
      _ = lws_rx_flow_control(wsi, 0)
    } else if unread.isEmpty {
      _ = lws_rx_flow_control(wsi, 1)
    } else {
      socketLoop.executeLater { [weak self] in self?.processUnread() }
    }
  }

  private func processUnread() {
    guard let wsi, readPause.allowsReading else { return }
    var bytes: [UInt8] = []
    swap(&bytes, &unread)
    if bytes.withUnsafeMutableBytes(receive) != 0 { kill() }
    if readPause.allowsReading { _ = lws_rx_flow_control(wsi, 1) }
  }

  private var isMoving: Bool { if case .moving = state { true } else { false } }

  func move(
    to loop: any EventLoop, _ onMoved: @escaping @Sendable (any MessageChannel) -> Void
  ) -> Bool {
    guard case .open = state, let target = loopServer?.loopServer(on: loop) else { return false }
    pause()
    stallTimer?.cancel()
    state = .moving(to: target, then: onMoved)
    scheduleTransfer()
    return true
  }

  /// Deferred, because lws may be in a callback for this socket.
  private func scheduleTransfer() {
    socketLoop.execute { [weak self] in self?.transfer() }
  }

  /// Passes the socket to the other loop once all data is sent. It duplicates the descriptor, since
  /// lws closes its own one. lws does not shut a raw socket down (__lws_close_free_wsi).
  private func transfer() {
    guard case .moving(let target, let onMoved) = state, let wsi else { return }
    guard flush() else { return kill() }
    // Otherwise it continues when the socket is writable.
    guard writer.isEmpty else { return }
    let descriptor = fcntl(lws_get_socket_fd(wsi), F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else {
      state = .open
      return close(.overloaded, "the server has no free file descriptor")
    }
    let transferState = TransferState(
      id: id, limits: limits, frameReader: frameReader, assembly: assembly, unread: unread)
    state = .closed
    receiver = nil
    target.receive(descriptor, transferState, onMoved)
    loopServer?.moved(self)
    loopServer = nil
    lws_set_timeout(wsi, PENDING_TIMEOUT_CLOSE_ACK, LWS_TO_KILL_SYNC)
  }

  /// Restores the state from another loop. Its unread data is processed before new data.
  func restore(_ transferState: TransferState) {
    frameReader = transferState.frameReader
    assembly = transferState.assembly
    unread = transferState.unread
    hasActivity = true
    if let wsi, !unread.isEmpty { _ = lws_rx_flow_control(wsi, 0) }
  }

  /// Processes the unread data from another loop, unless the receiver has paused the connection.
  func scheduleUnread() {
    guard !unread.isEmpty, readPause.allowsReading else { return }
    socketLoop.executeLater { [weak self] in self?.processUnread() }
  }

  func close(_ code: CloseCode, _ reason: String) {
    guard case .open = state, wsi != nil else { return }
    assembly.removeAll()
    closeCode = code.rawValue
    appendClose(CloseFrame.payload(code, reason))
  }

  /// Starts the close handshake. This class performs it, because lws ends the connection before its
  /// close frame is sent. That happens with libuv if the library was built with assertions, as in
  /// Debian (lws_service_fd_tsi closes twice).
  private func appendClose(_ payload: [UInt8]) {
    state = .closing
    // Reading continues, to receive the peer's close frame.
    updateReadPause { $0 = ReadPause() }
    stallTimer?.cancel()
    writer.append(payload.span.bytes, as: .close)
    flushLater()
    killTimer = socketLoop.schedule(after: limits.closeTimeout) { [weak self] in self?.kill() }
  }

  /// Ends a closing connection if all its data was written, and the peer's system has confirmed
  /// nothing since the last call. So the peer has had that time to confirm the close after it
  /// received everything. Otherwise its network or its program has stopped; the system continues to
  /// deliver what was written.
  func endIfStalled() {
    guard case .closing = state, writer.isEmpty, let wsi else { return }
    var bytes: Int32 = 0
    // Unsent and unacknowledged bytes (SIOCOUTQ of tcp(7)).
    _ = ioctl(lws_get_socket_fd(wsi), UInt(TIOCOUTQ), &bytes)
    if bytes == unconfirmedBytes { kill() } else { unconfirmedBytes = bytes }
  }

  /// Closes forcibly: shuts the socket down, so that lws closes it.
  func kill() {
    guard let wsi else { return }
    updateReadPause { $0 = ReadPause() }
    Glibc.shutdown(lws_get_socket_fd(wsi), Int32(SHUT_RDWR))
  }

  /// Receives the peer's close frame. Sends one in response unless this side has closed first; then
  /// the connection ends.
  func receiveClose(_ payload: UnsafeRawBufferPointer) {
    guard case .open = state else { return }
    let frame = CloseFrame(payload)
    closeCode = frame.code
    appendClose(frame.response)
  }

  /// LWS_CALLBACK_CLOSED, LWS_CALLBACK_RAW_CLOSE: the connection has ended.
  func ended() {
    if closeCode == nil, isClient { closeCode = wsi.flatMap(sentCloseCode) }
    wsi = nil
    // The connection has moved to another loop.
    if case .closed = state { return }
    state = .closed
    traffic.recordClose(closeCode)
    killTimer?.cancel()
    stallTimer?.cancel()
    writer.removeAll()
    unread = []
    assembly.removeAll()
    let receiver = receiver
    self.receiver = nil
    loopServer?.ended(self)
    loopServer = nil
    receiver?.closed(closeCode)
  }

  /// LWS_CALLBACK_RAW_RX: bytes from a client. Returns the result of the callback.
  func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Int32 {
    hasActivity = true
    var rest = bytes
    do throws(FrameReader.FrameError) {
      while !isReadClosed, readPause.allowsReading, let part = try frameReader.next(&rest) {
        switch part {
        case .message(let bytes, let kind, let isLast, let remaining):
          receive(bytes, kind, isLast: isLast, remaining: remaining)
        case .ping(let payload):
          if case .open = state { _ = enqueue(payload.span.bytes, as: .pong) }
        case .pong: break
        case .close(let payload):
          isReadClosed = true
          isPeerClosed = true
          payload.withUnsafeBytes(receiveClose)
        }
      }
    } catch {
      isReadClosed = true
      close(.protocolError, error.reason)
    }
    if !readPause.allowsReading { unread.append(contentsOf: rest) }
    return !isReadClosed || flush() ? 0 : -1
  }

  /// LWS_CALLBACK_CLIENT_RECEIVE: the next part of a server's message.
  func receive(_ part: UnsafeRawBufferPointer) {
    guard let wsi else { return }
    hasActivity = true
    receive(
      part, lws_frame_is_binary(wsi) != 0 ? .binary : .text,
      isLast: lws_is_final_fragment(wsi) != 0, remaining: lws_remaining_packet_payload(wsi))
  }

  private func receive(
    _ part: UnsafeRawBufferPointer, _ kind: MessageKind, isLast: Bool, remaining: Int
  ) {
    guard case .open = state, let receiver else { return }
    traffic.bytesReceived.add(part.count)
    let room = limits.maximumMessage - assembly.bytes.count - part.count
    if room < 0 || remaining > room {
      close(.messageTooBig, "a message may have at most \(limits.maximumMessage) bytes")
      return
    }
    // Complete texts are validated here. lws would check every byte, but miss a character that is
    // incomplete before an empty last part.
    if isLast, !assembly.isOpen {
      guard kind == .binary || receiver.checksText || isUTF8(part) else { return rejectText() }
      traffic.messagesReceived.add(1)
      receiver.receive(part.bytes, as: kind)
      return
    }
    assembly.append(part)
    guard isLast else { return }
    guard kind == .binary || receiver.checksText || assembly.bytes.withUnsafeBytes(isUTF8) else {
      return rejectText()
    }
    traffic.messagesReceived.add(1)
    var message = MessageAssembly()
    swap(&message, &assembly)
    message.bytes.withUnsafeBytes { receiver.receive($0.bytes, as: kind) }
    message.removeAll()
    if case .open = state { swap(&message, &assembly) }
  }

  private func rejectText() {
    close(.invalidPayload, CloseCode.notUTF8)
  }
}
